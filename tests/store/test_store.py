from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, insert, text, update

from dsebo.run import Runner, evaluate_once
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.store import schema
from dsebo.store.database import BUSY_SECONDS
from dsebo.store.errors import NotFound, StoreError
from dsebo.store.rows import LOCAL_OWNER, RunFilter, owner_hash
from dsebo.store.store import Store
from dsebo.threads import one_thread
from tests.small import history, reference, small
from tests.stores import many_runs

FIRST_SCHEMA = Path(__file__).parents[1] / "fixtures" / "schema_0001.db"


def finished(store: Store, config: Any, **more: Any) -> str:
    ids: list[str] = []
    list(stored_run(config, store, on_id=ids.append, **more))
    return ids[0]


def test_a_stored_run_is_the_engines_own(any_url: str) -> None:
    store = Store.open(any_url)
    config = small(budget=12)
    run_id = finished(store, config, name="first", tags=["a", "ü"])
    assert history(store, run_id) == reference(config)
    row = store.get_run(run_id)
    assert (row.state, row.n_done, row.budget, row.name) == ("finished", 12, 12, "first")
    assert row.tags == ("a", "ü")
    assert row.config == config.model_dump(mode="json")
    assert row.best == store.evaluations(run_id)["y"].min()
    assert row.minimum == 0.0
    assert row.at_centre == pytest.approx(5.0045)
    assert row.seconds == pytest.approx(store.evaluations(run_id)["seconds"].sum())
    assert row.started is not None
    assert row.finished is not None
    assert row.created <= row.started <= row.finished
    assert store.versions(run_id)["numpy"] == np.__version__
    store.close()


@pytest.mark.parametrize("method", ["dsebo", "random", "centre"])
def test_a_point_comes_back_as_it_was(store: Store, method: str) -> None:
    config = small(budget=6, method=method)
    run_id = finished(store, config)
    runner, points = Runner.from_config(config), []
    with one_thread():  # as every run has it: with more, the last bits may differ
        while not runner.done:
            points.append(runner.optimizer.ask().x)
            runner.step()
    assert len(points) == store.get_run(run_id).n_done
    for t, x in enumerate(points, 1):
        np.testing.assert_array_equal(store.point(run_id, t), x)
    with pytest.raises(StoreError, match="t must be an evaluation of run"):
        store.point(run_id, 99)


def test_reading_is_incremental(store: Store) -> None:
    run_id = finished(store, small(budget=20))
    everything = store.evaluations(run_id)
    assert list(everything["t"]) == list(range(1, 21))
    assert list(store.evaluations(run_id, after=15)["t"]) == [16, 17, 18, 19, 20]
    assert len(store.evaluations(run_id, after=20)) == 0
    assert list(store.evaluations(run_id, after=20).columns) == list(everything.columns)
    events = store.events(run_id)
    assert events[0]["event"] == "started"
    assert store.events(run_id, after=10) == [event for event in events if event["t"] > 10]


def test_a_failed_evaluation_is_kept_as_such(store: Store, monkeypatch: Any) -> None:
    points: list[Any] = []

    def sometimes(objective: Any, x: Any) -> tuple[float, str | None]:
        points.append(x)  # the first of them is the centre
        return (float("nan"), "no") if len(points) == 6 else evaluate_once(objective, x)

    monkeypatch.setattr(sys.modules[Runner.__module__], "evaluate_once", sometimes)
    run_id = finished(store, small(budget=8))
    frame = store.evaluations(run_id)
    assert list(frame["failed"]) == [False] * 4 + [True] + [False] * 3
    assert np.isnan(frame["y"][4])
    assert frame["best"][4] == frame["best"][3]


def test_another_s_is_refused(store: Store) -> None:
    config = small(budget=8)
    ids: list[str] = []
    events = stored_run(config, store, on_id=ids.append)
    for event in events:
        if event.t == 4:
            break
    events.close()
    run_id = ids[0]
    with store.write() as connection:
        payload = {**store.events(run_id)[0], "checksum": "0" * 16}
        connection.execute(update(schema.event).values(payload=json.dumps(payload)))
    with pytest.raises(StoreError, match="another random matrix S"):
        list(resumed_run(store, run_id))
    assert store.get_run(run_id).state == "interrupted"
    assert "another random matrix" in str(store.get_run(run_id).error)
    assert store.get_run(run_id).n_done == 4
    with pytest.raises(StoreError, match="another random matrix S"):
        store.point(run_id, 1)


