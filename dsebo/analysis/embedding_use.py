"""What the shared embedding does in a run: which of S is in use, what is clipped, what moves.

Pure functions of arrays. Long x are handled a few evaluations at a time, and thinned for display.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsebo.embedding import Array, SharedEmbedding, pad

Indices = NDArray[np.intp]

CHUNK_ENTRIES = 4_000_000  # of x at a time: 32 MB
SHOWN = 160  # coordinates that a picture shows


@dataclass(frozen=True)
class Moves:
    """How a run used x: what each evaluation clipped, and what each coordinate covered."""

    clipped: NDArray[np.int64]  # (n,)
    low: Array  # (D,)
    high: Array  # (D,)

    @property
    def reach(self) -> Array:
        """(D,) the length of the interval that each coordinate covered."""
        return np.asarray(self.high - self.low)


@dataclass(frozen=True)
class Shared:
    """A z, its padded z', and the x of both."""

    z: Array
    padded: Array
    x: Array
    x_of_padded: Array

    @property
    def difference(self) -> float:
        """The largest difference between the two x: the embedding is shared where it is 0."""
        return float(np.abs(self.x - self.x_of_padded).max())


def moves(embedding: SharedEmbedding, points: Sequence[Array]) -> Moves:
    """The clipped coordinates of each evaluation and what each coordinate covered."""
    low, high = np.full(embedding.D, np.inf), np.full(embedding.D, -np.inf)
    clipped = np.zeros(len(points), dtype=np.int64)
    step = max(1, CHUNK_ENTRIES // embedding.D)
    for first in range(0, len(points), step):
        chunk = points[first : first + step]
        widest = max(len(z) for z in chunk)
        x = embedding.unclipped(np.stack([pad(z, widest) for z in chunk]))
        clipped[first : first + len(chunk)] = (np.abs(x) > 1.0).sum(axis=1)
        np.clip(x, -1.0, 1.0, out=x)
        low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
    return Moves(clipped, low, high)


def share(embedding: SharedEmbedding, z: Array, d: int, moved_by: Array | None = None) -> Shared:
    """A z beside itself padded to d, with the x that each gives; `moved_by` is how far blocks are moved."""

    def lifted(own: Array) -> Array:
        blocks = moved_by is not None and moved_by.size
        return embedding.lift(np.concatenate([pad(own, embedding.d_h), moved_by]) if blocks else own)

    padded = pad(z, max(d, len(z)))
    return Shared(z, padded, lifted(z), lifted(padded))


def shown_coordinates(D: int, effective: Indices, most: int = SHOWN) -> Indices:
    """The coordinates that a picture shows: the effective ones first, then an even sample."""
    first = effective[: most // 2]
    others = np.setdiff1d(np.arange(D), effective)
    room = most - len(first)
    if len(others) > room:
        others = others[np.linspace(0, len(others) - 1, room).round().astype(np.intp)]
    return np.concatenate([first, others])
