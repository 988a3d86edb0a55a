"""A run as a stream of events: `run(config)` for all of it, `Runner` for one step at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dsebo.config import RunConfig
from dsebo.events import Clipped, Evaluated, Event, Finished, Forked, Started
from dsebo.methods.base import Candidate, Optimizer
from dsebo.objectives import Objective
from dsebo.objectives.fields import ConfigError, must
from dsebo.text import fork_changes
from dsebo.threads import one_thread

if TYPE_CHECKING:
    from dsebo.gp.incumbent import Incumbent

MAX_FAILURES_IN_A_ROW = 10
NOISE_STREAM = 1  # beside the method's own numbers of the same evaluation


def make_objective(config: RunConfig) -> Objective:
    """The objective that a config names; ConfigError, with the reason, where the run cannot be made here."""
    if why := config.unavailable():
        raise ConfigError(why)
    return config.objective.build()


def make_optimizer(config: RunConfig) -> Optimizer:
    """The optimizer that a config names, before its first evaluation."""
    with one_thread():
        return config.optimizer.build(config.D, config.budget, config.seed)


def evaluate_once(objective: Objective, x: np.ndarray) -> tuple[float, str | None]:
    """(the value at the (D,) point x, None), or (NaN, why the objective failed)."""
    try:
        with one_thread():
            return float(objective(x[None])[0]), None
    except (Exception, SystemExit) as error:  # a user's function may raise anything; the run goes on
        return math.nan, _in_words(error)


def evaluate_at_once(objective: Objective, X: np.ndarray) -> list[tuple[float, str | None]]:
    """As `evaluate_once` at each row of X (n, D), in their order; side by side where the objective can."""
    values = objective.values_at_once(X)
    if values is None:
        return [evaluate_once(objective, x) for x in X]
    return [(math.nan, _in_words(y)) if isinstance(y, Exception) else (y, None) for y in values]


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class _Evaluated:
    """A point that has been asked and evaluated, and is to be told."""

    candidate: Candidate
    y: float
    error: str | None
    seconds: float  # its share of asking and evaluating
    seconds_eval: float


class Runner:
    """One run, an evaluation at a time. Who calls `step` owns the loop.

    `forks`: the configs of the forks that are still to come, the next one first. `batch`: how many points are
    asked and evaluated together; they are still told one at a time, in their order.
    """

    def __init__(
        self,
        objective: Objective,
        optimizer: Optimizer,
        budget: int,
        config: dict[str, Any],
        warnings: list[str] | None = None,
        forks: Sequence[RunConfig] = (),
        batch: int = 1,
    ) -> None:
        self.objective, self.optimizer, self.budget = objective, optimizer, budget
        self.config, self.warnings, self.forks = config, warnings or [], list(forks)
        self.batch, self._evaluated = batch, list[_Evaluated]()
        told = [float(y) for _, y in optimizer.state_dict()["data"]]
        self.t = len(told)
        self.lowest = min((y for y in told if math.isfinite(y)), default=math.inf)
        self.best = self._without_noise(self.lowest)
        self.failures_in_a_row = sum(1 for _ in takewhile(lambda y: not math.isfinite(y), reversed(told)))
        self.seconds = 0.0
        self.last_error: str | None = None
        self._likely: tuple[int, Incumbent | None] | None = None

    @classmethod
    def from_config(
        cls, config: RunConfig, state: dict[str, Any] | None = None, budget: int | None = None
    ) -> Runner:
        """A new run, or one that goes on from `state`; `budget` extends it past the config's.

        A fork that starts from nothing is its parent until it leaves it.
        """
        done = len(state["data"]) if state is not None else 0
        now = config.at(done)
        optimizer = make_optimizer(now)
        if state is not None:
            optimizer.load_state_dict(state)
        plain = config.model_dump(mode="json")
        objective = make_objective(config)
        forks = [config.at(fork.at) for fork in config.forks if fork.at > done]
        batch = now.optimizer.points_at_once
        return cls(objective, optimizer, budget or config.budget, plain, config.warnings(), forks, batch)

    @property
    def failed(self) -> bool:
        """Whether too many evaluations in a row have failed, or all that there were to be."""
        all_failed = self.t >= self.budget and not math.isfinite(self.best)
        return all_failed or self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW

    @property
    def done(self) -> bool:
        """Whether there is nothing more to do."""
        return self.failed or self.t >= self.budget or self.optimizer.done

    def extend(self, budget: int) -> None:
        """Go on to that many evaluations; the method's own schedule stays that of the first budget."""
        self.budget = budget

    def started(self) -> Started:
        """What stands before the first step.

        The centre of the box is evaluated too, for the line that curves are read against; not of a user's own
        function, whose every evaluation may be dear.
        """
        centre = math.nan
        if not self.objective.dear:
            with one_thread():
                centre = self._evaluate(np.zeros(self.objective.dimension))
        return Started(
            t=self.t,
            config=self.config,
            minimum=self.objective.minimum,
            at_centre=centre if math.isfinite(centre) else None,
            checksum=self.optimizer.checksum(),
            warnings=tuple(self.warnings),
        )

    def step(self) -> list[Event]:
        """One evaluation, and what it led to."""
        with one_thread():
            if not self._evaluated:
                self._evaluated = self._evaluate_next()
            began, now = perf_counter(), self._evaluated.pop(0)
            candidate, self.last_error = now.candidate, now.error
            y = now.y + self._noise(candidate.t)
            told = self.optimizer.tell(candidate, y)
        self._count(y, now.y)
        led_to = told.events
        if self.forks and self.t == self.forks[0].forks[-1].at:
            fork = self.forks.pop(0)
            self.optimizer, led_to = take_fork(fork, self.optimizer)
            self.batch, self._evaluated = fork.optimizer.points_at_once, []
        elapsed = now.seconds + perf_counter() - began
        self.seconds += elapsed
        evaluation = Evaluated(
            t=candidate.t,
            y=y,
            best=self.best,
            d=candidate.d,
            T=told.T,
            since_gain=told.since_gain,
            failed=not math.isfinite(y),
            seconds=elapsed,
            seconds_fit=candidate.seconds_fit,
            seconds_acq=candidate.seconds_acq,
            seconds_eval=now.seconds_eval,
            error=self.last_error,
            z=candidate.z,
        )
        return [evaluation, *self._clipped(candidate.t, y), *led_to]

    def _evaluate_next(self) -> list[_Evaluated]:
        """Ask for the next points and evaluate them; of a batch, those that the budget has room for."""
        began = perf_counter()
        asked = [self.optimizer.ask()] if self.batch == 1 else self.optimizer.ask(self.batch)
        chosen, asked = perf_counter(), asked[: self.budget - self.t]
        values = (
            evaluate_at_once(self.objective, np.stack([candidate.x for candidate in asked]))
            if len(asked) > 1
            else [evaluate_once(self.objective, asked[0].x)]
        )
        own = [candidate.seconds_fit + candidate.seconds_acq for candidate in asked]
        seconds_eval = (perf_counter() - chosen) / len(asked)
        rest = max(0.0, chosen - began - sum(own)) / len(asked)  # of asking
        return [
            _Evaluated(candidate, y, error, seconds + rest + seconds_eval, seconds_eval)
            for candidate, (y, error), seconds in zip(asked, values, own, strict=True)
        ]

    def _clipped(self, t: int, y: float) -> list[Event]:
        """That the model takes this value for less, if it does."""
        taken = self.optimizer.observed.clipped() if self.optimizer.has_model else None
        if taken is None:
            return []
        text = f"Evaluation {t}: {y:.6g} is far above all others. The model takes it for {taken:.6g}."
        return [Clipped(t, y, taken, text)]

    def finished(self) -> Finished:
        """What stands after the last step."""
        if self.failed:
            why = f" The last one: {self.last_error}" if self.last_error else ""
            in_a_row = self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW
            what = f"{MAX_FAILURES_IN_A_ROW} evaluations in a row" if in_a_row else "All evaluations"
            text = f"{what} failed.{why}"
        else:
            text = f"{self.t} evaluations, best value {self.best:.6g}."
        return self.ended("failed" if self.failed else "finished", text)

    def ended(self, state: str, text: str) -> Finished:
        """The end as it is now, whoever brought it about."""
        about = (self.t, state, self.best, self.optimizer.d, self.seconds)
        if (likely := self.incumbent()) is None:
            return Finished(*about, text)
        text += (
            f" By the posterior mean evaluation {likely.t} is the best: {likely.mean:.6g} ± "
            f"{likely.deviation:.2g} expected there."
        )
        return Finished(*about, text, likely.t, likely.mean)

    def incumbent(self) -> Incumbent | None:
        """The best point by the posterior mean; None where no noise was declared, or nothing was found.

        It takes a fit to all values, so it is kept until the next evaluation.
        """
        if self._likely is None or self._likely[0] != self.t:
            self._likely = (self.t, self._incumbent())
        return self._likely[1]

    def _incumbent(self) -> Incumbent | None:
        added, own = (getattr(self.objective, name, 0.0) for name in ("noise", "own_noise"))
        if not (sigma := math.hypot(added, own)) or not self.optimizer.observed.any_finite:
            return None
        from dsebo.gp.incumbent import MOST_ENTRIES, incumbent

        observed = self.optimizer.observed
        if len(observed) * self.optimizer.D > MOST_ENTRIES:
            return None
        with one_thread():
            return incumbent([self.optimizer.lift(z) for z in observed.points], observed.values, sigma)

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's state: all that the rest of the run depends on."""
        return self.optimizer.state_dict()

    def _evaluate(self, x: np.ndarray) -> float:
        """The value at x (D,); NaN where the objective fails in whatever way."""
        y, self.last_error = evaluate_once(self.objective, x)
        return y

    def _noise(self, t: int) -> float:
        """What is added to value t: drawn from (seed, t), apart from the method's own numbers."""
        deviation = getattr(self.objective, "noise", 0.0)
        if not deviation:
            return 0.0
        own = np.random.SeedSequence(entropy=self.optimizer.seed, spawn_key=(t, NOISE_STREAM))
        return float(deviation * np.random.default_rng(own).standard_normal())

    def _without_noise(self, lowest: float) -> float:
        """The value itself at the point that had the lowest one, noise included."""
        if not math.isfinite(lowest) or not getattr(self.objective, "noise", 0.0):
            return lowest
        z = next(z for z, y in self.optimizer.observed.as_data() if y == lowest)
        with one_thread():
            return self._evaluate(self.optimizer.lift(z))

    def _count(self, y: float, true: float) -> None:
        self.t += 1
        if math.isfinite(y):
            if y < self.lowest:
                self.lowest, self.best = y, true
            self.failures_in_a_row = 0
        else:
            self.failures_in_a_row += 1


