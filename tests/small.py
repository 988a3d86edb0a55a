"""What the tests of runs share: a small config, its uninterrupted history, and waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from dsebo.config import RunConfig
from dsebo.run import Runner
from dsebo.store import schema
from dsebo.store.records import point_bytes
from dsebo.store.store import Store

FIELDS = ("t", "y", "best", "d", "T", "since_gain", "failed", "z")


def small(budget: int = 30, seed: int = 1, method: str = "dsebo", **optimizer: Any) -> RunConfig:
    """Quick to run, and it expands several times."""
    settings = {"method": method, **optimizer}
    if method == "dsebo":
        settings = {"d_l": 2, "d_h": 20, "beta": 4, **settings}
    objective = {"name": "sphere", "D": 50, "d_e": 5}
    return RunConfig.parse({"objective": objective, "optimizer": settings, "budget": budget, "seed": seed})


def reference(config: RunConfig, budget: int | None = None) -> tuple[list[Any], list[Any]]:
    """(evaluations, events) of the run when nothing interrupts it, straight from the engine."""
    runner = Runner.from_config(config, budget=budget)
    events: list[Any] = [runner.started()]
    while not runner.done:
        events += runner.step()
    events.append(runner.finished())
    rows = [
        (e.t, e.y, e.best, e.d, e.T, e.since_gain, e.failed, point_bytes(e.z)[0])
        for e in events
        if e.kind == "evaluated"
    ]
    return rows, [without_time(e.to_json()) for e in events if e.kind != "evaluated"]


def history(store: Store, run_id: str) -> tuple[list[Any], list[Any]]:
    """The same from the store."""
    table = schema.evaluation
    with store.read() as connection:
        chosen = select(*(table.c[name] for name in FIELDS)).where(table.c.run_id == run_id)
        rows = [tuple(row) for row in connection.execute(chosen.order_by(table.c.t))]
    return rows, [without_time(event) for event in store.events(run_id)]


def without_time(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "seconds"}


def wait_for(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What `condition` gives once it is true, which takes long where a machine is busy with other things."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {seconds} s: {condition}")


def wait_state(store: Store, run_id: str, *states: str, seconds: float = 60.0) -> Any:
    """The run's row once it is in one of these states."""

    def reached() -> Any:
        row = store.get_run(run_id)
        return row if row.state in states else None

    return wait_for(reached, seconds)


def kill(process: Any) -> None:
    """kill -9, and wait until it is gone; it may have ended by itself just before."""
    process.kill()
    process.join(10)
