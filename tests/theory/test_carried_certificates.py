"""A certificate is made once and carried: statements of an audit and of the demo do not ask for it again."""

import numpy as np
import pytest

import marginflow as mf
from marginflow import theory
from marginflow.demo.theorem import theorem
from marginflow.theory import instance as instance_room

DATA = mf.data.Sphere(dimension=8).sample(6, seed=0)


@pytest.fixture(scope="module")
def limit():
    return mf.kkt_point(DATA, width=10, seed=0)


def test_an_instance_takes_the_certificate_of_its_network_at_any_scale(limit):
    for network in (limit.network, limit.network.scaled(3.0)):
        carrying = theory.Instance(network=network, data=DATA).certified(limit.certificate)
        assert carrying.certificate is limit.certificate
        assert carrying.but(seed=3).certificate is limit.certificate


def test_an_instance_refuses_the_certificate_of_another_network_or_other_data(limit):
    moved = mf.networks.TwoLayer(W=limit.network.W + 1e-3, b=limit.network.b, v=limit.network.v)
    flipped = mf.networks.TwoLayer(W=limit.network.W, b=limit.network.b, v=-limit.network.v)
    zero = mf.networks.TwoLayer(W=0 * limit.network.W, b=0 * limit.network.b, v=0 * limit.network.v)
    for network in (moved, flipped, zero, limit.compact.widened(11)):
        with pytest.raises(mf.InputError, match="belongs to another network"):
            theory.Instance(network=network, data=DATA).certified(limit.certificate)
    with pytest.raises(mf.InputError, match="other data"):
        theory.Instance(network=limit.network, data=DATA.subset(np.arange(5))).certified(limit.certificate)


def test_statements_of_an_audit_and_of_the_demo_certify_no_network_again(limit, monkeypatch):
    def again(*args, **options):
        raise AssertionError("a certificate was made again")

    monkeypatch.setattr(instance_room, "certify", again)
    assert mf.audit(limit.network, DATA.X, DATA.y).statements
    assert theorem(0, lambda share, remark: None).record["outcome"] in ("holds", "vacuous")
    with pytest.raises(AssertionError, match="made again"):  # the check can fail
        theory.statement("VYS22/A.KKT").check(limit.network, DATA)
