from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text, update

from dsebo.config import config_hash
from dsebo.experiments.progress import WORKER_BYTES, WORKER_START, plan, plan_of
from dsebo.experiments.records import (
    create_experiment,
    delete_experiment,
    get_experiment,
    list_experiments,
    progress,
    restore_experiment,
    tell,
)
from dsebo.experiments.spec import ExperimentSpec
from dsebo.paper.presets import PRESETS
from dsebo.runs.commands import change, grow_budget
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.store import schema
from dsebo.store.errors import NotFound, StoreError
from dsebo.store.migrations import upgrade
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes
from tests.experiments.helpers import hold, make, random_spec, spec


def stored_hash(store: Store, run_id: str) -> Any:
    with store.read() as connection:
        return connection.execute(select(schema.run.c.hash).where(schema.run.c.id == run_id)).scalar_one()


def test_a_run_carries_its_hash_and_takes_it_along(store: Store) -> None:
    config = random_spec().planned()[0].config
    run_id = make(store, config)
    assert stored_hash(store, run_id) == config_hash(config)
    assert config_hash(config) != config_hash(config.with_seed(99))
    bundle = export_json(store, [run_id])
    with store.write() as connection:
        connection.execute(schema.run.delete())
    again = import_bytes(store, bundle, "runs.json")[0]
    assert stored_hash(store, again) == config_hash(config)
    unknown = json.loads(bundle)
    unknown["runs"][0]["versions"] = {}
    other = import_bytes(store, json.dumps(unknown).encode(), "runs.json")[0]
    assert stored_hash(store, other) is None


def undo_forks(connection: Connection) -> None:
    """Back to before schema 8."""
    for table in ("machine", "incident", "import_entry"):
        connection.execute(text(f"DROP TABLE {table}"))
    connection.execute(text("ALTER TABLE run DROP COLUMN note"))
    connection.execute(text("ALTER TABLE experiment DROP COLUMN deleted_at"))
    connection.execute(text("DROP TABLE fork_point"))
    connection.execute(text("ALTER TABLE run DROP COLUMN ghost"))


def test_the_migration_fills_the_hashes_of_old_runs(any_url: str) -> None:
    store = Store.open(any_url)
    run_id = make(store, random_spec().planned()[0].config)
    mark = stored_hash(store, run_id)
    with store.write() as connection:  # back to what schema 3 was
        undo_forks(connection)
        connection.execute(text("DROP TABLE experiment"))
        connection.execute(text("DROP INDEX run_hash"))
        connection.execute(text("ALTER TABLE run DROP COLUMN hash"))
        connection.execute(text("UPDATE dsebo_schema SET version_num = '0003'"))
        upgrade(connection)
    assert stored_hash(store, run_id) == mark
    store.close()


def test_random_search_from_before_it_had_points_is_found_again(any_url: str) -> None:
    store = Store.open(any_url)
    config = random_spec().planned()[0].config
    run_id = make(store, config)
    before = config.model_dump(mode="json")
    del before["optimizer"]["points"]
    with store.write() as connection:  # back to what schema 4 was
        undo_forks(connection)
        connection.execute(
            update(schema.run)
            .where(schema.run.c.id == run_id)
            .values(config=json.dumps(before), hash="0" * 64)
        )
        connection.execute(text("DROP INDEX experiment_created"))
        connection.execute(text("ALTER TABLE experiment RENAME TO sweep"))
        connection.execute(text("CREATE INDEX sweep_created ON sweep (created, id)"))
        connection.execute(text("UPDATE dsebo_schema SET version_num = '0004'"))
        upgrade(connection)
    assert stored_hash(store, run_id) == config_hash(config)
    store.close()


