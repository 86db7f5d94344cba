"""Radii that SCIP found with a mixed-integer program, stored; see by_scip in benchmarks/radius.py for the model."""

import json
from pathlib import Path

import numpy as np
import pytest
from rival_attacks import ATTACKS

from marginflow.networks import TwoLayer
from marginflow.robustness import check_certificate, exact_radius

CASES = json.loads((Path(__file__).parents[1] / "oracles" / "scip_radii.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_radius_is_the_one_that_scip_found(case: dict[str, object]):
    network = TwoLayer(W=case["W"], b=case["b"], v=case["v"])
    x, label = np.array(case["x"]), case["label"]
    radius = exact_radius(network, x, label=label)
    assert radius.status == "proved"
    assert radius.upper == pytest.approx(case["radius"], rel=1e-6)
    assert radius.lower <= case["radius"] * (1 + 1e-6)
    assert check_certificate(radius.certificate, network).holds
    for attack in ATTACKS.values():
        assert attack(network, x[None, :], [label]).sizes[0] >= radius.lower


def test_there_are_cases():
    assert len(CASES) >= 10
