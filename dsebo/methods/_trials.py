"""Several embeddings to begin with: each has its share of the first phase, and the best of them goes on.

The columns of S are drawn one by one, all alike, so embeddings that differ in their first d_l columns are as
different as whole matrices are. All of them are columns of one S, first a block of d_l for each embedding,
then those that all have. A point of one embedding is 0 in the others' blocks: x follows from z alone, and
data stay shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dsebo.events import SubspaceChanged

PHASE = 10  # a tenth of the budget is the first phase


@dataclass(frozen=True)
class Trials:
    """Which embedding an evaluation belongs to."""

    embeddings: int
    d_l: int
    budget: int

    @property
    def each(self) -> int:
        """Evaluations of each embedding in the first phase, two at least."""
        return max(2, self.budget // PHASE // self.embeddings)

    @property
    def last(self) -> int:
        """The last evaluation of the first phase; 0 where there is one embedding only."""
        return self.each * self.embeddings if self.embeddings > 1 else 0

    @property
    def unused(self) -> int:
        """Coordinates of z that stay 0 once an embedding is chosen."""
        return (self.embeddings - 1) * self.d_l

    def tried_at(self, t: int) -> int:
        """The number of the embedding, from 0, that evaluation t of the first phase tries."""
        return (t - 1) // self.each

    def best(self, values: Sequence[float]) -> int:
        """The embedding with the best value of the first phase; the first, where all have failed."""
        y = np.array(values[: self.last])
        return self.tried_at(int(np.nanargmin(y)) + 1) if np.isfinite(y).any() else 0

    def active(self, t: int, d: int, values: Sequence[float]) -> np.ndarray:
        """(size of z,) which coordinates of z evaluation t may move; d of them."""
        if t <= self.last:
            k = self.tried_at(t)
            moved = np.zeros((k + 1) * self.d_l, dtype=bool)
        else:
            k = self.best(values)
            moved = np.ones(self.unused + d, dtype=bool)
            moved[: self.embeddings * self.d_l] = False
        moved[k * self.d_l : (k + 1) * self.d_l] = True
        return moved

    def chosen(self, values: Sequence[float]) -> SubspaceChanged:
        """What follows from the first phase, in words."""
        t, k = self.last, self.best(values)
        y = np.array(values[:t]).reshape(self.embeddings, self.each)
        finite = np.where(np.isfinite(y), y, np.inf).min(axis=1)
        shown = ", ".join(f"{value:.6g}" if np.isfinite(value) else "none" for value in finite)
        text = (
            f"Evaluation {t}: {self.embeddings} embeddings have had {self.each} evaluations each, with best "
            f"values {shown}. Number {k + 1} goes on."
        )
        return SubspaceChanged(t, self.d_l, self.d_l, (), None, text)