def some_runs(store: Store) -> list[str]:
    ids = []
    for i, (method, name, tags) in enumerate(
        [("random", "Alpha", ["x"]), ("centre", "beta 100%", ["xy", "x"]), ("random", "gamma", [])]
    ):
        config = small(budget=3 + i, seed=i, method=method)
        ids.append(finished(store, config, name=name, tags=tags))
    return ids


def test_filters_and_order(any_url: str) -> None:
    store = Store.open(any_url)
    a, b, c = some_runs(store)

    def found(**filters: Any) -> set[str]:
        rows = store.list_runs(RunFilter(**filters))
        assert store.count_runs(RunFilter(**filters)) == len(rows)
        return {row.id for row in rows}

    assert found() == {a, b, c}
    assert found(methods=["random"]) == {a, c}
    assert found(functions=["levy"]) == set()
    assert found(tags=["x"]) == {a, b}
    assert found(tags=["xy"]) == {b}
    assert found(tags=["X"]) == set()
    assert found(search="ALPHA") == {a}
    assert found(search="100%") == {b}
    assert found(search="%") == {b}
    assert found(search=b[:9]) == {b}
    assert found(states=["finished"]) == {a, b, c}
    assert found(states=["running", "stalled"]) == set()
    assert found(owner=LOCAL_OWNER) == {a, b, c}
    assert found(owner=owner_hash("someone")) == set()
    assert found(group=store.get_run(a).group) == {a}
    assert found(ids=[a, c]) == {a, c}
    assert found(deleted=True) == set()
    assert [row.id for row in store.list_runs()] == [c, b, a]
    assert [row.id for row in store.list_runs(order_by="name", descending=False)] == [a, b, c]
    assert [row.id for row in store.list_runs(order_by="seed", limit=1, offset=1)] == [b]
    bests = [row.best or 0.0 for row in store.list_runs(order_by="best", descending=False)]
    assert bests == sorted(bests)
    with pytest.raises(StoreError, match=r"order_by must be one of .*created, .* \(got 'nonsense'\)"):
        store.list_runs(order_by="nonsense")
    with pytest.raises(StoreError, match=r"state must be one of queued, .* \(got 'busy'\)"):
        store.list_runs(RunFilter(states=["busy"]))
    store.close()


def test_an_id_may_be_shortened_while_unique(store: Store) -> None:
    ids = [finished(store, small(budget=2, method="random", seed=i)) for i in range(20)]
    by_first: dict[str, list[str]] = {}
    for run_id in ids:
        by_first.setdefault(run_id[0], []).append(run_id)
    assert store.get_run(ids[0][:12]).id == ids[0]
    shared = next(first for first, same in by_first.items() if len(same) > 1)
    with pytest.raises(NotFound, match=r"'.*' begins the ids of several runs"):
        store.get_run(shared)
    for wrong in ("zz", "%", "_", ""):
        with pytest.raises(NotFound):
            store.get_run(wrong)


def test_sqlite_is_set_up(store: Store) -> None:
    with store.read() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 1000 * BUSY_SECONDS
    with store.write() as connection:  # survives a power loss
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    with store.write(lasting=False) as connection:  # survives the death of the process
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 1
    with store.write() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        orphan(store)


def orphan(store: Store) -> None:
    with store.write() as connection:
        row = {"run_id": "x" * 32, "t": 1, "state": "{}"}
        connection.execute(insert(schema.checkpoint), row)


def test_a_row_is_a_plain_record(store: Store) -> None:
    import copy
    import pickle

    run_id = finished(store, small(budget=2, method="random"))
    row = store.get_run(run_id)
    assert row._replace(name="n").config == row.config
    assert row._asdict()["config_json"] == small(budget=2, method="random").to_json()
    assert store.get_run(run_id) == row
    assert copy.copy(store.get_run(run_id)).config == row.config
    assert pickle.loads(pickle.dumps(store.get_run(run_id))) == row
    with pytest.raises(AttributeError):
        row.nonsense  # noqa: B018
    with pytest.raises(AttributeError):
        row.name = "other"  # type: ignore[misc]