def test_progress_shows_every_planned_run(any_url: str) -> None:
    store = Store.open(any_url)
    sweep = spec({"beta": [2, 4]}, seeds="1-2")
    planned = sweep.planned()
    done = make(store, planned[0].config)
    stopped = make(store, planned[2].config, stop=5)
    sweep_id = create_experiment(store, sweep)
    frame = progress(store, sweep_id)
    assert list(frame.columns) == [
        "cell",
        "beta",
        "seed",
        "hash",
        "run_id",
        "state",
        "wanted",
        "n_done",
        "budget",
        "best",
        "d",
        "seconds",
        "minimum",
        "at_centre",
    ]
    assert list(frame["state"]) == ["finished", "missing", "interrupted", "missing"]
    assert list(frame["run_id"]) == [done, None, stopped, None]
    assert list(frame["n_done"]) == [12, 0, 5, 0]
    assert list(zip(frame["cell"], frame["beta"], frame["seed"], strict=True)) == [
        (0, 2.0, 1),
        (0, 2.0, 2),
        (1, 4.0, 1),
        (1, 4.0, 2),
    ]
    row = store.get_run(done)
    first = frame.iloc[0]
    assert (first.best, first.d, first.seconds) == (row.best, row.d, row.seconds)
    assert (first.minimum, first.at_centre, first.budget) == (0.0, row.at_centre, 12)
    assert frame[["best", "d", "minimum"]].iloc[1].isna().all()
    assert progress(store, sweep).equals(frame)
    store.close()


def test_which_run_stands_for_a_planned_one(store: Store) -> None:
    sweep = spec(seeds="1")
    config = sweep.planned()[0].config

    def found(owner: str = "local") -> tuple[Any, str]:
        row = progress(store, sweep, owner).iloc[0]
        return row.run_id, row.state

    theirs = make(store, config, stop=3, owner="someone")
    assert found() == (None, "missing")  # someone else's run is not ours to carry on
    assert found("someone") == (theirs, "interrupted")
    short, long = make(store, config, stop=2), make(store, config, stop=6)
    assert found() == (long, "interrupted")
    events = stored_run(config, store)
    next(events)
    assert found()[1] == "running"
    events.close()
    list(resumed_run(store, theirs))
    assert found() == (theirs, "finished")  # a finished one is everyone's
    grow_budget(store, theirs, 5)
    assert found() == (long, "interrupted")  # it is no longer a run of this budget
    change(store, long, deleted_at=time.time())
    assert found()[0] != long
    assert short


def test_a_run_imported_without_its_checkpoint_is_not_carried_on(store: Store) -> None:
    sweep = spec(seeds="1")
    run_id = make(store, sweep.planned()[0].config, stop=3)
    with store.write() as connection:
        connection.execute(schema.checkpoint.delete())
    assert store.get_run(run_id).state == "interrupted"
    assert progress(store, sweep)["state"].iloc[0] == "missing"


def test_a_thousand_runs_are_found(store: Store) -> None:
    base = {"optimizer": {"method": "random"}, "objective": {"D": 50, "d_e": 5}, "budget": 5}
    sweep = ExperimentSpec.parse({"base": base, "axes": {"c": "0.1:10:0.1"}, "seeds": "1-10"})
    row_of = make(store, sweep.planned()[0].config)
    with store.write() as connection:
        run = schema.run
        first = connection.execute(select(run).where(run.c.id == row_of)).mappings().one()
        rows = [
            {**first, "id": f"{i:032x}", "hash": one.hash, "config": one.config.to_json()}
            for i, one in enumerate(sweep.planned())
        ]
        connection.execute(insert(run), rows)
    assert progress(store, sweep)["state"].eq("finished").all()


