"""500 truncated or mutated files: no crash, one sentence, and never part of a run."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dsebo.store.store import Store
from dsebo.transfer import export_json
from tests.small import small
from tests.transfer.files import attempt, finished, mutated, pair, rows, whole, zipped


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
