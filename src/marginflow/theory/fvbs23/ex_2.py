r"""[FVBS23, Example 2]: with many clusters the vector is small against the data."""

import math

import numpy as np

from marginflow.data import Clusters, most_clusters
from marginflow.theory.frame import Findings, Instance, at_least, at_most, below, stated, true, value
from marginflow.theory.fvbs23.setting import LENGTH, ClusterSetting


@stated(
    id="FVBS23/Ex2",
    meaning="With sigma = 1 and about sqrt(d) random clusters, z has length of order d^(1/4), far below sqrt(d).",
    formula=r"\sigma = 1, \ k = \tilde\Theta(\sqrt{d}), \ c = \Theta(1) \implies \|z\| = "
    r"O\left(\sqrt{\tfrac{d}{k}}\right) = \tilde O(d^{1/4})",
    needs=("parameters",),
    parameters={"dimension": "the largest of three dimensions, each a tenth of the next", "share": "of the largest k"},
    example=lambda: Instance(name="random clusters up to d = 1e12"),
    control=lambda: Instance(name="three times as many clusters as fit", parameters={"share": 3.0}),
    control_shows="three times as many clusters as Assumption 2.2 allows: z is twice as long as claimed",
    printed=r"\|z\| = \tilde O(d^{1/4})",
    proved=r"\|z\| \le 26.62 \sqrt{d/k}, \quad k \le \frac{\sqrt{d}}{50 \ln d}",
    remark="With these constants z becomes shorter than sqrt(d) at d of about 1e12 only.",
)
def example_2(instance: Instance) -> Findings:
    """Random means, sigma = 1, as many clusters as Assumption 2.2 allows at half: ||z|| over three dimensions."""
    top = instance.number("dimension", 1e12, at_least=100.0)
    share = instance.number("share", 0.5, at_least=0.0, at_most=10.0)
    settings = []
    dimensions = [int(top / 100), int(top / 10), int(top)]
    for d in dimensions:
        k = max(2, 2 * int(share * most_clusters(d, 1.0, math.sqrt(d) * math.log(d)) / 2))
        law = Clusters(dimension=d, n_clusters=k, sigma=1.0, means="sphere", means_seed=instance.seed)
        settings.append(ClusterSetting.of(Instance(law=law)))
    sizes = [s.z_norm if s.D_u > 0 and s.c_prime < 1 / 3 else math.nan for s in settings]
    bounds = [LENGTH * math.sqrt(s.d / s.k) / s.c for s in settings]
    ratio = [size * math.sqrt(s.k / s.d) for size, s in zip(sizes, settings, strict=True)]
    slope = float(np.polyfit(np.log(dimensions), np.log(sizes), 1)[0]) if np.isfinite(sizes).all() else math.nan
    return Findings(
        *(
            value(f"||z|| / sqrt(d) at d = {s.d:.0e}, k = {s.k}", z / math.sqrt(s.d))
            for s, z in zip(settings, sizes, strict=True)
        ),
        *(value(f"||z|| sqrt(k / d) at d = {s.d:.0e}", quotient) for s, quotient in zip(settings, ratio, strict=True)),
        value("slope of ln ||z|| in ln d", slope, "1/4 and a little more, for the logarithms"),
        hypotheses=(
            true("Assumption 2.2 in all dimensions", all(s.holds(tolerance=1e-9) for s in settings)),
            at_least("clusters in the smallest dimension", settings[0].k, 3),
        ),
        claims=(
            at_most("||z||", sizes, bounds, note="26.62 sqrt(d / k)"),
            below("||z|| / sqrt(d) falls", np.diff(np.array(sizes) / np.sqrt(dimensions)), 0.0),
        ),
        derived=(
            at_most("spread of ||z|| sqrt(k / d)", max(ratio) / min(ratio), 1.5),
            at_most("slope of ln ||z||", slope, 0.4, tolerance=0.0),
        ),
    )
