"""Outside truths for radii."""

from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def least_over_all_subsets() -> Callable[..., float]:
    """The radius by brute force over all patterns of opposing neurons."""
    pytest.importorskip("clarabel", reason="the outside solver of the brute-force search")
    from patterns import least_over_all_subsets

    return least_over_all_subsets
