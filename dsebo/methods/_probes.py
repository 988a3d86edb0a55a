"""Probes: each block of variables is moved once, which tells how many variables matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dsebo.events import Probed
from dsebo.expansion import (
    Strategy,
    blocks_that_matter,
    dimensions_for,
    enough_in_words,
    variables_that_matter,
)


@dataclass(frozen=True)
class Probes:
    """Where they stand: one evaluation for each block, the first one number `first`."""

    first: int
    blocks: int

    def include(self, t: int) -> bool:
        """Whether evaluation t is one of them."""
        return self.first <= t < self.first + self.blocks

    def result(self, values: Sequence[float], strategy: Strategy, d: int) -> Probed:
        """What all of them say; those that failed say nothing."""
        last = self.first + self.blocks - 1  # what each changes: beside the best value before it
        y = np.array(values[:last])
        best = np.fmin.accumulate(y)[self.first - 2 : last - 1]
        changes = np.abs(y[self.first - 1 :] - best)
        known = tuple(float(value) for value in changes[np.isfinite(changes)])
        matter = blocks_that_matter(known)
        variables = variables_that_matter(matter, len(known))
        most = max(d, dimensions_for(strategy, variables))
        what = f"Evaluation {last}: {len(known)} blocks of variables have been moved, each alone."
        if variables is None:
            which = "None of them stands out" if not matter else "All of them matter"
            return Probed(last, None, most, f"{what} {which}: it may grow up to d_h.", known)
        number = f"{matter} change{'s' if matter == 1 else ''}"
        why = f"{number} the value far more than most do: some {variables:.0f} variables matter."
        then = enough_in_words(strategy, last, d) if most == d else f"It grows to {most} dimensions."
        return Probed(last, variables, most, f"{what} {why} {then}", known)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)
