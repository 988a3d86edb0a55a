"""A sweep on a Dask cluster of this machine; its workers meet in a PostgreSQL database.

    python examples/dask_cluster.py postgresql://user@127.0.0.1/dsebo

On several machines: start `dask scheduler` and `dask worker` there, and give the scheduler's address to
`dsebo sweep … --cluster tcp://host:8786 --db postgresql://…` instead. A SQLite file cannot be shared so.
"""

import sys

from distributed import LocalCluster

from dsebo.experiments.engines import ClusterEngine
from dsebo.experiments.records import create_experiment, progress
from dsebo.experiments.running import run_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.store.store import Store

SPEC = {
    "base": {"objective": {"D": 100, "d_e": 5}, "optimizer": {"d_h": 20}, "budget": 30},
    "axes": {"beta": [4, 8]},
    "seeds": "1-2",
}


def main() -> None:
    """Four runs on two workers."""
    store = Store.open(sys.argv[1])
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        engine = ClusterEngine(cluster.scheduler_address)
        try:
            done = run_experiment(store, create_experiment(store, ExperimentSpec.parse(SPEC)), engine)
        finally:
            engine.close()
    print(progress(store, done)[["beta", "seed", "state", "best"]].to_string(index=False))
    store.close()


if __name__ == "__main__":
    main()
