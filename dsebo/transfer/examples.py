"""The runs that come with the package: imported at the first start, made by one command.

    python -m dsebo.transfer.examples [floors]

runs them all again and writes `dsebo/data/bundled_runs.json.gz`; then their floors, so that the first
page is drawn with what is reachable, without torch. With `floors` only these.
"""

from __future__ import annotations

import base64
import gzip
import json
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from dsebo.config import RunConfig, parse_flat
from dsebo.runs.data import read_run
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.errors import StoreError
from dsebo.store.floors import floors_with_store, keep_floors, kept_floors
from dsebo.store.rows import RunFilter
from dsebo.store.schema import BUNDLED
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes

NAME, FLOORS, TAG = "bundled_runs.json.gz", "bundled_floors.json.gz", "example"
RUNS: tuple[tuple[str, dict[str, Any], int], ...] = (  # name, setting, repeats
    ("Sphere, the paper's setting", {}, 3),
    ("Sphere, β = 1", {"beta": 1.0}, 1),
    ("Sphere, β = 32", {"beta": 32.0}, 1),
    ("Sphere, d_h = 20 below d_e = 30", {"d_h": 20}, 1),
    ("Sphere, c = 5", {"c": 5.0}, 1),
    ("Sphere, random search", {"method": "random"}, 1),
    ("Levy, the paper's setting", {"function": "levy"}, 1),
    ("Michalewicz, the paper's setting", {"function": "michalewicz"}, 1),
)

_log = logging.getLogger(__name__)


def import_bundled(store: Store, beside_others: bool = False) -> list[str]:
    """Put the bundled runs into an empty store; their ids.

    A store with runs stays as it is; `beside_others` puts them into it unless they have been there before.
    """
    file, filters = files("dsebo.data") / NAME, (RunFilter(), RunFilter(deleted=True))
    if beside_others:
        tagged = [row for chosen in filters for row in store.list_runs(replace(chosen, tags=[TAG]))]
        done = any(row.source == BUNDLED for row in tagged)
    else:
        done = any(store.count_runs(chosen) for chosen in filters)
    if done or not file.is_file():
        return []
    try:
        ids = import_bytes(store, _unpacked(NAME), "bundled_runs.json", source=BUNDLED)
        if not kept_floors(store):
            rows = json.loads(_unpacked(FLOORS))
            keep_floors(store, [{**row, "z": base64.b64decode(row["z"])} for row in rows])
        return ids
    except StoreError as error:  # an app without examples is better than none
        _log.warning("The bundled runs were not imported: %s", error)
        return []


def _unpacked(name: str) -> bytes:
    return gzip.decompress((files("dsebo.data") / name).read_bytes())


def bundled_run(store: Store, config: RunConfig) -> str | None:
    """The id of the run of that config that came with the package; None where it was deleted.

    A store that others began, as the terminal does, gets the bundled runs here.
    """
    import_bundled(store, beside_others=True)
    rows = store.list_runs(RunFilter(tags=[TAG], functions=[config.objective.name]))
    bundled = (row for row in rows if row.source == BUNDLED and row.budget == config.budget)
    return next((row.id for row in bundled if row.parsed == config), None)


def make(runs: Sequence[tuple[str, dict[str, Any], int]] = RUNS) -> bytes:
    """Run them all, one after the other, and pack them."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/bundle.db")
        manager = RunManager(store, Settings())
        ids: list[str] = []
        for name, flat, repeats in runs:
            ids += manager.launch(parse_flat(flat).seeds(repeats), name=name, tags=[TAG])
        _wait(store, ids)
        data = export_json(store, ids)
        manager.close()
        store.close()
    return gzip.compress(data, compresslevel=9, mtime=0)


def make_floors(data: bytes) -> bytes:
    """Compute what was reachable for each of these runs, and pack it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/floors.db")
        for run_id in import_bytes(store, gzip.decompress(data), "bundled_runs.json", source=BUNDLED):
            run = read_run(store, run_id)
            if run.changes and run.started is not None:
                config = run.row.parsed
                floors_with_store(store, config, run.visited, run.started["checksum"])
        rows = [{**row, "z": base64.b64encode(row["z"]).decode()} for row in kept_floors(store)]
        store.close()
    return gzip.compress(json.dumps(rows).encode(), compresslevel=9, mtime=0)


def _wait(store: Store, ids: Sequence[str]) -> None:
    """Until all have finished; says how far it is."""
    printed = -1
    while True:
        rows = store.list_runs(RunFilter(ids=ids))
        if failed := [row for row in rows if row.state in ("failed", "interrupted")]:
            raise StoreError(f"{failed[0].name} ended as {failed[0].state}: {failed[0].error}")
        done = sum(row.state == "finished" for row in rows)
        if done != printed:
            printed = done
            print(f"{done} of {len(ids)} runs", flush=True)
        if done == len(ids):
            return
        time.sleep(0.5)


def main() -> None:
    """Make both files and write them into the package."""
    folder = Path(str(files("dsebo.data")))
    if sys.argv[1:] != ["floors"]:
        (folder / NAME).write_bytes(make())
    (folder / FLOORS).write_bytes(make_floors((folder / NAME).read_bytes()))
    for name in (NAME, FLOORS):
        print(f"{name}: {(folder / name).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
