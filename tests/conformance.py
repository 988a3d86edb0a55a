"""What every optimizer must do: tests/methods/test_conformance.py runs it on all of METHODS."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import pytest

from dsebo.config import RunConfig
from dsebo.events import Evaluated, Event
from dsebo.methods.base import Optimizer
from dsebo.run import Runner
from dsebo.threads import one_thread
from objectives.fields import ConfigError

D, D_E, BUDGET = 40, 4, 24


def config_of(method: str, **settings: Any) -> RunConfig:
    return RunConfig.parse(
        {
            "objective": {"name": "sphere", "D": D, "d_e": D_E},
            "optimizer": {"method": method, **settings},
            "budget": BUDGET,
            "seed": 3,
        }
    )


def history(events: list[Event]) -> list[Any]:
    """What "same history" means: t, z, y, best, d, failed and the decisions; never seconds."""
    rows: list[Any] = []
    for event in events:
        if isinstance(event, Evaluated):
            y = None if math.isnan(event.y) else event.y
            rows.append((event.t, event.z.tobytes(), y, event.best, event.d, event.failed))
        elif event.kind not in ("started", "finished"):
            rows.append(event.to_json())
    return rows


def play(runner: Runner, steps: int = BUDGET) -> list[Event]:
    events: list[Event] = []
    while steps and not runner.done:
        events += runner.step()
        steps -= 1
    return events


def through_json(state: dict[str, Any]) -> dict[str, Any]:
    """A state as a store would give it back: plain JSON, and the data from the evaluations."""
    data = [(np.frombuffer(z.tobytes()), y) for z, y in state["data"]]
    return {**json.loads(json.dumps({k: v for k, v in state.items() if k != "data"})), "data": data}


@dataclass
class Played:
    """A run that nothing interrupted, and what a store would have kept of it before each of its steps."""

    steps: list[list[Event]]
    states: list[dict[str, Any]]
    situations: list[tuple[Any, ...]]
    ends: list[Event]

    def history(self, steps: int | None = None) -> list[Any]:
        return history([event for step in self.steps[:steps] for event in step])


@cache
def played(config: RunConfig, fails: bool = False) -> Played:
    """Made once for all that is compared with it; one more run shows that keeping states changes nothing."""
    runner = failing(config) if fails else Runner.from_config(config)
    run = Played([], [], [], [runner.started()])
    while True:
        run.states.append(through_json(runner.state_dict()))
        run.situations.append(situation(runner.optimizer))
        if runner.done:
            run.ends.append(runner.finished())
            return run
        run.steps.append(runner.step())


def check_same_seed_same_history(config: RunConfig) -> None:
    first = played(config).history()
    assert first == history(play(Runner.from_config(config)))
    if config.optimizer.method != "centre":
        assert first != history(play(Runner.from_config(config.with_seed(4))))


def check_resume(config: RunConfig, cuts: tuple[int, ...] = (0, 1, 2, 5, 11, 12, 13, 23)) -> None:
    run = played(config)
    for cut in (cut for cut in cuts if cut < len(run.states)):
        resumed = history(play(Runner.from_config(config, run.states[cut])))
        assert run.history(cut) + resumed == run.history(), f"cut after {cut} evaluations"


class Failing:
    """An objective that fails on part of the box."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.dimension, self.minimum = inner, inner.dimension, inner.minimum
        self.values_at_once, self.dear = inner.values_at_once, inner.dear

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 1] > 0.1, np.nan, self.inner(X))


def failing(config: RunConfig, state: dict[str, Any] | None = None) -> Runner:
    runner = Runner.from_config(config, state)
    runner.objective = Failing(runner.objective)  # type: ignore[assignment]
    return runner


def check_resume_with_failures(config: RunConfig, cuts: tuple[int, ...] = (1, 6, 12, 20)) -> None:
    run = played(config, fails=True)
    for cut in (cut for cut in cuts if cut < len(run.states)):
        resumed = history(play(failing(config, run.states[cut])))
        assert run.history(cut) + resumed == run.history(), f"cut after {cut} evaluations"


