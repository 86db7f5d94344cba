"""The judge looks at all rivals together: it says what it says of each alone, and no proof enters another."""

from dataclasses import replace

import numpy as np
import pytest

from marginflow.networks import Classifier
from marginflow.robustness import check_certificate, exact_radius


def proved(seed: int):
    """A classifier with deep trees among its proofs, and a proof."""
    rng = np.random.default_rng(seed)
    network = Classifier(W=rng.standard_normal((30, 4)), b=rng.standard_normal(30), V=rng.standard_normal((5, 30)))
    radius = exact_radius(network, rng.standard_normal(4))
    assert radius.status == "proved"
    return network, radius.certificate


def alone(certificate, network):
    """Whether each rival's proof holds by itself."""
    return {
        rival: check_certificate(proof, network.difference(certificate.label, rival)[0]).holds
        for rival, proof in certificate.proofs.items()
    }


@pytest.mark.parametrize("seed", range(6))
def test_one_spoilt_proof_is_refused_by_name_and_the_others_still_hold(seed):
    network, certificate = proved(seed)
    assert check_certificate(certificate, network).holds
    assert all(alone(certificate, network).values())
    for rival, proof in certificate.proofs.items():
        nothing = tuple(replace(node, steps=()) for node in proof.nodes)
        spoilt = replace(certificate, proofs={**certificate.proofs, rival: replace(proof, nodes=nothing)})
        verdict = check_certificate(spoilt, network)
        assert not verdict.holds
        assert verdict.reason.startswith(f"Rival {rival}: Leaf")
        assert [t for t, holds in alone(spoilt, network).items() if not holds] == [rival]


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
def test_numbers_that_are_refused_in_one_proof_do_not_reach_another(number):
    network, certificate = proved(1)
    rival, proof = next(iter(certificate.proofs.items()))
    first = proof.nodes[0]
    steps = tuple(replace(step, slopes=np.full_like(step.slopes, number)) for step in first.steps)
    spoilt = replace(proof, nodes=(replace(first, steps=steps), *proof.nodes[1:]))
    verdict = check_certificate(replace(certificate, proofs={**certificate.proofs, rival: spoilt}), network)
    assert not verdict.holds
    assert verdict.reason.startswith(f"Rival {rival}:")
    # The same step before a good proof is passed over, and leaves what the others and the good steps say.
    before = replace(first, steps=(steps[0], *first.steps))
    whole = replace(proof, nodes=(before, *proof.nodes[1:]))
    assert check_certificate(replace(certificate, proofs={**certificate.proofs, rival: whole}), network).holds


def test_taus_that_are_refused_count_as_none():
    network, certificate = proved(2)
    changed = {
        rival: replace(
            proof,
            nodes=tuple(
                replace(
                    node,
                    steps=tuple(replace(s, taus=(np.nan, -1.0, np.inf, *s.taus, 1e300)) for s in node.steps),
                )
                for node in proof.nodes
            ),
        )
        for rival, proof in certificate.proofs.items()
    }
    assert check_certificate(replace(certificate, proofs=changed), network).holds


def test_proofs_with_bounds_of_their_own_are_each_judged_by_it():
    network, certificate = proved(3)
    rival, proof = next((t, p) for t, p in certificate.proofs.items() if p.witness is None)
    nearer = replace(certificate, proofs={**certificate.proofs, rival: replace(proof, lower=0.5 * proof.lower)})
    verdict = check_certificate(nearer, network)
    assert verdict.holds
    assert verdict.lower == 0.5 * proof.lower
    (winner,) = (t for t, p in certificate.proofs.items() if p.witness is not None)
    upper = check_certificate(certificate, network).upper
    beyond = replace(certificate.proofs[winner], lower=1.001 * upper, witness=None)
    farther = replace(certificate, proofs={**certificate.proofs, winner: beyond})
    assert check_certificate(farther, network).reason.startswith(f"Rival {winner}: Leaf")
