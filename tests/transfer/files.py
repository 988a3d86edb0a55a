"""Files to import, whole and broken."""

from __future__ import annotations

import io
import random
import zipfile
from typing import Any

from sqlalchemy import func, select

from dsebo.runs.worker import stored_run
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import import_bytes

VALUES = [30.0, 29.0, 28.9, 28.8, 28.8, 28.8, 28.0, 27.9, 27.9, 27.9, 27.0, 27.0]
DIMS = [5, 5, 5, 5, 13, 13, 13, 13, 21, 21, 21]
TABLES = (schema.run, schema.evaluation, schema.event, schema.checkpoint)


def finished(store: Store, config: Any, **more: Any) -> str:
    ids: list[str] = []
    list(stored_run(config, store, on_id=ids.append, **more))
    return ids[0]


def pair(
    values: Any = VALUES, dims: Any = DIMS, folder: str = "results/Sphere-12/100-10/12"
) -> dict[str, bytes]:
    return {
        f"{folder}/seed_3_qual.csv": "".join(f"{v}\n" for v in values).encode(),
        f"{folder}/seed_3_optNos.csv": "".join(f"{d}\n" for d in dims).encode(),
    }


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Cut off, or with some bytes changed, doubled or left out."""
    if chance.random() < 0.3:
        return data[: chance.randrange(len(data))]
    raw = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 5, 20])):
        place = chance.randrange(len(raw) or 1)
        kind = chance.randrange(4)
        if kind == 0:
            raw[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            raw[place : place + 1] = bytes([chance.choice(b'0123456789-.,:"{}[]\n')])
        elif kind == 2:
            del raw[place : place + chance.randrange(1, 40)]
        else:
            raw[place:place] = raw[place : place + chance.randrange(1, 40)]
    return bytes(raw)


def rows(store: Store) -> dict[str, int]:
    with store.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in TABLES
        }


def whole(store: Store, run_id: str) -> bool:
    """Whether a run that came in is one that the pages can show."""
    row, frame = store.get_run(run_id), store.evaluations(run_id)
    ends = [event["t"] for event in store.events(run_id)]
    return (
        row.n_done == len(frame)
        and list(frame["t"]) == list(range(1, len(frame) + 1))
        and all(t <= row.n_done for t in ends)
        and row.config["budget"] > 0
    )


def attempt(store: Store, data: bytes, name: str) -> tuple[list[str], str]:
    """(the runs that came in, or why none did); any other exception is a crash."""
    try:
        return import_bytes(store, data, name), ""
    except StoreError as error:
        return [], str(error)
