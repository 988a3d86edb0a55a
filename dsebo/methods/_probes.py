"""Probes: pairs of points to both sides of the best one, whose curvatures tell how many directions matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dsebo.embedding import pad
from dsebo.events import Probed
from dsebo.expansion import Strategy, dimensions_for, directions_that_matter, enough_in_words
from dsebo.methods.base import Array, stream

STEP = 0.05  # how far a probe moves a variable, as a standard deviation; the box is from -1 to 1


@dataclass(frozen=True)
class Probes:
    """Where they stand: `pairs` pairs of evaluations, the first one number `first`."""

    first: int
    pairs: int
    centre: int  # index of the evaluation between them

    def include(self, t: int) -> bool:
        """Whether evaluation t is one of them."""
        return self.first <= t < self.first + 2 * self.pairs

    def point(self, t: int, points: Sequence[Array], strategy: Strategy, d: int, seed: int) -> Array:
        """(d,) to one side of the centre, next to the other one, as far; the box may be left."""
        pair, side = divmod(t - self.first, 2)
        v = stream(seed, self.first + 2 * pair).standard_normal(d)
        v *= STEP * np.sqrt(strategy.d_h) / np.linalg.norm(v)
        centre = pad(points[self.centre], d)
        return centre - v if side else centre + v

    def result(self, values: Sequence[float], strategy: Strategy, d: int) -> Probed:
        """What all of them say; those that failed say nothing."""
        y = np.array(values[self.first - 1 : self.first - 1 + 2 * self.pairs]).reshape(-1, 2)
        curvatures = (y.sum(axis=1) - 2.0 * values[self.centre]) / STEP**2
        known = tuple(float(value) for value in curvatures[np.isfinite(curvatures)])
        matter = directions_that_matter(known)
        most = max(d, dimensions_for(strategy, matter))
        t = self.first + 2 * self.pairs - 1
        what = f"Evaluation {t}: {len(known)} pairs of probes around the best point."
        if matter is None:
            why = "Their curvatures do not tell how many directions matter: it may grow up to d_h."
        else:
            why = f"Their curvatures differ as if {matter:.0f} directions mattered."
        then = enough_in_words(strategy, t, d) if most == d else f"It grows to {most} dimensions."
        return Probed(t, known, matter, most, " ".join([what, why] if matter is None else [what, why, then]))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)