def test_sweeps_are_listed_found_and_deleted(store: Store) -> None:
    first = create_experiment(store, spec())
    second = create_experiment(store, random_spec(), owner="someone")
    rows = list_experiments(store)
    assert [row.id for row in rows] == [second, first]
    assert [row.id for row in list_experiments(store, owner="someone")] == [second]
    assert len(list_experiments(store, limit=1)) == 1
    row = get_experiment(store, first[:10])
    assert row.spec == spec()
    assert (row.state, row.wanted, row.name) == ("queued", "run", "β on Sphere, D = 50")
    assert rows[0].owner not in ("someone", "local")  # a mark, never the token
    for bad, said in (("zz", "is not an experiment"), ("", "id is missing"), ("%", "is not an experiment")):
        with pytest.raises(NotFound, match=said):
            get_experiment(store, bad)
    delete_experiment(store, first)
    assert [row.id for row in list_experiments(store)] == [second]
    with pytest.raises(NotFound, match="is not an experiment"):
        get_experiment(store, first)
    restore_experiment(store, first)
    assert get_experiment(store, first).state == "cancelled"  # nobody works on it any more


def test_what_is_wanted_reaches_an_experiment_at_work_and_no_other(store: Store) -> None:
    sweep_id = create_experiment(store, spec())
    assert tell(store, sweep_id, "pause") == "queued"  # nobody works on it
    hold(store, sweep_id)
    for wanted in ("pause", "run", "cancel"):
        assert tell(store, sweep_id, wanted) is None
        assert get_experiment(store, sweep_id).wanted == wanted
    assert get_experiment(store, sweep_id).state == "running"  # until its process obeys
    hold(store, sweep_id, lease_expires=time.time() - 1)
    assert get_experiment(store, sweep_id).state == "stalled"
    assert tell(store, sweep_id, "pause") == "stalled"
    assert tell(store, sweep_id, "cancel") is None
    assert get_experiment(store, sweep_id).state == "cancelled"
    assert tell(store, sweep_id, "cancel") == "cancelled"
    with pytest.raises(StoreError, match="one of run, pause, cancel"):
        tell(store, sweep_id, "stop")


def test_a_queued_sweep_can_be_cancelled(store: Store) -> None:
    sweep_id = create_experiment(store, spec())
    assert tell(store, sweep_id, "cancel") is None
    assert get_experiment(store, sweep_id).state == "cancelled"


def test_a_plan_counts_what_is_there(store: Store) -> None:
    sweep = spec(seeds="1-3")
    before = plan(store, sweep, workers=2)
    assert (before.total, before.finished, before.unfinished, before.missing) == (6, 0, 0, 6)
    assert before.wall_seconds == WORKER_START + before.seconds / 2
    assert before.memory_bytes == before.run_bytes + 2 * WORKER_BYTES
    make(store, sweep.planned()[0].config)
    make(store, sweep.planned()[1].config, stop=6)
    after = plan(store, sweep, workers=2)
    assert (after.finished, after.unfinished, after.missing) == (1, 1, 4)
    assert 4 / 6 < after.seconds / before.seconds < 5 / 6
    for one in sweep.planned()[1:]:
        make(store, one.config)
    done = plan(store, sweep, workers=2)
    assert (done.finished, done.seconds, done.memory_bytes) == (6, 0.0, 0)
    assert done.wall_seconds == 0.0


def test_small_presets_take_about_two_minutes_on_two_cores(store: Store) -> None:
    seconds = {}
    for preset in PRESETS:
        found = plan_of(preset.spec, progress(store, preset.spec), workers=2)
        assert found.total == found.missing
        seconds[preset.key] = found.wall_seconds
        if preset.small:
            assert 80 < found.wall_seconds < 130
    for preset in PRESETS:
        if not preset.small:
            assert seconds[preset.key] > max(200, 2 * seconds[f"{preset.key}-small"])


def test_the_first_schemas_runs_have_no_hash(tmp_path: Path) -> None:
    import shutil

    fixture = Path(__file__).parents[1] / "fixtures" / "schema_0001.db"
    shutil.copy(fixture, tmp_path / "old.db")
    store = Store.open(str(tmp_path / "old.db"))
    assert stored_hash(store, store.get_run("a").id) is None
    store.close()
