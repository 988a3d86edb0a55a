"""The shared embedding: a padded z is the same x, always inside the box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsebo.embedding import SharedEmbedding, pad
from dsebo.methods.base import stream


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 1000), st.floats(0.1, 20))
@settings(max_examples=60, deadline=None)
def test_a_padded_z_is_lifted_to_the_same_x(d: int, more: int, seed: int, scale: float) -> None:
    embedding = SharedEmbedding(200, d + more, stream(seed, 0))
    z = scale * stream(seed, 1).standard_normal(d)
    x, padded = embedding.lift(z), embedding.lift(pad(z, d + more))
    assert np.allclose(x, padded, rtol=0, atol=1e-12)
    assert np.all(np.abs(x) <= 1.0)


def test_lift_is_the_clipped_product_with_the_leading_columns() -> None:
    embedding = SharedEmbedding(30, 8, stream(1, 0))
    z = stream(1, 1).standard_normal((5, 3)) * 3
    assert np.allclose(embedding.lift(z), np.clip(z @ embedding.A(3).T, -1, 1))
    assert np.array_equal(embedding.A(3), embedding.S[:, :3])


def test_entries_have_variance_one_over_d_h() -> None:
    S = SharedEmbedding(5000, 50, stream(2, 0)).S
    assert S.shape == (5000, 50)
    assert S.var() == pytest.approx(1 / 50, rel=0.02)
    assert abs(S.mean()) < 1e-3


def test_a_larger_d_h_keeps_the_leading_columns_up_to_scale() -> None:
    small, large = SharedEmbedding(40, 10, stream(3, 0)), SharedEmbedding(40, 20, stream(3, 0))
    assert np.allclose(small.S * np.sqrt(10), large.S[:, :10] * np.sqrt(20))


def test_checksum_tells_two_matrices_apart() -> None:
    one = SharedEmbedding(40, 10, stream(3, 0)).checksum()
    assert one == SharedEmbedding(40, 10, stream(3, 0)).checksum()
    assert one != SharedEmbedding(40, 10, stream(4, 0)).checksum()
