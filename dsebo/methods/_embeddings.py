"""Random maps from a low-dimensional z to a point of the box."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import numpy as np

from dsebo.embedding import SharedEmbedding
from dsebo.methods.base import Array
from dsebo.objectives.fields import setting

Scale = Literal["own", "unit", "dsebo"]
DSEBO_D_H = 100  # d_h of DSEBO: its S has entries of variance 1/d_h
_CLIPPED = {"own": "86 / 95 / 99 %", "unit": "58 / 75 / 86 %"}  # at d = 10, 30 and 100


def scale_setting(default: Scale) -> Any:
    """How far a random embedding reaches."""
    help = (
        "How far the embedding x = clip(A z) reaches. own: A of N(0, 1), z in ±√d; unit: the same A, "
        "z in ±1; dsebo: A of N(0, 1/100), z in ±1. The further, the more coordinates are clipped."
    )
    return setting(default, "Scale of the embedding", help)


def clipping_warning(scale: Scale) -> list[str]:
    """That most coordinates sit on the box's walls, unless the scale is DSEBO's."""
    if scale == "dsebo":
        return []
    return [
        f"At this scale most coordinates are clipped ({_CLIPPED[scale]} at d = 10 / 30 / 100): "
        "where the optimum is not on the walls, random search does better than a large subspace."
    ]


def fingerprint(*arrays: np.ndarray) -> str:
    """A short hash of what a stored z needs to mean x."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


class GaussianEmbedding(SharedEmbedding):
    """x = clip(A z), z in ±half_width.

    Own: A of N(0, 1) and z in ±√d, as REMBO's authors have it. Unit: the same A and z in ±1, which
    comes near most of the paper's figures. DSEBO's: A of N(0, 1/100) and z in ±1.
    """

    def __init__(self, D: int, d: int, scale: Scale, rng: np.random.Generator) -> None:
        super().__init__(D, d, rng, 1.0 / min(D, DSEBO_D_H) if scale == "dsebo" else 1.0)
        self.half_width = float(np.sqrt(d)) if scale == "own" else 1.0


class SignedBins:
    """x_i = s(i) z_h(i): each variable hangs on one coordinate of z, with a sign. Never clipped."""

    def __init__(self, bins: np.ndarray, signs: Array) -> None:
        self.bins, self.signs = bins, signs

    def lift(self, z: Array) -> Array:
        """(D,) from (d,)."""
        x: Array = self.signs * z[self.bins]
        return x

    def checksum(self) -> str:
        """A fingerprint of bins and signs."""
        return fingerprint(self.bins.astype(np.int64), self.signs)


def random_signs(D: int, rng: np.random.Generator) -> Array:
    """(D,) of 1 and -1, each as likely."""
    return np.where(rng.integers(2, size=D) == 0, -1.0, 1.0)
