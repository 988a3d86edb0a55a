"""500 truncated or mutated files: no crash, one sentence, and never part of a run."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from sqlalchemy import func, select

from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes
from tests.small import small
from tests.transfer.test_transfer import finished, pair, zipped

TABLES = (schema.run, schema.evaluation, schema.event, schema.checkpoint)


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


@pytest.mark.parametrize("kind", ["bundle", "pairs in a zip", "a pair"])
def test_500_broken_files(store: Store, kind: str) -> None:
    chance = random.Random(11)
    count = {"bundle": 300, "pairs in a zip": 100, "a pair": 100}[kind]
    ids = [finished(store, small(budget=8)), finished(store, small(budget=3, method="random"))]
    bundle, files = export_json(store, ids), pair()
    outcomes: Counter[str] = Counter()
    before = rows(store)
    for _ in range(count):
        if kind == "bundle":
            data, name = mutated(bundle, chance), "x.json"
        elif kind == "pairs in a zip":
            data, name = mutated(zipped(files), chance), "x.zip"
        else:
            broken = chance.choice(sorted(files))
            data, name = zipped({**files, broken: mutated(files[broken], chance)}), "x.zip"
        found, said = attempt(store, data, name)
        outcomes["imported" if found else "refused"] += 1
        if found:
            assert all(whole(store, run_id) for run_id in found)
            before = rows(store)
        else:
            assert rows(store) == before, "a refused file left something behind"
            assert 10 < len(said) < 500
            assert "\n" not in said
    assert outcomes["refused"] > count / 4, outcomes
