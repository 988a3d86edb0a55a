"""Times that are promised: what a reader or a run waits for must stay short.

    python -m benchmarks.promises

Each is measured in processor seconds at best of several tries, so that other work on the machine
counts little; those that are broken are named at the end, and the exit code is 1.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' helpers are used here too

from sqlalchemy import insert, select

from dsebo.analysis.embedding_use import moves
from dsebo.config import RunConfig, predict
from dsebo.embedding import SharedEmbedding
from dsebo.experiments.findings import findings
from dsebo.experiments.records import progress
from dsebo.experiments.spec import ExperimentSpec
from dsebo.objectives.embedded import EmbeddedFunction
from dsebo.run import Runner, run
from dsebo.runs.manager import RunManager
from dsebo.runs.slots import CoreTokens, FairSlots
from dsebo.settings import Settings
from dsebo.store import schema
from dsebo.store.store import Store
from dsebo.ui.experiments.vary_form import VARY
from tests.experiments import frames
from tests.experiments.helpers import make
from tests.small import small

Seconds = float


def least(work: Callable[[], object], tries: int = 20) -> Seconds:
    """Processor seconds at best."""
    times = []
    for _ in range(tries):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def wall(work: Callable[[], object]) -> Seconds:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def sweep_progress(store: Store) -> tuple[Seconds, Seconds]:
    """How the thousand runs of a sweep stand."""
    base = {"optimizer": {"method": "random"}, "objective": {"D": 50, "d_e": 5}, "budget": 5}
    sweep = ExperimentSpec.parse({"base": base, "axes": {"c": "0.1:10:0.1"}, "seeds": "1-10"})
    run_id = make(store, sweep.planned()[0].config)
    with store.write() as connection:
        first = connection.execute(select(schema.run).where(schema.run.c.id == run_id)).mappings().one()
        rows = [
            {**first, "id": f"{i:032x}", "hash": planned.hash, "config": planned.config.to_json()}
            for i, planned in enumerate(sweep.planned())
        ]
        connection.execute(insert(schema.run), rows)
    return least(lambda: progress(store, sweep)), 0.050


def sweep_findings(_: Store) -> tuple[Seconds, Seconds]:
    """The sentences under a sweep of 300 cells and 30 seeds."""
    rng = np.random.default_rng(0)
    cells = {(b, h): list(np.exp(rng.normal(size=30))) for b in range(1, 21) for h in range(60, 75)}
    frame = frames.progress(cells, ["beta", "d_h"])
    return least(lambda: findings(frame, ["beta", "d_h"]), tries=3), 3.0


def form_check(_: Store) -> tuple[Seconds, Seconds]:
    """A sweep's form of 1600 cells, checked a second time."""
    draft, _unread = VARY.from_link({"vary": "beta=1:40:1", "also": "d_h=60:99:1", "seeds": "1"})
    VARY.spec(draft)
    return least(lambda: VARY.spec(draft.but())), 0.050


def michalewicz_minimum(_: Store) -> tuple[Seconds, Seconds]:
    """The minimum of Michalewicz in 2000 variables; a grid over each domain would take a minute."""
    return least(lambda: EmbeddedFunction("michalewicz", 2000, 2000).minimum, tries=1), 10.0


def embedding_use(_: Store) -> tuple[Seconds, Seconds]:
    """What 500 points do to 10 000 variables."""
    rng = np.random.default_rng(0)
    S = SharedEmbedding(10_000, 100, rng)
    points = [rng.uniform(-1, 1, size=d) for d in [20] * 250 + [60] * 250]
    return least(lambda: moves(S, points), tries=2), 3.0


def core_token(_: Store) -> tuple[Seconds, Seconds]:
    """Taking and giving back a core, per evaluation."""
    slots, go = FairSlots(1, CoreTokens(live=True)), threading.Event()

    def hundred() -> None:
        for _ in range(100):
            slots.acquire(go)
            slots.release()

    return least(hundred) / 100, 0.0002


def closing(store: Store) -> tuple[Seconds, Seconds]:
    """Closing a manager whose runs are in the middle of long evaluations."""
    step, under_way = Runner.step, threading.Semaphore(0)

    def slow(self: Runner) -> Any:
        under_way.release()
        time.sleep(6.0)
        return step(self)

    manager = RunManager(store, Settings(slots=2))
    Runner.step = slow  # type: ignore[method-assign]
    try:
        manager.launch(small(budget=50, method="random").seeds(4))
        under_way.acquire()
        under_way.acquire()
        return wall(manager.close), 2.2
    finally:
        Runner.step = step  # type: ignore[method-assign]
        time.sleep(6.0)  # the late ones end before their store goes


def terminal_help(_: Store) -> tuple[Seconds, Seconds]:
    """The terminal's help, from a cold start."""
    words = [sys.executable, "-m", "dsebo", "run", "--help"]
    return wall(lambda: subprocess.run(words, capture_output=True, check=True)), 5.0


def prediction(_: Store) -> tuple[Seconds, Seconds]:
    """A run's predicted time is right within a factor of 6; the factor is what is shown."""
    config: RunConfig = small(budget=60)
    spent = least(lambda: list(run(config)), tries=2)
    predicted = predict(config).seconds
    return max(spent / predicted, predicted / spent), 6.0


PROMISES = (
    *(sweep_progress, sweep_findings, form_check, michalewicz_minimum),
    *(embedding_use, core_token, closing, terminal_help, prediction),
)


def main() -> None:
    broken = []
    for promise in PROMISES:
        with tempfile.TemporaryDirectory() as folder:
            store = Store.open(str(Path(folder) / "runs.db"))
            measured, limit = promise(store)
            store.close()
        about = (promise.__doc__ or "").splitlines()[0].rstrip(".")
        print(f"{about}: {measured:.2g}, promised {limit:g}", flush=True)
        if measured > limit:
            broken.append(about)
    if broken:
        raise SystemExit(f"Broken promises: {'; '.join(broken)}.")


if __name__ == "__main__":
    main()
