"""[KYS23] Instances near which a judge is easily wrong: outside [0, 1], at another scale, undecided, not fitting."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from marginflow import InputError, theory
from marginflow.data import Dataset
from marginflow.limit import line
from marginflow.networks import TwoLayer
from marginflow.theory import Instance
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.derived.line import zero_of_two
from marginflow.theory.kys23.line_points import five_point_minimum, global_point, linearity_counterexample, spikes
from marginflow.theory.kys23.sphere_points import frozen_point
from marginflow.theory.kys23.thm_3_1.a1 import expected_changes
from marginflow.theory.kys23.thm_3_2 import con_p10_p12_p14
from marginflow.theory.kys23.thm_4_1.rem_4_2 import other_law_point
from marginflow.theory.kys23.thm_4_1.theorem import literal_constants


@pytest.mark.parametrize("name", ["Thm3.1", "Thm3.1.upper", "Thm3.2"])
def test_claims_about_the_unit_interval_do_not_apply_to_samples_outside_of_it(name: str) -> None:
    x = np.linspace(2.0, 3.0, 12)
    y = np.where(np.arange(12) % 4 == 1, -1.0, 1.0)
    point = at_point(line.max_margin(Dataset(X=x[:, None], y=y)), "outside of [0, 1]")
    verdict = theory.statement(f"KYS23/{name}").judge_instance(replace(point, parameters={"p": 0.25}))
    assert verdict.outcome == "not applicable"
    assert [check.name for check in verdict.hypotheses if check.state != "met"] == ["samples in [0, 1]"]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("name", ["CorA.3", "PropA.5", "LemA.2", "Thm3.1.groups"])
def test_verdicts_on_the_line_do_not_depend_on_the_scale_of_theta(name: str, scale: float) -> None:
    point = global_point(40, 0.2, runs=2, run_length=7)
    scaled = Instance(network=point.the_network().scaled(scale), data=point.data)
    assert theory.statement(f"KYS23/{name}").judge_instance(scaled).outcome == "holds"


@pytest.mark.parametrize("scale", [1e-4, 1.0])
def test_a_dip_between_positive_samples_is_seen_at_every_scale(scale: float) -> None:
    dips = spikes(20, 0.3, depth=-1.0)
    verdict = theory.statement("KYS23/PropA.5").check(dips.the_network().scaled(scale), dips.data)
    assert verdict["N on [x_i, x_{i+1}]"].state == "failed"


@pytest.mark.parametrize(
    ("m", "outcome"),
    [(311, "refuted"), (312, "undecided"), (359, "refuted"), (380, "undecided"), (408, "holds"), (456, "holds")],
)
def test_the_event_of_spacings_is_undecided_where_its_two_bounds_disagree(m: int, outcome: str) -> None:
    assert theory.statement("KYS23/LemA.1").check(m=m, delta=0.1).outcome == outcome


def test_a_network_that_does_not_classify_is_no_bound_on_the_least_width() -> None:
    data = Dataset(X=np.array([[0.2], [0.7]]), y=np.array([-1.0, 1.0]))
    verdict = theory.statement("KYS23/A1.Nstar").check(TwoLayer(W=[[1.0]], b=[0.0], v=[1.0]), data)
    assert verdict.outcome == "refuted", "print allows one neuron for one change"
    assert verdict["n*, at most"].observed == 2


def test_narrow_spikes_err_less_than_the_groups_of_five_force_on_a_kkt_point() -> None:
    statement = theory.statement("KYS23/Thm3.1.groups")
    verdict = statement.judge_instance(statement.control())
    assert verdict["L_cl against the least gaps of groups of five"].state == "failed"


def test_without_five_labels_minus_the_groups_say_nothing_and_few_samples_make_the_theorem_vacuous() -> None:
    assert theory.statement("KYS23/Thm3.1.groups").judge_instance(global_point(20, 0.1, 5)).outcome == "vacuous"
    few = theory.statement("KYS23/Thm3.1").judge_instance(global_point(20, 0.3, 5))
    assert few.outcome == "vacuous", "sqrt(p) and the deviation are more than 1 together"


def test_the_upper_half_of_the_first_theorem_is_judged() -> None:
    statement = theory.statement("KYS23/Thm3.1")
    verdict = statement.judge_instance(statement.control())
    assert verdict["L_cl <= C (sqrt(p) + sqrt(log(m/delta)/m))"].state == "failed"
    point = statement.example()
    small = statement.judge_instance(replace(point, parameters={"C": 0.1}))
    assert small.outcome == "constants unspecified"
    assert "C = 0.1" in small.sentence


@pytest.mark.parametrize("name", ["Thm3.1", "Thm3.2"])
def test_the_noise_rate_is_never_taken_for_granted(name: str) -> None:
    statement = theory.statement(f"KYS23/{name}")
    point = replace(statement.example(), law=None)
    with pytest.raises(InputError, match="parameter p is needed"):
        statement.judge_instance(point)
    wrong = statement.judge_instance(replace(point, parameters={"p": 0.49}))
    assert wrong.outcome == "not applicable"
    assert wrong.deciding is not None
    assert "labels -1" in wrong.deciding.name


def test_a_step_of_the_proof_fails_on_the_five_points_and_not_the_theorem() -> None:
    statement = theory.statement("KYS23/Thm3.2")
    assert statement.gap is not None
    verdict = statement.judge_instance(statement.gap())
    assert verdict.outcome == "proof step fails"
    assert all(check.vacuous for check in verdict.claims)


def test_the_constants_of_theorem_4_1_are_those_of_its_proof_unless_given() -> None:
    statement = theory.statement("KYS23/Thm4.1")
    point = replace(statement.example(), parameters={})
    verdict = statement.judge_instance(point)
    assert verdict.outcome == "not applicable"
    assert verdict["p against c_1"].bound == pytest.approx(4.3e-5, rel=0.02)
    least = 5 * np.log(10) / literal_constants(1.0)["c1"]
    assert least == pytest.approx(268_583, rel=1e-4)
    assert statement.judge_instance(statement.example()).holds


def test_exactly_enclosed_minima_refute_and_the_repair_is_silent() -> None:
    point = linearity_counterexample()
    assert theory.statement("KYS23/LemA.6").judge_instance(point).outcome == "refuted"
    assert theory.statement("KYS23/LemA.7").judge_instance(point).holds
    assert theory.statement("KYS23/Thm3.2.sandwich").judge_instance(five_point_minimum()).outcome == "refuted"


def test_two_points_of_the_line_break_the_nearest_neighbour_rule_in_fractions() -> None:
    assert zero_of_two(Fraction(-1), Fraction(2)) == Fraction(1, 3)
    statement = theory.statement("KYS23/X.1NN")
    verdict = statement.judge_instance(statement.control())
    assert verdict["length on which the signs differ / span"].observed == pytest.approx((1 / 2 - 1 / 3) / 3, abs=1e-9)
    assert verdict["1 + x_i x_k"].observed == -1


def test_expectations_over_labels_use_a_network_for_each_of_them() -> None:
    statement = theory.statement("KYS23/FN4")
    verdict = statement.judge_instance(statement.example())
    assert verdict["E L_cl = p"].state == "met"
    short = replace(statement.example(), networks=statement.example().networks[:-1])
    assert statement.judge_instance(short).outcome == "not applicable"


def test_the_three_properties_are_undecided_while_the_norm_of_the_gram_matrix_is() -> None:
    lemma = theory.statement("KYS23/LemB.1")
    assert lemma.check(m=150, dimension=160, p=0.2, delta=0.01).outcome == "undecided"
    proved = lemma.check(m=150, dimension=10**6, p=0.2, delta=0.01)
    assert proved.holds
    assert proved["P(some property fails)"].interval is None


def test_kkt_points_with_frozen_outputs_have_the_norm_of_their_multipliers() -> None:
    statement = theory.statement("KYS23/Def.KKT")
    point = frozen_point(60, 2, 6, 10**11)
    verdict = statement.judge_instance(point)
    assert verdict.holds
    assert verdict["||theta||^2 = 1 sum lambda"].state == "met"
    network = point.the_network()
    assert network.b is not None
    moved = Instance(network=replace(network, b=network.b + np.array([1e-3, 0.0])), data=point.data)
    assert statement.judge_instance(moved).outcome == "violated"


def test_other_laws_need_a_dimension_in_which_test_points_are_far_from_the_span() -> None:
    low = other_law_point("gaussian", m=60, k=1, d=3000)
    verdict = theory.statement("KYS23/Rem4.2").judge_instance(low)
    assert verdict["ln P(||P x||^2 >= C_op / q) on the sphere"].state == "failed"
    assert verdict.outcome == "not applicable"


def test_the_catastrophic_point_is_judged_to_be_no_local_minimum() -> None:
    statement = theory.statement("KYS23/Prop4.6-repaired")
    names = [check.name for check in statement.judge_instance(statement.example()).conclusions]
    assert "||theta||^2 after it: not a local minimum" in names


@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("equation", [10, 12, 14])
def test_the_drop_of_the_norm_is_measured_beyond_its_first_order(
    monkeypatch: pytest.MonkeyPatch, equation: int, delta: float
) -> None:
    statement = theory.statement(f"KYS23/Con.P{equation}")
    network = statement.example().the_network()
    assert statement.check(network, delta=delta).holds
    name = "move_kink_drop" if equation == 10 else "hand_over_drop"
    right = getattr(con_p10_p12_p14, name)
    monkeypatch.setattr(con_p10_p12_p14, name, lambda *pair: right(*pair) * 1.001)
    assert statement.check(network, delta=delta)["measured drop per delta"].state == "failed"
    assert statement.check(network, delta=1e-12).outcome == "not applicable"


def test_label_changes_are_counted_over_all_labels() -> None:
    assert expected_changes(2, 0.25) == pytest.approx(2 * 0.25 * 0.75, abs=1e-15)
    assert expected_changes(7, 0.1) == pytest.approx(2 * 0.1 * 0.9 * 6, abs=1e-14)
    data = Dataset(X=np.linspace(0, 1, 6)[:, None], y=np.array([1.0, -1, 1, 1, -1, 1]))
    names = [check.name for check in theory.statement("KYS23/A1.Nstar").check(data=data).conclusions]
    assert "n* <= s" in names


def test_regimes_that_disagree_are_no_regime_and_one_size_is_none() -> None:
    statement = theory.statement("KYS23/Def.Regimes")
    mixed = statement.judge_instance(statement.control())
    assert mixed.outcome == "violated"
    assert mixed.failed_claims[0].note.startswith("mixed")
    alone = statement.check(noise=(0.1, 0.2), errors=(0.1, 0.2), sizes=(400, 400))
    assert alone.outcome == "not applicable"
