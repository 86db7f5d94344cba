r"""[KYS23, Proposition 4.4]: two neurons without bias that fit a negative sample err on at least half of the sphere."""

from marginflow.theory.frame import Findings, Instance, equal, stated, value
from marginflow.theory.kys23.clean_error import clean_error
from marginflow.theory.kys23.prop_4_5 import interpolating_counterexample
from marginflow.theory.kys23.thm_4_1.lem_b2 import orthonormal_pair
from marginflow.theory.kys23.unit_sphere import SphereSample, separates, without_bias


@stated(
    id="KYS23/Prop4.4",
    meaning="A network of two neurons without bias that fits a negative sample has clean error at least 1/2.",
    formula=r"L_{cl} = \frac12 + \frac{\pi - \angle(a, c - a)}{2\pi} \ge \frac12, \quad a = |v_1| w_1, \ c = |v_2| w_2",
    example=lambda: orthonormal_pair(6, 2).but(name="two neurons on 6 orthonormal samples"),
    control=interpolating_counterexample,
    control_shows="a third neuron brings the error down to arctan(1/8)/pi = 0.04",
    printed=r"L_{cl} \ge \frac12",
    sharp=r"\frac12 + \frac{\pi - \angle(a, c - a)}{2\pi}",
    remark="With two neurons of negative output the error is 1.",
)
def proposition_4_4(instance: Instance) -> Findings:
    """The exact clean error of two neurons."""
    network, data = instance.the_network(), instance.the_data()
    found = clean_error(network, seed=instance.seed)
    return Findings(
        value("clean error beyond 1/2", found.value - 0.5),
        hypotheses=(
            equal("n", network.width, 2),
            without_bias(network),
            separates(network, data),
            SphereSample(data).some_negative(),
        ),
        claims=(found.check("clean error", ">=", 0.5),),
    )
