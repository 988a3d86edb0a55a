"""The shared embedding: one random matrix S whose leading columns embed every subspace."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SharedEmbedding:
    """S in R^{D x d_h} with entries N(0, 1/d_h); A_d is its first d columns.

    (The paper says "rows", which is a slip: z has d entries and x has D.) S is kept transposed,
    so that the columns in use lie together in memory and a lift reads only them; they are drawn
    in order, so the same seed with a larger d_h gives the same leading columns, rescaled.
    """

    blocks = 0

    def __init__(self, D: int, d_h: int, rng: np.random.Generator, variance: float | None = None) -> None:
        self.D, self.d_h = D, d_h
        self._columns: Array = rng.standard_normal((d_h, D))
        # in place: S is the largest thing in memory
        self._columns *= np.sqrt(1.0 / d_h if variance is None else variance)

    @property
    def S(self) -> Array:
        """(D, d_h) the shared matrix."""
        return self._columns.T

    def A(self, d: int) -> Array:
        """(D, d) the embedding matrix of the d-dimensional subspace."""
        return self.S[:, :d]

    def reach(self, d: int) -> Array:
        """(d, D) what the coordinates of a point of d dimensions move, as it lies in memory."""
        return self._columns[:d]

    def lift(self, z: Array) -> Array:
        """x = p(A_d z): embed and clip to the box."""
        x = self.unclipped(z)
        return np.clip(x, -1.0, 1.0, out=x)

    def unclipped(self, z: Array) -> Array:
        """A_d z, before p."""
        x: Array = z @ self._columns[: z.shape[-1]]
        return x

    def checksum(self) -> str:
        """A fingerprint of S: a stored z means x only together with the S it was drawn with."""
        return hashlib.sha256(self._columns.data).hexdigest()[:16]


class BlockEmbedding(SharedEmbedding):
    """S, and beside it one more column for each of B blocks of variables: z = (z_1 ... z_{d_h}, r_1 ... r_B).

    Each variable is in one block, with a random sign; r_b moves those of block b and nothing else. A z of at
    most d_h entries means the same x as without blocks. (The B columns are kept as D numbers, not as D B.)
    """

    def __init__(self, D: int, d_h: int, blocks: int, rng: np.random.Generator, deal: np.random.Generator):
        super().__init__(D, d_h, rng)
        self.blocks = blocks
        self.block = deal.permutation(np.arange(D) % blocks)  # (D,) the block of each variable
        self._signs = np.where(deal.integers(2, size=D) == 0, -1.0, 1.0)

    def reach(self, d: int) -> Array:
        """(d + B, D) with the blocks."""
        own = np.zeros((self.blocks, self.D))
        own[self.block, np.arange(self.D)] = self._signs
        return np.vstack([super().reach(d), own])

    def unclipped(self, z: Array) -> Array:
        """A_d z, and what the blocks are moved by."""
        x = super().unclipped(z[..., : self.d_h])
        if z.shape[-1] > self.d_h:
            x += self._signs * z[..., self.d_h :][..., self.block]
        return x


def pad(z: Array, d: int) -> Array:
    """z' = (z, 0): the same x in a larger subspace (Algorithm 3, line 6)."""
    missing = d - z.shape[-1]
    if missing == 0:
        return z
    return np.concatenate([z, np.zeros((*z.shape[:-1], missing))], axis=-1)