# -- schema ---------------------------------------------------------------------------------


def test_the_first_schema_is_migrated(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    shutil.copy(FIRST_SCHEMA, file)
    store = Store.open(str(file))
    done, stopped = store.get_run("a"), store.get_run("b")
    assert (done.state, done.budget, done.n_done, done.tags) == ("finished", 12, 12, ("old",))
    assert (stopped.state, stopped.n_done) == ("interrupted", 7)  # no lease: nobody works on it
    assert done.minimum == 0.0
    assert done.d == store.evaluations("a")["d"].iloc[-1]
    assert done.seconds == pytest.approx(store.evaluations("a")["seconds"].sum())
    assert len(store.evaluations("b")) == 7
    list(resumed_run(store, "b"))
    assert len(store.evaluations("b")) == 12
    assert store.get_run("b").state == "finished"
    store.close()


def test_migrations_lead_to_the_tables_in_the_code(any_url: str) -> None:
    store = Store.open(any_url)
    with store.engine.connect() as connection:
        options = {"version_table": schema.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.metadata) == []
    store.close()


def test_a_newer_store_is_refused(url: str) -> None:
    Store.open(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE dsebo_schema SET version_num = '0099'"))
    engine.dispose()
    words = f"newer dsebo: its schema is 99, this one knows up to {schema.SCHEMA_VERSION}"
    with pytest.raises(StoreError, match=words):
        Store.open(url)


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE customers (id INTEGER)")
    with pytest.raises(StoreError, match=r"not a dsebo store: it holds other tables \(customers"):
        Store.open(str(file))
    with sqlite3.connect(file) as other:
        assert [r[0] for r in other.execute("SELECT name FROM sqlite_master")] == ["customers"]
    (tmp_path / "text.db").write_text("hello, I am not a database " * 100)
    with pytest.raises(StoreError, match="is not a dsebo store: file is not a database"):
        Store.open(str(tmp_path / "text.db"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("sqlite://", "must not be in memory"),
        ("nonsense://x/y", "no driver for nonsense"),
        ("sqlite:////dev/null/x.db", "cannot be made"),
        ("postgresql://nobody@127.0.0.1:1/none", "refused"),
    ],
)
def test_a_bad_address_gets_a_sentence(wrong: str, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        Store.open(wrong)


def test_the_address_comes_from_the_environment(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("DSEBO_DB", str(tmp_path / "deep" / "env.db"))
    Store.open().close()
    assert (tmp_path / "deep" / "env.db").exists()
    monkeypatch.delenv("DSEBO_DB")
    monkeypatch.setenv("DSEBO_SETTINGS", str(tmp_path / "s.toml"))
    (tmp_path / "s.toml").write_text(f'database = "{tmp_path}/from_settings.db"')
    Store.open().close()
    assert (tmp_path / "from_settings.db").exists()


def test_the_store_is_kept_in_the_users_data_folder(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("DSEBO_DB", raising=False)
    Store.open().close()
    assert (tmp_path / "data" / "dsebo" / "runs.db").exists()


# -- lists ----------------------------------------------------------------------------------


def test_a_long_list_is_read_whole(store: Store) -> None:
    """How long it takes is measured in benchmarks/runs_proof."""
    many_runs(store, 2_000)
    rows = store.list_runs()
    assert len({row.id for row in rows}) == 2_000
    assert rows[0].config["budget"] == 500
    assert rows[0].tags == ("tag",)


def test_columns_of_a_list_are_those_of_its_rows(store: Store) -> None:
    ids = some_runs(store)
    names = ["id", "name", "state", "seed", "best"]
    columns = store.run_columns(names)
    rows = store.list_runs()
    assert columns == {name: [getattr(row, name) for row in rows] for name in names}
    assert set(columns["id"]) == set(ids)
    assert store.run_columns(names, limit=1)["id"] == [rows[0].id]
    assert store.run_columns(names, RunFilter(search="no such run")) == {name: [] for name in names}
