"""Runs of a method on a function of one's own, without the machinery of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dsebo.config import MethodConfig, RunConfig
from dsebo.events import Event
from dsebo.methods.base import Array, Candidate, Optimizer
from dsebo.threads import one_thread


def settings_of(method: str, D: int, **settings: Any) -> MethodConfig:
    """A method's config, completed and checked as for a run."""
    whole = {"objective": {"D": D, "d_e": 1}, "optimizer": {"method": method, **settings}}
    return RunConfig.parse(whole).optimizer


def optimizer_of(method: str, D: int, budget: int = 100, seed: int = 1, **settings: Any) -> Any:
    """A new optimizer; typed loosely, as tests look at what each has of its own."""
    return settings_of(method, D, **settings).build(D, budget, seed)


def play(
    optimizer: Optimizer, function: Callable[[Array], float], steps: int
) -> tuple[list[Candidate], list[float], list[Event]]:
    """(candidates, values, events) of that many steps."""
    asked: list[Candidate] = []
    values: list[float] = []
    events: list[Event] = []
    with one_thread():
        for _ in range(steps):
            candidate = optimizer.ask()
            y = function(candidate.x)
            events += optimizer.tell(candidate, y).events
            asked.append(candidate)
            values.append(y)
    return asked, values, events


def sphere(centre: float = 0.0) -> Callable[[Array], float]:
    """The squared distance to a point of the diagonal."""
    return lambda x: float(np.sum((x - centre) ** 2))


def left_over(
    make: Callable[[int], Any], function: Callable[[Array], float], steps: int, start: int
) -> float:
    """What is left of the best of the first `start` values; the median of three seeds.

    A single run hangs on the last bits of the arithmetic, which differ between processors.
    """
    runs = [play(make(seed), function, steps)[1] for seed in (1, 2, 3)]
    return float(np.median([min(values) / min(values[:start]) for values in runs]))


def slopes_at(function: Callable[[Array], float], x: Array, step: float = 1e-5) -> Array:
    """The gradient by differences to both sides, good to about 1e-8 of what the function is."""
    ways = step * np.eye(x.size)
    return np.array([(function(x + way) - function(x - way)) / (2.0 * step) for way in ways])
