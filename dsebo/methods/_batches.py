"""Several points at once, to be evaluated side by side."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np

from dsebo.methods.base import MAX_BATCH, Candidate, MethodConfig, Optimizer
from dsebo.objectives.fields import setting


class BatchConfig(MethodConfig):
    """A method that can propose several points at once."""

    batch: int = setting(1, "Batch", symbol="q", advanced=True, ge=1, le=MAX_BATCH)
    """How many points are proposed before the first of their values is seen, so that they can be evaluated
    side by side. Each knows less than it would alone: more points cost value, and save time. Try 1, 4."""

    @property
    def points_at_once(self) -> int:
        """As set."""
        return self.batch


class Liar(Optimizer):
    """A batch by the constant liar (Ginsbourger, Le Riche, Carraro 2010).

    The first point is the one that `ask()` would give. For each further one it is pretended that those before
    it have come out like the best value so far, so that the model expects little more from there. Before any
    value is known they count as failed. Only the data are imagined: subspace, region and patience stay.
    """

    def next_points(self, q: int) -> list[Candidate]:
        """The first from what is known, the others from what is imagined."""
        points = [self.next_point()]
        if q == 1:
            return points
        imagined = self.imagined()
        lie = self.lie() if self.observed.any_finite else float("nan")
        while len(points) < q:
            imagined.observed.add(points[-1].z, lie)
            points.append(imagined.next_point())
        return points

    def lie(self) -> float:
        """What a point that has not been evaluated is taken to come out like."""
        return float(np.nanmin(self.observed.values))

    def imagined(self) -> Self:
        """A copy whose data and model can be changed without changing this one's."""
        other = copy(self)
        other.observed = self.observed.copy()
        return other
