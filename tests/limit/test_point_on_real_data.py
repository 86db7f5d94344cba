"""Real data: digits and breast cancer, standardised, hard and soft margins."""

from __future__ import annotations

import pytest

import marginflow as mf

pytest.importorskip("sklearn", reason="the data sets come with the extra 'sklearn'")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda: mf.data.digits(3, 8, standardise=True), id="digits 3 v 8"),
        pytest.param(lambda: mf.data.digits(0, 1, standardise=True), id="digits 0 v 1"),
        pytest.param(lambda: mf.data.breast_cancer(standardise=True), id="breast cancer"),
    ],
)
def test_real_data_are_separated_with_a_certificate(data):
    samples = data()
    limit = mf.kkt_point(samples, width=100, seed=0)
    assert limit.certificate.stationarity <= 1e-9
    assert limit.certificate.margins.min() >= 1 - 1e-10
    assert limit.certificate.complementarity <= 1e-9
    assert abs(limit.gap) <= 1e-9
    assert limit.network.width == 100


def test_a_soft_margin_on_real_data_has_few_neurons_and_a_proof():
    data = mf.data.breast_cancer(standardise=True)
    limit = mf.kkt_point(data, width=100, penalty=0.05, seed=0)
    certificate = limit.certificate
    assert certificate.holds(1e-9)
    assert certificate.multipliers.max() <= 0.05 * (1 + 1e-12)
    inside = certificate.margins < 1 - 1e-9
    assert 0 < inside.sum() < data.n_samples
    assert certificate.multipliers[inside] == pytest.approx(0.05)
    assert (limit.network(data.X) * data.y > 0).mean() > 0.97
    assert limit.compact.width < 60
