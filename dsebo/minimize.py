"""`minimize`: DSEBO on one's own function, in one's own units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsebo.config import RunConfig
from dsebo.events import Evaluated, Event, Finished
from dsebo.methods.base import MethodConfig
from dsebo.run import Runner, iterate
from dsebo.text import count
from dsebo.threads import one_thread
from objectives import Objective
from objectives.fields import ConfigError, must

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

Array = NDArray[np.float64]

RELATIVE_ALPHA = 0.01  # a gain is 1 % of the spread seen so far: one's own units are unknown


INTERRUPTED = "interrupted"


class UserFunction(Objective):
    """A function of a (D,) point in its own units, seen from [-1, 1]^D."""

    name = "user"

    def __init__(self, f: Callable[[Array], float], lower: Array, upper: Array) -> None:
        self.f, self.lower, self.upper = f, lower, upper
        self.dimension = lower.size

    def to_units(self, x: Array) -> Array:
        """x of the box in the user's units; never outside the bounds, rounding included."""
        return np.clip(self.lower + (x + 1.0) / 2.0 * (self.upper - self.lower), self.lower, self.upper)

    def evaluate(self, x: Tensor) -> Tensor:
        """Each row by a call of its own."""
        import torch

        points = self.to_units(x.numpy())
        return torch.tensor([_number(self.f(point)) for point in points], dtype=torch.float64)


def _number(value: Any) -> float:
    """What a function returned as a float; an array of one number is that number."""
    if isinstance(value, np.ndarray):
        return float(value.item())  # ValueError where there are several
    return float(value)


@dataclass(frozen=True)
class Result:
    """What `minimize` found.

    Attributes:
        x: (D,) the best point, in the user's units; None where every evaluation failed.
        fun: Its value.
        history: One row per evaluation: t, y, best, d, T, since_gain, failed, seconds ..., what it
            led to (`decision`: expanded, converged ...) and its z.
        events: Everything that happened, the expansions among it.
        success: Whether the run ended as it should.
        message: How it ended, in words.
    """

    x: Array | None
    fun: float
    history: pd.DataFrame
    events: list[Event] = field(repr=False)
    success: bool
    message: str


def minimize(
    f: Callable[[Array], float],
    bounds: Sequence[tuple[float, float]] | ArrayLike,
    budget: int = 500,
    *,
    seed: int = 1,
    method: str = "dsebo",
    callback: Callable[[Event], None] | None = None,
    **settings: Any,
) -> Result:
    """Minimise a black box of many variables, of which only a few may matter.

    Args:
        f: Takes a (D,) point in its own units, returns a number. It may raise or return NaN.
        bounds: (D, 2) the lower and upper bound of each variable.
        budget: Number of evaluations.
        seed: Same seed, same points.
        method: A name from `dsebo methods`. DSEBO is with our own rules unless `variant="paper"` is given.
        callback: Called with each event as it happens.
        **settings: Any field of the method's config, such as `beta=8` or `d_h=60`.

    Returns:
        The best point, its value and the whole history.
    """
    if not callable(f):
        raise ConfigError(must("f", "a function of a point", f))
    lower, upper = _bounds(bounds)
    budget, seed, config = _settings(method, lower.size, budget, seed, settings)
    objective = UserFunction(f, lower, upper)
    with one_thread():
        optimizer = config.build(lower.size, budget, seed)
    described = {"optimizer": config.model_dump(mode="json"), "budget": budget, "seed": seed}
    runner = Runner(objective, optimizer, budget, described, config.warnings(budget))
    events: list[Event] = []
    try:
        for event in iterate(runner, reference=False):
            events.append(event)
            if callback is not None:
                callback(event)
    except KeyboardInterrupt:  # of a run of hours, what was found until then is worth having
        if not any(isinstance(event, Finished) for event in events):
            words = f"Interrupted after {count(runner.t, 'evaluation')}."
            ended = Finished(runner.t, INTERRUPTED, runner.best, runner.optimizer.d, runner.seconds, words)
            events.append(ended)
    return _result(runner, objective, events)


def history_frame(events: Iterable[Event]) -> pd.DataFrame:
    """The evaluations among the events, one row each."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for event in events:
        if isinstance(event, Evaluated):
            rows.append({**event.to_json(), "decision": "", "z": event.z})
        elif rows and not isinstance(event, Finished):  # an event follows its evaluation
            rows[-1]["decision"] = ", ".join(filter(None, (rows[-1]["decision"], event.kind)))
    return pd.DataFrame(rows).drop(columns="event") if rows else pd.DataFrame()


def _result(runner: Runner, objective: UserFunction, events: list[Event]) -> Result:
    evaluated = [event for event in events if isinstance(event, Evaluated)]
    finite = [event for event in evaluated if not event.failed]
    best = min(finite, key=lambda event: event.y, default=None)
    ending = events[-1]
    assert isinstance(ending, Finished)
    return Result(
        x=None if best is None else objective.to_units(runner.optimizer.lift(best.z)),
        fun=float("nan") if best is None else best.y,
        history=history_frame(events),
        events=events,
        success=ending.state == "finished",
        message=_message(ending, len(evaluated) - len(finite)),
    )


def _message(ending: Finished, failures: int) -> str:
    """How it ended, and how many evaluations failed unless all did."""
    if not failures or ending.state == "failed":
        return ending.text
    return f"{ending.text} {count(failures, 'evaluation')} failed."


def _bounds(bounds: Sequence[tuple[float, float]] | ArrayLike) -> tuple[Array, Array]:
    """(D,) lower and (D,) upper bounds, checked."""
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError("bounds must be a (lower, upper) pair of numbers per variable.") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.shape[0] < 1:
        raise ConfigError(f"bounds must be a (lower, upper) pair per variable (got shape {pairs.shape}).")
    lower, upper = pairs[:, 0].copy(), pairs[:, 1].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        wide = ~np.isfinite(upper - lower)  # from -1e308 to 1e308 is no number
    wrong = np.flatnonzero(~(np.isfinite(pairs).all(axis=1) & (lower < upper)) | wide)
    if wrong.size:
        i = int(wrong[0])
        raise ConfigError(
            f"bounds[{i}] must be two finite numbers, the lower below the upper, a finite distance apart "
            f"(got {lower[i]:g}, {upper[i]:g})."
        )
    return lower, upper


def _settings(
    method: str, D: int, budget: int, seed: int, settings: dict[str, Any]
) -> tuple[int, int, MethodConfig]:
    """(budget, seed, the method's config), checked like any other run's."""
    ours = {"variant": "adaptive"} if method == "dsebo" else {}  # who brings a function wants its value
    relative = {"alpha": RELATIVE_ALPHA, "alpha_mode": "relative"} if method == "dsebo" else {}
    if "alpha" in settings or "alpha_mode" in settings:
        relative = {}
    # A stand-in objective of the same D: everything else is checked as for a run of the paper's.
    stand_in = {"D": D}
    optimizer = {"method": method, **ours, **relative, **settings}
    whole = RunConfig.parse({"objective": stand_in, "optimizer": optimizer, "budget": budget, "seed": seed})
    return whole.budget, whole.seed, whole.optimizer
