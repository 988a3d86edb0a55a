"""What the tests of sweeps share: a small sweep, and runs of it made by hand."""

from __future__ import annotations

from typing import Any

from dsebo.config import RunConfig
from dsebo.runs import Store
from dsebo.runs.foreground import stored_run
from dsebo.sweeps.spec import SweepSpec

BASE = {
    "objective": {"name": "sphere", "D": 50, "d_e": 5},
    "optimizer": {"method": "dsebo", "d_l": 2, "d_h": 20, "beta": 4},
    "budget": 12,
}


def spec(axes: dict[str, Any] | None = None, seeds: str = "1-2", **base: Any) -> SweepSpec:
    """Quick to run: two values of β and two seeds, unless told otherwise."""
    return SweepSpec.parse(
        {"base": {**BASE, **base}, "axes": axes or {"beta": [2, 4]}, "seeds": seeds}
    )


def random_spec(runs: int = 4, budget: int = 5) -> SweepSpec:
    """Runs of random search, which take next to no time."""
    base = {**BASE, "optimizer": {"method": "random"}, "budget": budget}
    return SweepSpec.parse({"base": base, "axes": {"c": [1, 2]}, "seeds": f"1-{runs // 2}"})


def make(store: Store, config: RunConfig, stop: int | None = None, **more: Any) -> str:
    """A finished run, or one that stopped after so many evaluations."""
    ids: list[str] = []
    events = stored_run(config, store, on_id=ids.append, **more)
    for event in events:
        if event.kind == "evaluated" and event.t == stop:
            events.close()
    return ids[0]