def check_batches(config: RunConfig) -> None:
    """Three points at once, some of which fail: repeatable, also from the middle of a batch; or refused."""
    if "batch" not in type(config.optimizer).model_fields:
        with pytest.raises(ConfigError, match="one point at a time"):
            new_optimizer(config).ask(2)
        return
    config = config.model_copy(update={"optimizer": config.optimizer.model_copy(update={"batch": 3})})
    points = [row[1] for row in played(config, fails=True).history() if isinstance(row, tuple)]
    assert len(set(points)) == len(points)
    check_resume_with_failures(config, (1, 5, 10))


def situation(optimizer: Any) -> tuple[Any, ...]:
    """Where a method stands: its subspace, region, generation, arm or set of variables."""
    paths = ("d", "progress.box", "region.length", "stage", "state.generation", "learnt_from", "tree.subset")
    found: list[Any] = []
    for path in paths:
        value = optimizer
        for name in path.split("."):
            value = getattr(value, name, None)
        found.append(value.tolist() if isinstance(value, np.ndarray) else value)
    return tuple(found)


def check_changes_have_events(config: RunConfig) -> None:
    """Whatever changes region, subspace, generation or arm is told."""
    run = played(config)
    for before, events, after in zip(run.situations, run.steps, run.situations[1:], strict=False):
        assert after == before or len(events) > 1, f"{before} -> {after} in silence"


def check_resume_between_ask_and_tell(config: RunConfig) -> None:
    """A state saved after `ask` must lead to the same point again."""
    runner = Runner.from_config(config)
    play(runner, 6)
    if runner.done:
        return
    with one_thread():  # as a run does: sums of several threads differ in their last bits
        asked = runner.optimizer.ask()
        resumed = Runner.from_config(config, through_json(runner.state_dict()))
        assert np.array_equal(resumed.optimizer.ask().x, asked.x)


def check_inside_the_box(config: RunConfig) -> None:
    runner = Runner.from_config(config)
    while not runner.done:
        candidate = runner.optimizer.ask()
        assert candidate.x.shape == (D,)
        assert np.all(np.abs(candidate.x) <= 1.0)
        assert np.array_equal(runner.optimizer.lift(candidate.z), candidate.x)
        runner.step()


def check_failures_survived(config: RunConfig) -> None:
    """Failures first, in the middle and in a row: the run goes on, and never below the truth."""
    optimizer = new_optimizer(config)
    values = [math.nan, math.inf, 5.0, 3.0, math.nan, -math.inf, 2.0, *([math.nan] * 5), 1.0, 4.0]
    for y in values:
        if optimizer.done:
            return
        candidate = optimizer.ask()
        assert np.all(np.isfinite(candidate.x))
        optimizer.tell(candidate, y)


def check_all_equal_values(config: RunConfig) -> None:
    """A flat function must not break a model."""
    optimizer = new_optimizer(config)
    for _ in range(12):
        if optimizer.done:
            return
        optimizer.tell(optimizer.ask(), 1.0)


def check_ask_twice(config: RunConfig) -> None:
    optimizer = new_optimizer(config)
    for y in (4.0, 3.0, 2.5, 2.4):
        if optimizer.done:
            return
        first, second = optimizer.ask(), optimizer.ask()
        assert np.array_equal(first.x, second.x)
        optimizer.tell(second, y)


def check_events_are_json(config: RunConfig) -> None:
    run = played(config)
    for event in chain(run.ends, *run.steps):
        text = json.dumps(event.to_json(), allow_nan=False)
        assert json.loads(text)["event"] == event.kind


def new_optimizer(config: RunConfig) -> Optimizer:
    return config.optimizer.build(config.objective.D, config.budget, config.seed)


CHECKS = (
    check_same_seed_same_history,
    check_resume,
    check_resume_with_failures,
    check_changes_have_events,
    check_resume_between_ask_and_tell,
    check_inside_the_box,
    check_failures_survived,
    check_all_equal_values,
    check_ask_twice,
    check_events_are_json,
    check_batches,
)
