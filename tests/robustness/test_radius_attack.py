"""The attacks of benchmarks/attack_radius.py in small: no wrong answer, no forged certificate accepted."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from marginflow.robustness import check_certificate

PATH = Path(__file__).parents[2] / "benchmarks" / "attack_radius.py"


@pytest.fixture(scope="module")
def attack():
    specification = importlib.util.spec_from_file_location("attack_radius", PATH)
    module = importlib.util.module_from_spec(specification)
    sys.modules["attack_radius"] = module
    specification.loader.exec_module(module)
    return module


def test_networks_of_every_kind_and_scale_get_no_wrong_answer_and_no_mutated_proof_passes(attack):
    proved = tried = 0
    with np.errstate(all="ignore"):
        for kind, network, radius, rng in attack.networks(3 * len(attack.KINDS), seed=5):
            assert not attack.fault_of(network, radius, rng), (kind, radius)
            if radius.status == "proved":
                proved += 1
                for _ in range(5):
                    claim = attack.mutated(radius.certificate, radius.upper * (1.0 + 1e-8), rng)
                    assert not check_certificate(claim, network).holds
                    tried += 1
    assert proved > 20
    assert tried > 100


def test_proofs_made_to_deceive_are_refused(attack):
    with np.errstate(all="ignore"):
        for i in range(200):
            assert not check_certificate(*attack.constructed(np.random.default_rng([7, i]))).holds
