"""What the shared embedding does, checked point by point; and quick at D = 10 000."""

from __future__ import annotations

import numpy as np
import pytest

from dsebo.analysis import embedding_use as embedding_view
from dsebo.analysis.embedding_use import moves, share, shown_coordinates
from dsebo.embedding import SharedEmbedding
from dsebo.methods.base import stream


def embedding(D: int = 40, d_h: int = 12) -> SharedEmbedding:
    return SharedEmbedding(D, d_h, stream(1, 0))


def points(*dims: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, size=d) for d in dims]


@pytest.mark.parametrize("chunk", [1, 80, 10_000])
def test_clipped_and_covered_as_counted_one_by_one(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_view, "CHUNK_ENTRIES", chunk)
    S, Z = embedding(), points(2, 2, 7, 7, 12)
    found = moves(S, Z)
    raw = [S.A(len(z)) @ z for z in Z]
    assert list(found.clipped) == [int((np.abs(x) > 1).sum()) for x in raw]
    lifted = np.stack([S.lift(z) for z in Z])
    assert np.allclose(found.low, lifted.min(axis=0))
    assert np.allclose(found.high, lifted.max(axis=0))
    assert np.allclose(found.reach, lifted.max(axis=0) - lifted.min(axis=0))


def test_a_padded_z_gives_the_same_x() -> None:
    found = share(embedding(), points(3)[0], 12)
    assert len(found.padded) == 12
    assert found.difference < 1e-12
    assert len(share(embedding(), points(12)[0], 5).padded) == 12


def test_the_effective_coordinates_are_always_shown() -> None:
    effective = np.array([3, 500, 9_999])
    shown = shown_coordinates(10_000, effective, 100)
    assert list(shown[:3]) == [3, 500, 9_999]
    assert len(shown) == len(set(shown.tolist())) == 100
    assert sorted(shown_coordinates(20, effective[:1], 100)) == list(range(20))
