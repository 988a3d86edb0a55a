"""A run that is killed goes on to the same history, as if nothing had happened.

    python examples/resume.py

The run computes in a process of its own, which is ended by kill -9 in the middle of it.
"""

import multiprocessing
import tempfile
import time
from pathlib import Path

from dsebo import RunConfig, run
from dsebo.events import Evaluated
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.store.store import Store

CONFIG = RunConfig.parse({"objective": {"D": 100, "d_e": 5}, "optimizer": {"d_h": 20}, "budget": 60})


def work(database: str) -> None:
    """What the process does that will be killed."""
    for _ in stored_run(CONFIG, Store.open(database), "to be killed"):
        pass


def main() -> None:
    """Start it, kill it, resume it, and compare with a run that nobody touched."""
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "runs.db")
        store = Store.open(database)
        process = multiprocessing.get_context("spawn").Process(target=work, args=(database,))
        process.start()
        while not any(row.n_done >= 10 for row in store.list_runs()):
            time.sleep(0.05)
        process.kill()
        process.join()
        (row,) = store.list_runs()
        print(f"Killed after {row.n_done} of {row.budget} evaluations: it is {row.state}.")
        for _ in resumed_run(store, row.id):
            pass
        resumed = store.evaluations(row.id)["y"].tolist()
        untouched = [event.y for event in run(CONFIG) if isinstance(event, Evaluated)]
        print(f"{len(resumed)} values after it was resumed; all the same: {resumed == untouched}.")
        store.close()


if __name__ == "__main__":
    main()
