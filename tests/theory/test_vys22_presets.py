"""[VYS22] Every lemma on every preset that satisfies the hypotheses, and an answer for every network and data."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import marginflow as mf
from marginflow import theory
from marginflow.data import Dataset, GramReduction, Sphere
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer
from marginflow.theory import Instance
from marginflow.theory.instances import at_point, gram_point, orthogonal_point
from marginflow.theory.vys22.presets import frozen_orthogonal, orthogonal_preset, with_longer_samples


@cache
def sphere_point(dimension: int, n_samples: int) -> Instance:
    """The exact pair on uniform samples of the sphere of radius sqrt(d), in reduced coordinates, both labels."""
    law = GramReduction(Sphere(dimension=dimension, labels="both"))
    return at_point(convex_pair(law.sample(n_samples)), f"{n_samples} random samples in dimension {dimension}")


@cache
def presets() -> tuple[Instance, ...]:
    """KKT points that satisfy every hypothesis of Theorem 4.1: p = 0 twice, 1, 2, 5, and random data."""
    return (
        orthogonal_preset(width=7),
        orthogonal_point(100, 32, design="hadamard", positive=11),
        gram_point(100, 16, 1.0, pattern="signs"),
        gram_point(100, 10, 2.0, pattern="uniform"),
        gram_point(200, 11, 5.0),
        sphere_point(100_000, 16),
    )


def by_id(statement: theory.Statement) -> str:
    return statement.id


LEMMAS = [f"VYS22/LemC.{number}" for number in range(1, 10)]
THEOREMS = [*LEMMAS, "VYS22/Thm4.1", "VYS22/Cor4.1", "VYS22/AppD", "VYS22/X.sharp", "VYS22/X.cert", "VYS22/Def.KKT"]


@pytest.mark.parametrize("id", THEOREMS)
def test_every_result_holds_on_every_preset(id: str) -> None:
    for instance in presets():
        verdict = theory.statement(id).judge_instance(_only(instance, id))
        assert met(verdict), str(verdict)


def met(verdict: theory.Verdict) -> bool:
    """Whether it holds, or says nothing because the printed z is longer than the data; derived lines are met too."""
    fine = not any(check.state == "failed" for check in verdict.conclusions)
    name = "y_i N(x_i - y_i z), literal z"
    if verdict.id == "VYS22/X.cert" or name not in [check.name for check in verdict.claims]:
        return fine and verdict.outcome == "holds"
    note = verdict[name].note
    longer = float(note.split(" = ")[-1].split(" sqrt")[0]) >= 1
    return fine and verdict.outcome == ("vacuous" if longer else "holds")


def _only(instance: Instance, id: str) -> Instance:
    if "network" in theory.statement(id).needs:
        return instance
    return Instance(name=instance.name, data=instance.data)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 5.0])
def test_designed_gram_matrices_at_the_largest_allowed_size(p: float) -> None:
    m = 2 * int(101 / (3 * (p + 1)) / 2)
    point = orthogonal_point(100, m) if p == 0 else gram_point(100, m, p)
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(point)
    assert met(verdict), str(verdict)
    assert verdict["p"].observed == pytest.approx(p, abs=1e-9)
    assert verdict["sample size m"].slack == pytest.approx(101 / (3 * (p + 1)) - m)


@pytest.mark.parametrize("width", [2, 20, 200])
def test_widths_make_no_difference(width: int) -> None:
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(orthogonal_point(100, 32, width=width))
    assert verdict.outcome == "holds"
    assert verdict["||z||, exact"].observed == pytest.approx(np.sqrt(100 / 32), rel=1e-9)


@pytest.mark.parametrize("id", [*LEMMAS[1:8], "VYS22/Thm4.1"])
def test_frozen_outputs_are_covered_too(id: str) -> None:
    """The proofs use neither sigma' <= 1, nor a shared lambda, nor the equation for v."""
    verdict = theory.statement(id).judge_instance(_only(frozen_orthogonal(), id))
    assert verdict.outcome == "holds", str(verdict)


def test_exact_and_approximate_forms_agree_at_an_exact_point() -> None:
    """Where nothing is left unexplained, the certified bound is 1 - eta_2 D S, above the truth."""
    verdict = theory.statement("VYS22/X.cert").judge_instance(orthogonal_point(100, 32))
    eta = 0.0825
    expected = 1.0 - (eta - 0.01) * 100 * 0.16
    assert verdict["certified bound, sharp z"].observed == pytest.approx(expected, abs=1e-4)
    assert verdict["E+"].observed < 1e-12


