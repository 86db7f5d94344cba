"""
Add your own statement
======================

A statement is a judge, an example on which it holds, and a control on which it must not. Here is a whole one, for a
fact that is not in the papers: at a KKT point the multipliers add up to half the squared norm.
"""

# %%
# Why it is true: multiply stationarity by the parameters and use Euler's theorem for homogeneous functions. Numbers
# first:
from dataclasses import replace

import numpy as np

from marginflow import kkt_point
from marginflow.data import Sphere
from marginflow.theory.frame import Findings, Instance, equal, is_kkt_point, stated, undefined

data = Sphere(dimension=10).sample(8, seed=0)
limit = kkt_point(data, width=20)
left = float(limit.certificate.multipliers.sum())
right = limit.network.norm_squared() / 2
print(f"sum of multipliers {left:.12f}, half the squared norm {right:.12f}")


# %%
# The example is that point. The control is a network that fits the data and is not a KKT point: it must not be said to
# bear the statement out.
def example() -> Instance:
    """An exact KKT point on eight samples of a sphere."""
    return Instance(name="a KKT point on a sphere", network=limit.network, data=data)


def control() -> Instance:
    """The same with every neuron pushed aside a little."""
    W = limit.network.W + 0.05 * np.random.default_rng(0).normal(size=limit.network.W.shape)
    return Instance(name="the same, pushed aside", network=replace(limit.network, W=W), data=data)


# %%
# The judge names its hypotheses and its claims; what a hypothesis lacks, and what a claim has to spare, is measured.
@stated(
    id="VYS22/X.euler",
    kind="lemma",
    number="Euler's theorem",
    meaning="At a KKT point the multipliers add up to half the squared norm of the parameters.",
    formula=r"\sum_i \lambda_i = \tfrac12 \|\theta\|^2",
    needs=("network", "data"),
    example=example,
    control=control,
    control_shows="away from a KKT point there are no such multipliers",
)
def euler(instance: Instance) -> Findings:
    """Both sides, at the margin 1 to which the certificate scales the network."""
    hypotheses = (is_kkt_point(instance),)
    certificate = instance.certificate
    if certificate.multipliers is None:
        return undefined(hypotheses, "there are no multipliers")
    norm = certificate.network.norm_squared()
    total = float(certificate.multipliers.sum())
    claim = equal("sum of multipliers", total, norm / 2, scale=norm)
    return Findings(hypotheses=hypotheses, claims=(claim,))


print(euler.judge_instance(example()))
print()
print(euler.judge_instance(control()))

# %%
# In the library each statement is one file that is found by itself, listed by ``marginflow statements`` and run by the
# conformance tests: :doc:`/add_a_statement`. A paper of your own lives in a package of its own, which ``marginflow
# new-paper KEY`` writes: :doc:`/add_a_paper`.
