"""Sweeps: runs a minute by workers, a Dask cluster beside local processes, overhead of a run.

    python -m benchmarks.sweeps                 the figures of benchmarks/README.md
    python -m benchmarks.sweeps --runs 6 --budget 20 --repeats 1     only to see that it works

Workers are started and have done a run before anything is timed. Each figure is the median of some
repeats, the kinds taking turns. Says which limit holds, and exits with 1 where one does not.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from sqlalchemy import create_engine, text

from dsebo.config import RunConfig
from dsebo.experiments.engines import ClusterEngine, Engine, LocalEngine
from dsebo.experiments.records import create_experiment
from dsebo.experiments.running import run_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.run import run
from dsebo.runs.manager import RunManager
from dsebo.runs.slots import CoreTokens, FairSlots
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from tests.experiments.services import Cluster
from tests.small import wait_for, wait_state
from tests.stores import running_postgres

SPEED_UP, CLUSTER_SHARE, OVERHEAD_MS, TOKEN_MS = 1.7, 0.9, 50.0, 0.2


class Limits:
    """Prints each limit with what was measured, and remembers whether all hold."""

    def __init__(self) -> None:
        self.all_hold = True

    def check(self, what: str, figure: float, limit: float, least: bool) -> None:
        """Whether the figure is at least, or at most, the limit."""
        holds = figure >= limit if least else figure <= limit
        self.all_hold &= holds
        words = "at least" if least else "at most"
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {what} {figure:.3g}, {words} {limit:g}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=24, help="of DSEBO, for the speed")
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    limits = Limits()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ["DSEBO_CORES"] = str(folder / "cores")
        os.environ["DSEBO_SETTINGS"] = str(_empty(folder / "settings.toml"))
        postgres = stack.enter_context(running_postgres()).address
        cluster = Cluster(folder)
        stack.callback(cluster.close)
        for _ in range(2):
            cluster.add_worker()
        engines: dict[str, Engine] = {
            "1 worker": LocalEngine(1),
            "2 workers": LocalEngine(2),
            "Dask, 2 workers": ClusterEngine(cluster.address),
        }
        for engine in engines.values():
            stack.callback(engine.close)
        wait_for(lambda: engines["Dask, 2 workers"].at_once() == 2, 60)
        stores = {"SQLite": lambda: _sqlite(folder), "PostgreSQL": lambda: _database(postgres)}
        speed(limits, engines, stores, given.runs, given.budget, given.repeats)
        overhead(limits, engines["1 worker"], stores, given.repeats)
        tokens(limits)
        beside_a_live_run(engines["2 workers"], stores["SQLite"], given.budget)
    raise SystemExit(0 if limits.all_hold else 1)


def speed(
    limits: Limits,
    engines: dict[str, Engine],
    stores: dict[str, Callable[[], Store]],
    runs: int,
    budget: int,
    repeats: int,
) -> None:
    """Runs of DSEBO a minute."""
    kinds = [
        ("1 worker", "SQLite"),
        ("2 workers", "SQLite"),
        ("2 workers", "PostgreSQL"),
        ("Dask, 2 workers", "PostgreSQL"),
    ]
    for engine, store in kinds:
        _timed(engines[engine], stores[store], _sweep(4, 5))  # imports and first pages
    taken: dict[tuple[str, str], list[float]] = {kind: [] for kind in kinds}
    for _ in range(repeats):
        for engine, store in kinds:
            seconds = _timed(engines[engine], stores[store], _sweep(runs, budget))
            taken[engine, store].append(60 * runs / seconds)
    print(f"\nRuns a minute: DSEBO, D = 1000, {budget} evaluations, {runs} runs, median")
    found = {kind: median(figures) for kind, figures in taken.items()}
    for (engine, store), figures in taken.items():
        each = ", ".join(f"{one:.1f}" for one in figures)
        print(f"  {engine:16s} {store:11s} {found[engine, store]:7.1f}   ({each})")
    local, shared = found["2 workers", "SQLite"], found["2 workers", "PostgreSQL"]
    dask = found["Dask, 2 workers", "PostgreSQL"]
    limits.check("2 workers over 1:", local / found["1 worker", "SQLite"], SPEED_UP, True)
    limits.check("Dask over 2 local workers, same database:", dask / shared, CLUSTER_SHARE, True)
    limits.check("Dask over 2 local workers with SQLite:", dask / local, CLUSTER_SHARE, True)


def overhead(limits: Limits, engine: Engine, stores: dict[str, Callable[[], Store]], repeats: int) -> None:
    """What a run takes in a sweep beyond what it takes by itself: random search, 2 evaluations."""
    sweep = _sweep(100, 2, "random")
    configs = [one.config for one in sweep.planned()]
    _all(configs[:2])  # imports
    alone = median(_seconds(lambda: _all(configs)) for _ in range(repeats)) / len(configs)
    print(f"\nA run of 2 evaluations by itself: {1000 * alone:.2f} ms")
    for name, opened in stores.items():
        took = median(_timed(engine, opened, sweep) for _ in range(repeats)) / sweep.total
        limits.check(f"overhead of a run, {name}, in ms:", 1000 * (took - alone), OVERHEAD_MS, False)


def tokens(limits: Limits) -> None:
    """What counting the cores costs a live run when nothing else is at work."""
    never = threading.Event()

    def cycles(slots: FairSlots) -> None:
        for _ in range(1000):
            slots.acquire(never)
            slots.release()

    plain, counted = FairSlots(1), FairSlots(1, CoreTokens(live=True))
    without = min(_seconds(lambda: cycles(plain)) for _ in range(20))
    with_tokens = min(_seconds(lambda: cycles(counted)) for _ in range(20))
    print()
    limits.check("a core's token, in ms per evaluation:", with_tokens - without, TOKEN_MS, False)


def beside_a_live_run(engine: Engine, opened: Callable[[], Store], budget: int) -> None:
    """How much longer a live run takes while a sweep uses all cores; no limit is promised."""
    config = RunConfig.parse({"budget": budget, "seed": 99})
    alone = _live(opened(), config)
    store = opened()
    sweep_id = create_experiment(store, _sweep(200, budget))
    thread = threading.Thread(target=lambda: run_experiment(store, sweep_id, engine))
    thread.start()
    wait_for(lambda: store.count_runs(RunFilter(states=["running"])) == 2, 60)
    beside = _live(store, config)
    with store.write() as connection:
        connection.execute(text("UPDATE experiment SET wanted = 'cancel'"))
    thread.join()
    print(f"\nA live run beside a sweep on all cores: {beside:.2f} s, alone {alone:.2f} s")


def _live(store: Store, config: RunConfig) -> float:
    manager = RunManager(store, Settings())
    began = time.perf_counter()
    run_id = manager.launch(config)[0]
    wait_state(store, run_id, "finished", seconds=600)
    took = time.perf_counter() - began
    manager.close()
    return took


def _sweep(runs: int, budget: int, method: str = "dsebo") -> ExperimentSpec:
    base = {"budget": budget, "optimizer": {"method": method}}
    return ExperimentSpec.parse({"base": base, "axes": {"c": [1, 2]}, "seeds": f"1-{runs // 2}"})


def _timed(engine: Engine, opened: Callable[[], Store], sweep: ExperimentSpec) -> float:
    """Seconds of a sweep in a store of its own."""
    store = opened()
    sweep_id = create_experiment(store, sweep)
    took = _seconds(lambda: run_experiment(store, sweep_id, engine))
    if store.count_runs(RunFilter(states=["finished"])) != sweep.total:
        raise RuntimeError("The sweep did not finish.")
    store.close()
    return took


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _all(configs: list[RunConfig]) -> None:
    for config in configs:
        list(run(config))


def _empty(file: Path) -> Path:
    file.touch()
    return file


def _sqlite(folder: Path) -> Store:
    return Store.open(str(folder / f"{time.time_ns()}.db"))


def _database(address: str) -> Store:
    """A new database of that server."""
    name = f"sweep_{time.time_ns()}"
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return Store.open(f"{address.rsplit('/', 1)[0]}/{name}")


if __name__ == "__main__":
    main()
