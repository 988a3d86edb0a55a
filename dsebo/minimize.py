"""`minimize`: DSEBO on one's own function, in one's own units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dsebo.config import METHODS, RunConfig
from dsebo.embedding import Array
from dsebo.events import Evaluated, Event, Finished
from dsebo.methods._growth import GrowthConfig
from dsebo.methods.base import MethodConfig
from dsebo.objectives.base import Objective
from dsebo.objectives.fields import ConfigError
from dsebo.objectives.own import Problem, UserFunction, check_calls, sent_to_processes
from dsebo.run import Runner, iterate
from dsebo.text import count, html_table, number
from dsebo.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

RELATIVE_ALPHA = 0.01  # a gain is 1 % of the spread seen so far: one's own units are unknown


INTERRUPTED = "interrupted"
STATUS = {"finished": 0, "failed": 1, INTERRUPTED: 2}


@dataclass(frozen=True)
class Result:
    """What `minimize` found, with the names of `scipy.optimize.OptimizeResult`.

    Attributes:
        x: (D,) the best point, in the user's units; None where every evaluation failed. Where a `Problem`
            declares noise, the evaluated point whose posterior mean is least.
        fun: Its value; where noise was declared, its posterior mean.
        history: One row per evaluation: t, y, best, d, T, since_gain, failed, seconds ..., what it
            led to (`decision`: expanded, converged ...) and its z.
        events: Everything that happened, the expansions among it.
        success: Whether the run ended as it should.
        message: How it ended, in words.
        status: 0 finished, 1 failed, 2 interrupted.
        nfev: How many evaluations were made, failed ones included.
        nit: The same: each step evaluates once.
        names: Of the variables; x1, x2 … where a `Problem` has none.
    """

    x: Array | None
    fun: float
    history: pd.DataFrame
    events: list[Event] = field(repr=False)
    success: bool
    message: str
    status: int
    nfev: int
    nit: int
    names: tuple[str, ...] = ()

    @property
    def named(self) -> dict[str, float]:
        """The best point by the names of its variables; empty where every evaluation failed."""
        x = [] if self.x is None else self.x.tolist()
        return dict(zip(self.names, x, strict=True)) if x else {}

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        d = self.history["d"].iloc[-1] if "d" in self.history and len(self.history) else None
        rows = {"value": number(self.fun), "variables": "–" if self.x is None else str(len(self.x))}
        return html_table(rows | {"last dimension": number(d), "how it ended": self.message})


def minimize(
    f: Callable[[Array], float] | Problem,
    bounds: Sequence[tuple[float, float]] | ArrayLike | None = None,
    budget: int = 500,
    *,
    seed: int = 1,
    method: str = "dsebo",
    callback: Callable[[Event], None] | None = None,
    workers: int = 1,
    timeout: float | None = None,
    **settings: Any,
) -> Result:
    """Minimise a black box of many variables, of which only a few may matter.

    Args:
        f: Takes a (D,) point in its own units, returns a number. It may raise or return NaN. A `Problem` has
            its bounds with it.
        bounds: (D, 2) the lower and upper bound of each variable.
        budget: Number of evaluations.
        seed: Same seed, same points.
        method: A name from `dsebo methods`. DSEBO is with our own rules unless `variant="paper"` is given.
        callback: Called with each event as it happens.
        workers: How many points are proposed at once and evaluated side by side, each in a process of its
            own. The same number of workers, the same points, whichever is evaluated first.
        timeout: Seconds after which an evaluation has failed. One worker is then a process, too.
        **settings: Any field of the method's config, such as `beta=8` or `d_h=60`.

    Returns:
        The best point, its value and the whole history.
    """
    if bounds is None and not isinstance(f, Problem):
        raise ConfigError("bounds must be a (lower, upper) pair of numbers per variable.")
    problem = f if isinstance(f, Problem) else Problem(f, bounds if bounds is not None else ())
    lower, upper = problem.limits
    check_calls(workers, timeout, least=1)
    if workers > 1:
        settings = {"batch": workers, **settings}
    budget, seed, config = checked_settings(method, lower.size, budget, seed, settings)
    pool = sent_to_processes(problem.f, workers) if workers > 1 or timeout is not None else None
    objective = UserFunction(problem.f, lower, upper, pool, timeout)
    objective.own_noise = float(problem.noise)
    with one_thread():
        optimizer = config.build(lower.size, budget, seed)
    described = {"optimizer": config.model_dump(mode="json"), "budget": budget, "seed": seed}
    warnings, batch = config.warnings(budget), config.points_at_once
    runner = Runner(objective, optimizer, budget, described, warnings, batch=batch)
    events: list[Event] = []
    try:
        for event in iterate(runner):
            events.append(event)
            if callback is not None:
                callback(event)
    except KeyboardInterrupt:  # of a run of hours, what was found until then is worth having
        if not any(isinstance(event, Finished) for event in events):
            events.append(interrupted(runner))
    finally:
        if pool is not None:
            pool.close()
    return result_of(runner, objective, events, tuple(problem.names))


def interrupted(runner: Runner) -> Finished:
    """What ends a run that somebody stopped."""
    return runner.ended(INTERRUPTED, f"Interrupted after {count(runner.t, 'evaluation')}.")


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


def result_of(
    runner: Runner, objective: Objective, events: list[Event], names: tuple[str, ...] = ()
) -> Result:
    """What a run found."""
    evaluated = [event for event in events if isinstance(event, Evaluated)]
    finite = [event for event in evaluated if not event.failed]
    best = min(finite, key=lambda event: event.y, default=None)
    ending = events[-1]
    assert isinstance(ending, Finished)
    value = float("nan") if best is None else best.y
    if ending.incumbent is not None and ending.expected is not None:
        best, value = evaluated[ending.incumbent - 1], ending.expected
    return Result(
        x=None if best is None else objective.to_units(runner.optimizer.lift(best.z)),
        fun=value,
        history=history_frame(events),
        events=events,
        success=ending.state == "finished",
        message=_message(ending, len(evaluated) - len(finite)),
        status=STATUS[ending.state],
        nfev=len(evaluated),
        nit=len(evaluated),
        names=names or tuple(f"x{i + 1}" for i in range(objective.dimension)),
    )


def _message(ending: Finished, failures: int) -> str:
    """How it ended, and how many evaluations failed unless all did."""
    if not failures or ending.state == "failed":
        return ending.text
    return f"{ending.text} {count(failures, 'evaluation')} failed."


def checked_settings(
    method: str, D: int, budget: int, seed: int, settings: dict[str, Any]
) -> tuple[int, int, MethodConfig]:
    """(budget, seed, the method's config), checked like any other run's."""
    ours = {"variant": "adaptive"} if method == "dsebo" else {}  # who brings a function wants its value
    grows = method in METHODS and issubclass(METHODS[method], GrowthConfig)
    relative = {"alpha": RELATIVE_ALPHA, "alpha_mode": "relative"} if grows else {}
    if "alpha" in settings or "alpha_mode" in settings:
        relative = {}
    # A stand-in objective of the same D: everything else is checked as for a run of the paper's.
    stand_in = {"D": D}
    optimizer = {"method": method, **ours, **relative, **settings}
    whole = RunConfig.parse({"objective": stand_in, "optimizer": optimizer, "budget": budget, "seed": seed})
    return whole.budget, whole.seed, whole.optimizer