@cache
def odd_instances() -> dict[str, Instance]:
    """Networks and data that a user may well have, and for which no theorem is made."""
    rng = np.random.default_rng(0)
    data = Sphere(dimension=10, labels="both").sample(6)
    some = TwoLayer(W=rng.standard_normal((5, 10)), b=rng.standard_normal(5), v=rng.standard_normal(5))
    point = mf.kkt_point(data, width=10).network
    one_class = Sphere(dimension=10, labels="positive").sample(4)
    pairs = {
        "misclassifies": (some, data),
        "one class": (some, one_class),
        "one sample": (some, Dataset(X=np.ones((1, 10)), y=[1])),
        "two samples": (some, Dataset(X=np.sqrt(10) * np.eye(10)[:2], y=[1, -1])),
        "more samples than dimensions": (some.neurons([0, 1]), Sphere(dimension=10, labels="both").sample(30)),
        "KKT point outside the hypotheses": (point, data),
        "tiny": (point.scaled(1e-5), data),
        "huge": (point.scaled(1e8), data),
        "without bias": (mf.limit.convex_pair(data, bias=False).network, data),
        "copies": (some, Dataset(X=np.vstack([data.X, data.X]), y=np.append(data.y, data.y))),
        "a zero sample": (some, Dataset(X=np.vstack([data.X, np.zeros((1, 10))]), y=np.append(data.y, 1.0))),
        "dead": (TwoLayer(W=-np.ones((1, 10)), b=[-1.0], v=[1.0]), Dataset(X=np.ones((2, 10)), y=[1, -1])),
        "constant": (TwoLayer(W=np.zeros((1, 10)), b=[1.0], v=[1.0]), one_class),
    }
    return {name: Instance(name=name, network=network, data=given) for name, (network, given) in pairs.items()}


@pytest.mark.parametrize("name", list(odd_instances()))
def test_every_statement_answers_on_anything_and_no_theorem_is_violated(name: str) -> None:
    instance = odd_instances()[name]
    for statement in theory.statements("VYS22"):
        if set(statement.needs) <= {"network", "data"}:
            verdict = statement.judge_instance(instance)
            if statement.kind not in ("assumption", "definition"):
                assert verdict.outcome != "violated", str(verdict)


def test_a_vector_longer_than_the_data_says_nothing() -> None:
    """On 4 random samples in dimension 1000 the printed z is 2.7 sqrt(d) long: it flips, and that is no news."""
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(sphere_point(1000, 4))
    assert verdict.outcome == "vacuous"
    assert all(check.vacuous for check in verdict.claims)
    assert verdict["||z||, literal"].observed > 1000**0.5
    assert "says nothing here" in verdict.sentence


def test_theorem_does_not_apply_where_the_paper_draws_its_figures() -> None:
    """No cell of the figures satisfies the bound on m: sqrt(d) random samples are eight times too many at d = 100."""
    data = Sphere(dimension=100, labels="both").sample(10)
    verdict = theory.statement("VYS22/A.msize").check(data=data)
    assert verdict.outcome == "violated"
    assert 5 < verdict["m / allowed"].observed < 15


def test_random_data_in_a_large_dimension_satisfy_everything() -> None:
    verdict = theory.statement("VYS22/Thm4.1").judge_instance(sphere_point(100_000, 16))
    assert verdict.outcome == "vacuous", "below d of about 400000 the printed z is longer than sqrt(d)"
    assert met(verdict)


@pytest.mark.parametrize("word", ["exact margin", "10 % margin", "support"])
def test_three_different_sets_of_samples_on_the_margin(word: str) -> None:
    """Of factors 1.1, 1.5 and 3 only the first is within ten per cent of the margin; none is on it."""
    point = with_longer_samples(1.1, 1.5, 3.0)
    statement = theory.statement("VYS22/Cor4.1")
    verdict = statement.check(point.network, point.data, multipliers=point.multipliers, samples=word)
    assert verdict["samples in I, exact margin"].observed == 32
    assert verdict["samples in I, 10 % margin"].observed == 33
    assert verdict["samples in I, support"].observed == 32
    assert verdict.outcome == ("not applicable" if word == "10 % margin" else "holds")


def test_a_copy_of_a_sample_is_on_the_margin_but_not_in_the_support() -> None:
    """With a copy, p = d on the exact margin set and the corollary is silent; on the support it speaks."""
    point = with_longer_samples(1.0, 3.0)
    statement = theory.statement("VYS22/Cor4.1")
    given = (point.network, point.data)
    assert statement.check(*given, multipliers=point.multipliers, samples="exact margin").outcome == "not applicable"
    verdict = statement.check(*given, multipliers=point.multipliers, samples="support")
    assert verdict.outcome == "holds"
    assert verdict["samples in I, exact margin"].observed == 33


def test_without_a_bias_a_kink_is_measured_by_the_sample_alone() -> None:
    network = TwoLayer(W=np.eye(2), v=np.ones(2))
    data = Dataset(X=np.array([[1e-3, 1e-9], [1e-9, 1e-3]]), y=np.ones(2))
    kinks = theory.statement("VYS22/A.KKT").check(network, data)["kinks"].observed
    assert theory.statement("VYS22/Def.KKT").check(network, data)["pairs on a kink"].observed == kinks == 0
