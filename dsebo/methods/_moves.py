"""Moves: between the steps of the search, one block of variables is moved, and nothing else.

A step of the search moves all variables at once, as every column of S touches all. Where a function has many
narrow valleys (Michalewicz), that leaves one valley for each that it finds. A move changes one block of few
variables; what gains is kept, as r_b of every later point.

Notation:
    r               (B,) how far each block has been moved: the entries of z after the first d_h
    offset          the r of the best point, from which search and moves go on
    height          what the moves have gained until an offset
    change          |y - best| of a move: how much its block matters

The search's model knows z_1 ... z_d alone. That a move gains as much everywhere near the best point is taken
for granted: values from before it are lowered by what it has gained. Moves are no data of the model.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Self

import numpy as np

from dsebo.embedding import pad
from dsebo.expansion import Gain, blocks_that_matter, moves_next
from dsebo.methods.base import FAR_OUT, Array, Observations

BEFORE = 16  # a sixteenth of the budget goes before the first move: until then the search gains more
SHORTEST, LONGEST = 10.0**-1.5, 1.0  # how far a block is moved; the box is from -1 to 1
PROBE = 0.3  # the same for a probe, so that changes can be compared
SELDOM = 0.02  # how often a block that does not stand out is chosen again, beside the one that changes most


class Moves:
    """What the evaluations so far say of the blocks; it follows from their z and y alone."""

    def __init__(self, d_h: int, blocks: int, budget: int) -> None:
        self.d_h, self.after = d_h, budget // BEFORE
        self.offset = np.zeros(blocks)
        self.changes = np.full(blocks, np.nan)  # the largest of each block; NaN: not moved yet
        self.best, self.best_at = math.inf, -1
        self.of_search, self.of_moves = Gain(), Gain()
        self.moved_last, self.in_a_row = False, 0
        self.n_moves = 0
        self.gained = 0.0
        self._heights = {self.offset.tobytes(): 0.0}
        self._of_search: list[int] = []  # numbers of the evaluations that the model has, and their heights
        self._height_at: list[float] = []
        self._n = 0

    def copy(self) -> Self:
        """One that can be told more without changing this one."""
        other = copy(self)
        other.changes, other._heights = self.changes.copy(), dict(self._heights)
        other._of_search, other._height_at = list(self._of_search), list(self._height_at)
        return other

    # -- what has been ----------------------------------------------------------------------------

    def is_move(self, z: Array) -> bool:
        """Whether z is one: its offset is of no best point so far."""
        return self._offset_of(z).tobytes() not in self._heights

    def move_of(self, z: Array) -> tuple[int, float]:
        """(block, how far) of a move, from the latest best point that it is one block away from."""
        own = self._offset_of(z)
        apart = (own - np.frombuffer(known) for known in reversed(self._heights))
        away = next((a for a in apart if np.count_nonzero(a) == 1), own - self.offset)
        b = int(np.argmax(np.abs(away)))
        return b, float(away[b])

    def _offset_of(self, z: Array) -> Array:
        return pad(z[self.d_h :], self.offset.size)

    def take(self, observed: Observations) -> None:
        """Learn from the evaluations that are new."""
        for i in range(self._n, len(observed)):
            self._take(i, observed.points[i], observed.values[i])
        self._n = len(observed)

    def _take(self, i: int, z: Array, y: float) -> None:
        offset, moves = self._offset_of(z), self.is_move(z)
        gain = max(0.0, self.best - y) if math.isfinite(self.best) and math.isfinite(y) else 0.0
        self.in_a_row = self.in_a_row + 1 if moves == self.moved_last else 1
        self.moved_last = moves
        if moves:
            self.n_moves += 1
            self.of_moves = self.of_moves.after(gain)
            b, _ = self.move_of(z)
            self.changes[b] = np.fmax(self.changes[b], abs(y - self.best))  # as it was where it has failed
            self.gained += gain
        else:
            self.of_search = self.of_search.after(gain) if math.isfinite(self.best) else self.of_search
            self._of_search.append(i)
            self._height_at.append(self._heights[offset.tobytes()])
        if y < self.best:
            # Out of a penalty: added to it, all that is gained later would be lost in rounding.
            far_out = not math.isfinite(self.best) or abs(self.best) > FAR_OUT * abs(y)
            if moves:
                height = self._heights[self.offset.tobytes()]
                self._heights[offset.tobytes()] = height if far_out else height + gain
            self.best, self.best_at, self.offset = y, i, offset

    def of_model(self, values: list[float]) -> tuple[np.ndarray, Array]:
        """(numbers, values) of what the search's model takes: no moves, values as if at this offset."""
        raised = np.array(self._height_at) - self._heights[self.offset.tobytes()]
        return np.array(self._of_search), np.array(values)[self._of_search] + raised

    # -- what is next -----------------------------------------------------------------------------

    def due(self, t: int) -> bool:
        """Whether evaluation t is a move."""
        if t <= self.after or not math.isfinite(self.best):
            return False
        all_moved = self.n_moves >= self.changes.size
        return moves_next(t, all_moved, self.of_search, self.of_moves, self.moved_last, self.in_a_row)

    def step(self, rng: np.random.Generator) -> tuple[int, float]:
        """(block, how far): each block once, then rather those that change more."""
        if self.n_moves < self.changes.size:
            b = self.n_moves
        else:
            weights = self._weights()
            b = int(rng.choice(weights.size, p=weights / weights.sum()))
        far = math.exp(rng.uniform(math.log(SHORTEST), math.log(LONGEST)))
        return b, far if rng.integers(2) else -far

    def _weights(self) -> Array:
        known = np.isfinite(self.changes)
        usual = np.median(self.changes[known]) if known.any() else 0.0  # where a block's moves have failed
        changes = np.where(known, self.changes, usual)
        largest = float(changes.max())
        if largest <= 0.0:
            return np.ones(changes.size)
        matter = np.argsort(-changes, kind="stable")[: blocks_that_matter(changes.tolist())]
        weights: Array = SELDOM * np.sqrt(np.maximum(changes, 1e-12 * largest) / largest)
        weights[matter] /= SELDOM
        return weights

    def moved(self, z: Array, b: int, far: float) -> Array:
        """(d_h + B,) z with its block b moved."""
        whole = np.concatenate([pad(z[: self.d_h], self.d_h), self._offset_of(z)])
        whole[self.d_h + b] += far
        return whole

    def placed(self, z: Array) -> Array:
        """(d,) z of the search, at the offset; as short as it is where nothing has been moved."""
        return np.concatenate([pad(z, self.d_h), self.offset]) if self.offset.any() else z
