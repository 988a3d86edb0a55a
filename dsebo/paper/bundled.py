"""DSEBO in the paper's settings: 120 runs that come with the package, thinned to their curves.

    python -m dsebo.paper.bundled [--again]

makes those that are missing, one after the other, and writes `dsebo/data/paper_runs.json.gz` after
each, so that it goes on where it was stopped. With --again it makes all of them again, each taking
the place of the old one: about half an hour on a quiet core.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dsebo.analysis.curves import Array
from dsebo.config import FIRST_ARITHMETIC, RunConfig, parse_flat
from dsebo.events import Evaluated, Event, Finished, Started
from dsebo.experiments.entrants import Entrant
from dsebo.paper.tables import PAPER_BUDGET, PAPER_DIMENSIONS, PAPER_FUNCTIONS
from dsebo.run import run
from dsebo.store.records import versions

NAME = "paper_runs.json.gz"
PEERS = "peer_runs.csv"  # how runs of other rows ended; `python -m benchmarks.peers ship` writes it
PEERS_COLUMNS = ["function", "D", "method", "seed", "best", "seconds", "arithmetic"]  # no D: of a task
SEEDS = range(1, 11)
DIGITS = 6  # of a value on a curve; the final one is kept whole


@dataclass(frozen=True)
class ThinRun:
    """A finished run without its points: what a chart or a table needs."""

    config: dict[str, Any]
    version: str
    best: float
    d: int | None
    evaluations: int
    seconds: float  # of one core's work, so that a busy machine counts as a quiet one
    minimum: float | None
    at_centre: float | None
    bests: list[list[float]]  # [t, best value] wherever it fell
    dims: list[list[float]]  # [t, d] wherever the dimension changed
    arithmetic: str = FIRST_ARITHMETIC

    def best_curve(self) -> Array:
        """The best value at t = 1, 2, …."""
        return _steps(self.bests, self.evaluations)

    def dimension_curve(self) -> Array:
        """The dimension at t = 1, 2, …."""
        return _steps(self.dims, self.evaluations)


def paper_configs() -> list[RunConfig]:
    """The settings of the bundled runs: those that a reader asks for first come first."""
    return [
        parse_flat({"function": name, "D": D, "budget": PAPER_BUDGET, "seed": seed})
        for D in PAPER_DIMENSIONS
        for name in PAPER_FUNCTIONS
        for seed in SEEDS
    ]


@lru_cache(maxsize=1)
def bundled_paper_runs() -> tuple[ThinRun, ...]:
    """The runs that came with the package; none where the file is not there yet."""
    return tuple(read(Path(str(files("dsebo.data") / NAME))))


@dataclass(frozen=True)
class PeerRun:
    """How a run of another method or variant ended, of those that came with the package."""

    config: RunConfig
    best: float
    seconds: float


@lru_cache(maxsize=1)
def bundled_peer_runs() -> tuple[PeerRun, ...]:
    """Those whose arithmetic is still this version's."""
    runs = []
    with (files("dsebo.data") / PEERS).open() as file:
        for row in csv.DictReader(file):
            size = {"D": int(row["D"])} if row["D"] else {}
            config = entrant_config(row["function"], row["method"], {"seed": int(row["seed"]), **size})
            if config.arithmetic == row["arithmetic"]:
                runs.append(PeerRun(config, float(row["best"]), float(row["seconds"])))
    return tuple(runs)


def entrant_config(function: str, entrant: str, more: Mapping[str, Any] | None = None) -> RunConfig:
    """A method as a race takes it, on a function of the paper with the paper's budget."""
    method = Entrant.parse(entrant)
    flat = {"function": function, "budget": PAPER_BUDGET, "method": method.method, **dict(method.changes)}
    return parse_flat({**flat, **(more or {})})


