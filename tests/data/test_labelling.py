import numpy as np
import pytest

from marginflow.data.distribution import draw_labels
from marginflow.errors import InputError


def test_balanced_labels_differ_in_number_by_at_most_one() -> None:
    rng = np.random.default_rng(0)
    for n in range(2, 20):
        assert abs(draw_labels("balanced", n, rng).sum()) == n % 2
    odd = [draw_labels("balanced", 3, rng).sum() for _ in range(50)]
    assert set(odd) == {-1.0, 1.0}  # the odd one out has a random sign


def test_both_labels_occur_however_few_the_samples() -> None:
    rng = np.random.default_rng(0)
    draws = np.array([draw_labels("both", 2, rng) for _ in range(400)])
    assert (draws.sum(axis=1) == 0).all()
    assert abs(draws[:, 0].mean()) < 4 / np.sqrt(400)  # (+,-) and (-,+) stay equally likely


def test_halves_and_constant_labels() -> None:
    rng = np.random.default_rng(0)
    assert draw_labels("halves", 5, rng).tolist() == [1, 1, 1, -1, -1]
    assert draw_labels("positive", 3, rng).tolist() == [1, 1, 1]


def test_random_labels_are_fair_coins() -> None:
    y = draw_labels("random", 10_000, np.random.default_rng(1))
    assert abs(y.mean()) < 4 / 100
    assert abs((y[1:] * y[:-1]).mean()) < 4 / 100


@pytest.mark.parametrize("labelling", ["both", "balanced", "halves"])
def test_one_sample_cannot_have_both_labels(labelling: str) -> None:
    with pytest.raises(InputError, match="from 2 samples on"):
        draw_labels(labelling, 1, np.random.default_rng(0))
