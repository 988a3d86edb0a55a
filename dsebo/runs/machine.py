"""How fast this machine is: measured once, kept in the store, counted in every prediction.

Coefficients of costs (`methods/cost.py`) come from one machine. What half a second of the same work
takes here tells how much longer, or shorter, everything takes.
"""

from __future__ import annotations

import platform
import time
from pathlib import Path

from sqlalchemy import delete, insert, select

from dsebo.methods import cost
from dsebo.settings import core_count
from dsebo.store import schema
from dsebo.store.store import Store

PROBE = {"objective": {"D": 100}, "optimizer": {"method": "dsebo"}, "budget": 500, "seed": 1}
WARM, MEASURED = 25, 50  # evaluations: the first ones load and set up what others have ready
# From WARM to MEASURED, where the coefficients are from. There it took 0.188 s (results/peer_cost.csv), but a
# run this short has the caches for itself: with 0.188 the median method took 1.19 times what was predicted.
REFERENCE_SECONDS = 0.158
LEAST, MOST = 0.2, 5.0  # beyond that it was not the machine that was measured


def name() -> str:
    """This machine, as far as its speed depends on it; a store may be shared by several."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {core_count()} cores"[:200]


def measure() -> float:
    """Seconds that this machine takes for each one of that which the coefficients are from; CPU time."""
    from dsebo.config import RunConfig
    from dsebo.run import Runner
    from dsebo.threads import one_thread

    runner, spent = Runner.from_config(RunConfig.parse(PROBE)), 0.0
    with one_thread():
        while runner.t < MEASURED:
            began = time.thread_time()
            runner.step()
            if runner.t > WARM:
                spent += time.thread_time() - began
    return min(MOST, max(LEAST, spent / REFERENCE_SECONDS))


def use_kept_pace(store: Store) -> bool:
    """Let predictions count what was measured on this machine; whether it was."""
    table = schema.machine
    with store.read() as connection:
        pace = connection.execute(select(table.c.pace).where(table.c.name == name())).scalar()
    if pace is not None:
        cost.set_pace(pace)
    return pace is not None


def measure_once(store: Store) -> None:
    """Measure this machine, where the store does not know it yet."""
    if use_kept_pace(store):
        return
    pace, table = measure(), schema.machine
    with store.write() as connection:
        connection.execute(delete(table).where(table.c.name == name()))
        connection.execute(insert(table).values(name=name(), pace=pace, measured=time.time()))
    cost.set_pace(pace)
