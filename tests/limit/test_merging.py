"""Neurons in groups: sums and averages against the matrices that define them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.limit.neurons import Merging


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_columns_are_added_up_and_averaged_within_their_groups(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 12))
    groups = np.unique(rng.integers(0, k, size=k), return_inverse=True)[1]
    t, columns = rng.random(k) + 0.1, rng.normal(size=(5, k))
    member = (groups[:, None] == np.arange(groups.max() + 1)).astype(float)
    merging = Merging(groups, t, np.dtype(np.float64))
    assert len(merging) == member.shape[1]
    np.testing.assert_allclose(merging.added_up(columns), columns @ member, atol=1e-14)
    np.testing.assert_allclose(merging.averaged(columns), (columns * t) @ member / (t @ member), atol=1e-14)
    np.testing.assert_array_equal(groups[merging.first], np.arange(len(merging)))