def read(path: Path) -> list[ThinRun]:
    """The runs of a file; none where there is no file."""
    if not path.is_file():
        return []
    runs = json.loads(gzip.decompress(path.read_bytes()))["runs"]
    for fields in runs:  # with what configs have got since it was written
        fields["config"] = RunConfig.parse(fields["config"]).model_dump(mode="json")
    return [ThinRun(**fields) for fields in runs]


def write(path: Path, runs: Iterable[ThinRun]) -> None:
    """Replace the file at once: whoever reads it meanwhile sees the old one or the new one."""
    text = json.dumps({"runs": [asdict(run) for run in runs]}, separators=(",", ":"))
    new = path.with_suffix(".new")
    new.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    os.replace(new, path)


def thin(events: Iterable[Event]) -> ThinRun:
    """What is kept of a run's events."""
    started: Started | None = None
    finished: Finished | None = None
    bests: list[list[float]] = []
    dims: list[list[float]] = []
    for event in events:
        if isinstance(event, Evaluated):
            _append(bests, event.t, float(f"{event.best:.{DIGITS}g}"))
            _append(dims, event.t, event.d)
        elif isinstance(event, Started):
            started = event
        elif isinstance(event, Finished):
            finished = event
    if started is None or finished is None or finished.state != "finished":
        raise RuntimeError(f"The run did not finish: {finished.text if finished else 'no end'}")
    return ThinRun(
        config=started.config,
        version=versions()["dsebo"],
        best=finished.best,
        d=finished.d,
        evaluations=finished.t,
        seconds=finished.seconds,
        minimum=started.minimum,
        at_centre=started.at_centre,
        bests=bests,
        dims=dims,
        arithmetic=RunConfig.parse(started.config).arithmetic,
    )


def complete(
    path: Path, configs: Sequence[RunConfig], say: Callable[[str], None] = print, again: bool = False
) -> list[ThinRun]:
    """Make what is missing of these runs; all of them, in order. The file is kept up to date.

    `again`: make every one again, whatever the file has.
    """
    arithmetic = {_key(config.model_dump(mode="json")): config.arithmetic for config in configs}
    there = {_key(run.config): run for run in read(path)}
    there = {key: run for key, run in there.items() if run.arithmetic == arithmetic.get(key)}
    known = {} if again else dict(there)
    for index, config in enumerate(configs, start=1):
        plain = config.model_dump(mode="json")
        if _key(plain) in known:
            continue
        began = time.process_time()
        thinned = thin(run(config))
        thinned = replace(thinned, seconds=round(time.process_time() - began, 2))
        known[_key(plain)] = thinned
        write(path, _in_order({**there, **known}, configs))
        objective = config.objective
        say(
            f"{index} of {len(configs)}: {objective.name}, D = {objective.D}, seed {config.seed}: "
            f"best {thinned.best:.6g} in {thinned.seconds:.1f} s"
        )
    return _in_order(known, configs)


def _in_order(known: dict[str, ThinRun], configs: Sequence[RunConfig]) -> list[ThinRun]:
    keys = (_key(config.model_dump(mode="json")) for config in configs)
    return [known[key] for key in keys if key in known]


def _key(config: dict[str, Any]) -> str:
    return json.dumps(config, sort_keys=True)


def _append(changes: list[list[float]], t: int, value: float | None) -> None:
    if value is not None and (not changes or changes[-1][1] != value):
        changes.append([t, value])


def _steps(changes: Sequence[Sequence[float]], length: int) -> Array:
    """A value for each t from the places where it changes; NaN before the first."""
    curve = np.full(length, np.nan)
    for t, value in changes:
        curve[int(t) - 1 :] = value
    return curve


def main() -> None:
    """Make what is missing, or all of them, and say how large the file is."""
    parser = argparse.ArgumentParser(description="DSEBO in the paper's settings.")
    parser.add_argument("--again", action="store_true", help="make all of them again")
    path = Path(str(files("dsebo.data") / NAME))
    again = parser.parse_args().again
    runs = complete(path, paper_configs(), lambda text: print(text, flush=True), again)
    print(f"{path.name}: {len(runs)} runs, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
