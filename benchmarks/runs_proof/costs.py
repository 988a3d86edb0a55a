"""What keeping, listing and predicting runs costs, and many writers on one store."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.runs_proof.deaths import processes
from dsebo.config import RunConfig, predict
from dsebo.run import run
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.store.writing import commit_step
from tests.runs import jobs
from tests.small import history, reference, small
from tests.stores import many_runs
from tests.transfer.files import finished


def writers(folder: Path) -> None:
    """8 threads in each of 2 processes on one SQLite store."""
    url = f"sqlite:///{folder}/writers.db"
    config = small(budget=100, method="random")
    store, several = Store.open(url), processes()
    began = time.perf_counter()
    both = [several.Process(target=jobs.manage, args=(url, config.to_json(), 8, 8, 300.0)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(400)
    took = time.perf_counter() - began
    assert [process.exitcode for process in both] == [0, 0], "something was refused or warned of"
    found = store.list_runs()
    assert [row.state for row in found] == ["finished"] * 16, [row.error for row in found]
    for row in found:
        assert history(store, row.id) == reference(small(100, row.seed, "random"))
    store.close()
    print(
        f"writers: 2 processes with 8 threads each, 1600 evaluations in {took:.1f} s, "
        "no run or heartbeat met 'database is locked', every history identical"
    )


def speed(folder: Path) -> None:
    """Lists and single runs, wall time, best and median."""
    store = Store.open(str(folder / "speed.db"))
    many_runs(store, 10_000)
    run_id = finished(store, small(budget=500, method="random"))
    _times("one run of 500 evaluations", lambda: store.evaluations(run_id), 5)
    _times("its last 5 evaluations", lambda: store.evaluations(run_id, after=495), 5)
    _times("one row", lambda: store.get_run(run_id), 5)
    _times("10 001 runs listed with state, best and d", store.list_runs, 50)
    store.close()


def _times(what: str, work: Callable[[], Any], limit: float) -> None:
    took = []
    for _ in range(25):
        began = time.perf_counter()
        work()
        took.append(1e3 * (time.perf_counter() - began))
    took.sort()
    print(f"speed: {what}: best {took[0]:.1f} ms, median {took[12]:.1f} ms (limit {limit} ms)")
    assert took[12] < limit, f"{what}: over the limit"


def keeping(folder: Path) -> None:
    """What the store adds to an evaluation, and a run through the manager to the plain engine."""
    config = RunConfig.parse({"objective": {"name": "sphere", "D": 1000}, "budget": 500})
    kept = [0.0]

    def timed(*args: Any) -> Any:
        began = time.thread_time()
        order = commit_step(*args)
        kept[0] += time.thread_time() - began
        return order

    store = Store.open(str(folder / "keeping.db"))
    manager = RunManager(store, Settings(slots=1))

    def managed() -> None:
        run_id = manager.launch(config)[0]
        while store.get_run(run_id).state != "finished":
            time.sleep(0.2)

    list(run(config.model_copy(update={"budget": 20})))  # what is imported and compiled once
    rounds = 3
    plain_cpu = plain_wall = managed_cpu = managed_wall = 0.0
    with mock.patch("dsebo.runs.worker.commit_step", timed):
        for _ in range(rounds):  # taking turns, as the machine may be shared
            cpu, wall = _both_times(lambda: list(run(config)))
            plain_cpu, plain_wall = plain_cpu + cpu, plain_wall + wall
            cpu, wall = _both_times(managed)
            managed_cpu, managed_wall = managed_cpu + cpu, managed_wall + wall
    manager.close()
    store.close()
    each = 1e3 * kept[0] / (rounds * config.budget)
    ratio = managed_cpu / plain_cpu
    print(
        f"keeping: {each:.2f} ms of CPU per evaluation (limit 1 ms); a run of 500 through the manager "
        f"takes {ratio:.3f} times the CPU of the plain engine (limit 1.1) and "
        f"{managed_wall / plain_wall:.3f} times its time ({plain_wall / rounds:.1f} s)"
    )
    assert each < 1.0, "keeping an evaluation: over the limit"
    assert ratio < 1.1, "through the manager: over the limit"


def _both_times(work: Callable[[], Any]) -> tuple[float, float]:
    """(CPU, wall) seconds of the whole process."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def memory(folder: Path) -> None:
    """One manager, 20 runs to warm up, then 100 more."""
    store = Store.open(str(folder / "memory.db"))
    manager = RunManager(store, Settings(slots=2))

    def work_through(count: int) -> float:
        ids = manager.launch(small(budget=8).seeds(count))
        while store.count_runs(RunFilter(states=["finished"], ids=ids)) < count:
            time.sleep(0.05)
        gc.collect()
        return _resident()

    first = work_through(20)
    second = work_through(100)
    manager.close()
    store.close()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"memory: {first:.1f} MB after 20 runs, {second:.1f} MB after 120, at most {most:.0f} MB")
    assert second - first < 10


def _resident() -> float:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def prediction(folder: Path) -> None:
    """Predicted seconds against measured ones."""
    for method, D, budget in (
        ("dsebo", 100, 100),
        ("dsebo", 1000, 100),
        ("dsebo", 1000, 250),
        ("dsebo", 20_000, 60),
        ("random", 1000, 500),
    ):
        config = RunConfig.parse({"objective": {"D": D}, "optimizer": {"method": method}, "budget": budget})
        began = time.thread_time()
        list(run(config))
        took, said = time.thread_time() - began, predict(config)
        print(
            f"predict: {method}, D = {D}, {budget} evaluations: {said.seconds:.2f} s predicted, "
            f"{took:.2f} s measured; {said.memory_bytes / 1e6:.0f} MB predicted"
        )
