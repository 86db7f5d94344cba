"""Picture 4: Theorem 4.2 of FVBS23 on one draw: its hypotheses, its bounds, the truth, and where it says something."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from marginflow import theory
from marginflow.data import Clusters, smallest_dimension
from marginflow.demo.chapter import Chapter, Report
from marginflow.limit import kkt_point
from marginflow.plain import named_values, to_plain
from marginflow.robustness.explicit_vectors import Form, fvbs23_vector
from marginflow.theory import Check, Instance, Verdict

ID: Final = "FVBS23/Thm4.2"
# Small enough for seconds, large enough that Assumption 2.2 holds: it asks for k ln(d)^2 samples, which are 202 here.
N_CLUSTERS, N_SAMPLES, WIDTH, N_FRESH = 4, 208, 100, 300
FORMS: Final[tuple[Form, ...]] = ("literal", "flip", "sharp")
# In units of sqrt(d), the norm of the points: a vector as long as that says nothing, see `theory.vacuity`.
THRESHOLD: Final = 1.0
# The map: even numbers of orthogonal clusters, in the smallest dimension that the assumption allows.
MAP: Final = (4, 6, 8, 12, 16, 24, 32, 48, 68, 96, 136, 192, 266, 268, 384, 536, 760, 1000)


def theorem(seed: int, show: Report) -> Chapter:
    """Judge the theorem on its own kind of data, and evaluate its bounds for other numbers of clusters."""
    law = Clusters(dimension=smallest_dimension(N_CLUSTERS), n_clusters=N_CLUSTERS)
    data = law.sample(N_SAMPLES, seed=seed)
    limit = kkt_point(data, width=WIDTH, seed=seed)
    if limit.stopped_by == "interrupt":
        raise KeyboardInterrupt
    show(0.5, ID)
    statement = theory.statement(ID)
    verdict = statement.judge_instance(
        Instance(
            name="the demo's clusters",
            law=law,
            network=limit.network,
            data=data,
            test=law.fresh(N_FRESH, train=data, seed=seed),
            seed=seed,
        ).certified(limit.certificate)
    )
    lengths = {check.name.rpartition(", ")[2]: check.observed for check in verdict.constants if ", " in check.name}
    speaks = {form: speaks_from(form) for form in FORMS}
    record = {
        "id": ID,
        "number": statement.number,
        "formula": statement.formula,
        "outcome": str(verdict.outcome),
        "hypotheses": [
            named_values(check, ("name", "observed", "relation", "bound"))
            | {"used": used(check), "state": str(check.state)}
            for check in verdict.hypotheses
        ],
        "lengths": lengths,
        "k": N_CLUSTERS,
        "d": law.dimension,
        "samples": N_SAMPLES,
        "fresh": N_FRESH,
        "threshold": THRESHOLD,
        "speaks_from": speaks,
        "map": [bounds(k) for k in MAP],
        "residual": limit.certificate.residual,
    }
    return Chapter(
        name="theorem",
        record=to_plain(record),
        sentence=_sentence(verdict, lengths, speaks),
        holds=str(verdict.outcome) in ("holds", "vacuous"),
        networks={"clusters-kkt": limit.network},
        data={"clusters": data},
    )


def _sentence(verdict: Verdict, lengths: dict[str, float], speaks: Mapping[Form, int | None]) -> str:
    """The outcome for the terminal: how long the printed vector is, and from how many clusters on it says something."""
    if str(verdict.outcome) not in ("holds", "vacuous") or not lengths.get("exact"):
        return verdict.sentence.partition(";")[0] + "."
    longer = f"its vector is {lengths['literal'] / lengths['exact']:.0f} times as long as the one that is needed"
    from_on = (
        "nothing up to 1000 clusters"
        if speaks["literal"] is None
        else f"something from {speaks['literal']} clusters on"
    )
    return f"Theorem {ID}: every hypothesis holds; as printed {longer}, and it says {from_on}."


def used(check: Check) -> float | None:
    """How much of its room a hypothesis uses: observed / bound, or bound / observed; None for an equality."""
    small, large = (check.observed, check.bound) if check.relation in ("<=", "<") else (check.bound, check.observed)
    if check.relation == "==" or small is None or large is None or not large > 0:
        return None
    return small / large


def speaks_from(form: Form) -> int | None:
    """The smallest even number of clusters for which the bound is below the threshold; the bound falls with k."""
    low, high = 2, 500  # halves of k
    if bounds(2 * high)[form] >= THRESHOLD:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bounds(2 * middle)[form] < THRESHOLD else (middle + 1, high)
    return 2 * low


@cache
def bounds(k: int) -> dict[str, float]:
    """||z|| / sqrt(d) of the theorem for k orthogonal clusters, as printed, stopped at the flip, and sharp."""
    d = smallest_dimension(k)
    law = Clusters(dimension=d, n_clusters=k)
    means = math.sqrt(d) * np.eye(k)
    signs = np.where(np.arange(k) % 2 == 0, 1.0, -1.0)
    sizes: dict[str, float] = {
        form: fvbs23_vector(means, signs, law.sigma_value, form=form, ambient_dimension=d).relative_size
        for form in FORMS
    }
    return {"k": k, "d": d, **sizes}
