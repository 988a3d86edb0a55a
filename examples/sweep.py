"""A sweep from Python: β in four values over three seeds, and what is seen.

    python examples/sweep.py

Runs that are in the store already are not computed again: a second call takes a second.
"""

from dsebo.experiments.engines import LocalEngine
from dsebo.experiments.findings import report
from dsebo.experiments.records import create_experiment, progress
from dsebo.experiments.running import run_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.store.store import Store

SPEC = {
    "name": "Expansion scale",
    "base": {"objective": {"name": "sphere", "D": 100, "d_e": 10}, "optimizer": {"d_h": 30}, "budget": 40},
    "axes": {"beta": [2, 4, 8, 16]},
    "seeds": "1-3",
}


def main() -> None:
    """Run it in two processes, then print the table and the sentences."""
    spec = ExperimentSpec.parse(SPEC)
    store = Store.open("sweep.db")
    engine = LocalEngine(workers=2)
    try:
        done = run_experiment(store, create_experiment(store, spec), engine)
    finally:
        engine.close()
    frame = progress(store, done)
    print(frame.groupby("beta")["best"].describe()[["count", "mean", "min", "max"]])
    for sentence in report(frame, spec.fields).texts:
        print(sentence)
    store.close()


if __name__ == "__main__":
    main()