def take_fork(
    config: RunConfig, before: Optimizer, point: dict[str, Any] | None = None
) -> tuple[Optimizer, list[Event]]:
    """(what goes on by a fork's settings, the events: that it was forked, and what was decided).

    Args:
        config: Its last fork is the one to take.
        before: The optimizer of its parent, with the evaluations up to there.
        point: The parent's fork point there; None: `before` has just come to it.
    """
    fork, t = config.forks[-1], len(before.observed)
    point = before.fork_point() if point is None else point
    if point is None or fork.at != t:
        raise ConfigError(must("at", "a convergence of the run", fork.at))
    optimizer = make_optimizer(config)
    decided = optimizer.take_over(before, point, fork.decide)
    after = {name: config.setting(name) for name in fork.before}
    changed = ", ".join(fork_changes(config.model_dump(mode="json"))) or "nothing changed"
    text = f"Evaluation {t}: forked from run {fork.run[:8]}, {changed}."
    return optimizer, [Forked(t, fork.run, fork.decide, dict(fork.before), after, text), *decided]


def run(config: RunConfig, state: dict[str, Any] | None = None) -> Iterator[Event]:
    """The events of a run, from its start or from a saved state, each as it happens."""
    runner = Runner.from_config(config, state)
    yield from iterate(runner)


def iterate(runner: Runner) -> Iterator[Event]:
    """The events of a runner until it is done."""
    yield runner.started()
    while not runner.done:
        yield from runner.step()
    yield runner.finished()
