"""Command lines and files as hostile as chance makes them; `benchmarks.runs_proof fuzz` tries more."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from dsebo.store.store import Store
from dsebo.transfer import export_json
from tests.fuzz import check_command_line, check_import, check_shown, command_line, hostile_bundle
from tests.small import small
from tests.transfer.files import finished

LINES, FILES = 80, 120


def test_no_command_line_shows_a_traceback(
    store: Store, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSEBO_DB", url)
    ids = [finished(store, small(budget=8)), finished(store, small(budget=3, method="random"))]
    chance = random.Random(1)
    ended = Counter(check_command_line(command_line(chance, ids, tmp_path)) for _ in range(LINES))
    assert ended["refused in a sentence"] > LINES / 4
    assert ended["done"] > LINES / 20


def test_what_comes_in_can_be_shown(store: Store) -> None:
    ids = [finished(store, small(budget=20)), finished(store, small(budget=3, method="random"))]
    bundle, chance = export_json(store, ids), random.Random(1)
    came = [run for _ in range(FILES) for run in check_import(store, hostile_bundle(chance, bundle))]
    assert FILES / 10 < len(came) < FILES
    check_shown(store, came)
