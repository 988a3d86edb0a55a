"""Runs are found by the hash of their config: those of 0.1.0, and those from before a new setting."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import select

from dsebo.config import RunConfig, config_hash, parse_flat
from dsebo.store import schema
from dsebo.store.store import Store
from dsebo.transfer import import_path
from tests.copies import copied_software, insert_after, python_in

FIXTURES = Path(__file__).parents[1] / "fixtures"
IDS = json.loads((FIXTURES / "files_0_1_0" / "ids.json").read_text())
SETTINGS = {"D": 30, "d_e": 3, "d_l": 2, "d_h": 20, "beta": 4, "budget": 20}  # of the fixture's runs

FIND = """
import sys
from dsebo.config import config_hash, parse_flat
from dsebo.store.store import Store
from dsebo.store import schema
from sqlalchemy import select
config = parse_flat({settings})
assert config.setting("taste") == 3 and config.setting("salt") == 0.0
chosen = select(schema.run.c.id).where(schema.run.c.hash == config_hash(config))
with Store.open(sys.argv[1]).read() as connection:
    print(*connection.execute(chosen).scalars())
"""


def old_store(folder: Path) -> Store:
    shutil.copy(FIXTURES / "store_0_1_0.db", folder / "store.db")
    return Store.open(str(folder / "store.db"))


def with_hash(store: Store, config: RunConfig) -> list[str]:
    with store.read() as connection:
        chosen = select(schema.run.c.id).where(schema.run.c.hash == config_hash(config))
        return list(connection.execute(chosen).scalars())


def test_a_run_of_0_1_0_is_found_by_its_config(tmp_path: Path) -> None:
    store = old_store(tmp_path)
    assert IDS["finished"] in with_hash(store, parse_flat(SETTINGS))
    assert with_hash(store, parse_flat({**SETTINGS, "function": "levy", "seed": 2})) == [IDS["interrupted"]]
    assert IDS["imported"] in with_hash(store, parse_flat(SETTINGS))
    for run_id in [IDS["finished"], *IDS["race"], *IDS["sweep_runs"]]:
        assert run_id in with_hash(store, store.config(run_id))
        assert store.get_run(run_id).config["objective"]["kind"] == "embedded"
    again = import_path(store, FIXTURES / "files_0_1_0" / "interrupted.json").ids
    assert set(again) <= set(with_hash(store, store.config(IDS["interrupted"])))
    store.close()


def test_a_config_that_cannot_be_read_has_no_hash(tmp_path: Path) -> None:
    changed = {"objective": {"name": "sphere"}, "optimizer": {"method": "of tomorrow"}}
    shutil.copy(FIXTURES / "store_0_1_0.db", tmp_path / "older.db")
    with closing(sqlite3.connect(tmp_path / "older.db")) as older, older:
        older.execute("UPDATE run SET config = ? WHERE id = ?", (json.dumps(changed), IDS["finished"]))
        older.execute("UPDATE run SET versions = '{}' WHERE id = ?", (IDS["interrupted"],))
    store = Store.open(str(tmp_path / "older.db"))
    with store.read() as connection:
        chosen = select(schema.run.c.id).where(schema.run.c.hash.is_(None))
        assert set(connection.execute(chosen).scalars()) == {IDS["finished"], IDS["interrupted"]}
    store.close()


def test_a_run_from_before_a_new_setting_is_found(tmp_path: Path) -> None:
    old_store(tmp_path).close()
    copied = copied_software(tmp_path / "copy")
    files = (copied / "dsebo" / "methods").rglob("*.py")
    method = next(path for path in files if "class DseboConfig(" in path.read_text())
    tag, field = (
        '    method: Literal["dsebo"] = "dsebo"',
        '    taste: int = setting(3, "Taste", "None.", ge=1)',
    )
    insert_after(method, tag, field)
    tag, field = (
        '    kind: Literal["embedded"] = "embedded"',
        '    salt: float = setting(0.0, "Salt", "None.")',
    )
    insert_after(copied / "objectives" / "embedded.py", tag, field)
    code = FIND.format(settings=SETTINGS)
    found = python_in(copied, "-c", code, str(tmp_path / "store.db")).split()
    assert IDS["finished"] in found
