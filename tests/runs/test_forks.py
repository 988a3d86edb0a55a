"""Forks of stored runs: the history is shared exactly, and what follows is the fork's own."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, insert, select, update

from dsebo.charts.run import figure_of
from dsebo.config import RunConfig
from dsebo.experiments.entrants import label_of
from dsebo.experiments.progress import find_runs
from dsebo.experiments.spec import ExperimentSpec
from dsebo.paper.comparison import setting_key
from dsebo.runs.commands import change
from dsebo.runs.data import read_ghost, read_run
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import forked_run, resumed_run, stored_run
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.forking import convergences, plan_fork
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes
from dsebo.transfer.html import export_html
from dsebo.transfer.tables import frame
from objectives.fields import ConfigError
from tests.runs.jobs import work
from tests.small import history, reference, small, wait_state

CONFIG = small(budget=30)


@pytest.fixture(scope="session")
def forkable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one finished run."""
    file = tmp_path_factory.mktemp("forkable") / "runs.db"
    store = Store.open(str(file))
    list(stored_run(CONFIG, store))
    store.close()
    return file


@pytest.fixture
def url(tmp_path: Path, forkable: Path) -> str:
    shutil.copy(forkable, tmp_path / "runs.db")
    return f"sqlite:///{tmp_path / 'runs.db'}"


@pytest.fixture
def parent(store: Store) -> str:
    return store.list_runs()[0].id


def forked(store: Store, run_id: str, at: int, name: str = "", **changed: Any) -> str:
    """A fork, run to its end."""
    ids: list[str] = []
    list(forked_run(plan_fork(store, run_id, at, **changed), store, name, on_id=ids.append))
    return ids[0]


def without_forks(events: list[Any]) -> list[Any]:
    return [event for event in events if event["event"] not in ("started", "forked")]


def test_a_fork_with_nothing_changed_is_bit_for_bit_its_parent(store: Store, parent: str) -> None:
    evaluations, events = history(store, parent)
    for at in convergences(store, parent)[:-1]:
        fork = forked(store, parent, at)
        again, told = history(store, fork)
        assert again == evaluations
        assert without_forks(told) == without_forks(events)
        row = store.get_run(fork)
        assert (row.state, row.n_done, row.best) == ("finished", 30, store.get_run(parent).best)
        assert row.seconds == pytest.approx(float(store.evaluations(fork)["seconds"].sum()))


def test_a_fork_of_what_was_imported_is_no_result_either(store: Store, parent: str) -> None:
    whole = json.loads(export_json(store, [parent]))
    worse = next(one for one in whole["runs"][0]["evaluations"] if one["y"] > one["best"])
    worse["y"] += 1.0
    imported = import_bytes(store, json.dumps(whole).encode(), "forged.json")[0]
    fork = forked(store, imported, convergences(store, imported)[-1])
    assert store.get_run(fork).state_words == "finished, imported"
    assert not store.get_run(forked(store, parent, convergences(store, parent)[-1])).imported


def test_a_stored_fork_is_what_its_config_gives_from_nothing(store: Store, parent: str) -> None:
    first, second, *_ = convergences(store, parent)
    fork = forked(store, parent, first, decide=7, changes={"beta": 6, "targets": "centred"}, budget=34)
    config = store.config(fork)
    assert (config.setting("beta"), config.budget, config.forks[0].run) == (6.0, 34, parent)
    assert history(store, fork) == reference(config)
    later = convergences(store, fork)[1]
    child = forked(store, fork, later, decide=0, changes={"alpha": 0.01})
    assert [(one.run, one.at) for one in store.config(child).forks] == [(parent, first), (fork, later)]
    assert history(store, child) == reference(store.config(child))
    d = {event["t"]: event["d_to"] for event in store.events(child) if "d_to" in event}
    assert d[later] == d[first]  # decided to stay
    assert second > first


def test_earlier_than_its_own_point_a_fork_is_forked_as_its_parent(store: Store, parent: str) -> None:
    first, second, *_ = convergences(store, parent)
    fork = forked(store, parent, second, decide=1)
    child = forked(store, fork, first, decide=2)
    assert [(one.run, one.at) for one in store.config(child).forks] == [(parent, first)]
    assert store.config(child).forks[0].hash is not None
    assert history(store, child) == reference(store.config(child))
    there = forked(store, fork, second)  # what is not changed stays as it was decided
    assert without_forks(history(store, there)[1]) == without_forks(history(store, fork)[1])


def without_points(store: Store) -> None:
    """As stores of 0.1.0 are."""
    with store.write() as connection:
        connection.execute(delete(schema.fork_point))


def test_states_that_were_not_stored_are_computed_from_the_evaluations(store: Store, parent: str) -> None:
    first, second, *_ = convergences(store, parent)
    fork = forked(store, parent, first, decide=3, changes={"targets": "centred"})
    for run_id, at in ((parent, second), (fork, first), (fork, convergences(store, fork)[1])):
        known = plan_fork(store, run_id, at)
        with store.read() as connection:
            kept = connection.execute(select(schema.fork_point)).mappings().all()
        without_points(store)
        again = plan_fork(store, run_id, at)
        assert (json.dumps(again.point), again.state) == (json.dumps(known.point), known.state)
        with store.write() as connection:
            connection.execute(insert(schema.fork_point), [dict(row) for row in kept])


def test_a_run_of_another_processor_can_be_forked_with_its_history_as_it_is(
    store: Store, parent: str
) -> None:
    at = convergences(store, parent)[1]
    without_points(store)
    table = schema.evaluation
    with store.write() as connection:
        z = connection.execute(select(table.c.z).where(table.c.t == 3)).scalar_one()
        other = (np.frombuffer(z) * (1 + 1e-15)).tobytes()
        connection.execute(update(table).where(table.c.t == 3).values(z=other))
    assert other != z
    fork = forked(store, parent, at)
    assert history(store, fork)[0][:at] == history(store, parent)[0][:at]
    assert store.get_run(fork).state == "finished"


def test_a_run_that_was_made_by_other_rules_cannot_be_forked(store: Store, parent: str) -> None:
    first, second, *_ = convergences(store, parent)
    without_points(store)
    table = schema.evaluation
    with store.write() as connection:
        later = (table.c.t > first, table.c.t <= second)
        z = np.zeros(3).tobytes()
        connection.execute(update(table).where(*later).values(z=z, d=3))
    why = f"it is at d = 6 at evaluation {first + 1}, where its point has 3 coordinates"
    with pytest.raises(StoreError, match=why):
        plan_fork(store, parent, second)
    assert plan_fork(store, parent, first).at == first


def test_runs_of_0_1_0_can_be_forked(tmp_path: Path) -> None:
    fixtures = Path(__file__).parents[1] / "fixtures"
    shutil.copy(fixtures / "store_0_1_0.db", tmp_path / "old.db")
    old = Store.open(str(tmp_path / "old.db"))
    ids = json.loads((fixtures / "files_0_1_0" / "ids.json").read_text())
    fork = forked(old, ids["finished"], convergences(old, ids["finished"])[0], decide=1)
    row = old.get_run(fork)
    assert (row.state, row.n_done, row.ghost) == ("finished", row.budget, ids["finished"])
    old.close()


@pytest.mark.postgres
def test_a_fork_on_postgresql(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    ids: list[str] = []
    list(stored_run(CONFIG, store, on_id=ids.append))
    fork = forked(store, ids[0], convergences(store, ids[0])[1], decide=5)
    assert history(store, fork) == reference(store.config(fork))
    store.close()


def test_a_fork_outlives_its_parent(store: Store, parent: str) -> None:
    first, second, *_ = convergences(store, parent)
    fork = forked(store, parent, first, decide=3)
    expected = history(store, fork)
    with store.write() as connection:
        for table in (schema.evaluation, schema.event, schema.checkpoint, schema.fork_point):
            connection.execute(delete(table).where(table.c.run_id == parent))
        connection.execute(delete(schema.run).where(schema.run.c.id == parent))
    assert history(store, fork) == expected
    assert store.point(fork, 2).shape == (50,)
    child = forked(store, fork, convergences(store, fork)[1], decide=2)
    assert history(store, child) == reference(store.config(child))
    assert second > first


def test_the_manager_forks_extends_and_keeps_limits(store: Store, parent: str, manager: RunManager) -> None:
    at = convergences(store, parent)[1]
    fork = manager.fork(parent, at, decide=4, name="another way", tags=["fork"], paused=True)
    row = wait_state(store, fork, "paused")
    assert (row.name, row.tags, row.n_done, row.budget, row.ghost) == (
        "another way",
        ("fork",),
        at,
        30,
        parent,
    )
    assert row.group != store.get_run(parent).group
    assert (row.d, row.minimum) == (store.events(fork)[-1]["d_to"], 0.0)
    manager.step(fork)
    wait_state(store, fork, "paused")
    manager.resume(fork)
    wait_state(store, fork, "finished")
    manager.extend(fork, 6)
    wait_state(store, fork, "finished")
    assert history(store, fork) == reference(store.config(fork), 36)
    unnamed = manager.fork(fork, at, paused=True)
    assert store.get_run(unnamed).name.startswith("Sphere 50/5, β ")
    assert f", forked at {at}, " in store.get_run(unnamed).name
    assert store.get_run(unnamed).budget == 36
    strict = RunManager(store, Settings(slots=1, limits=LimitSettings(owner=Limits(budget=20))))
    with pytest.raises(LimitExceeded):
        strict.fork(parent, at)
    strict.close()


def test_a_run_at_work_can_be_forked(store: Store, parent: str, manager: RunManager) -> None:
    config = small(budget=30, seed=2)
    slow = manager.launch(config, speed=1000)[0]
    row = wait_state(store, slow, "finished", "running")
    while not convergences(store, slow):
        row = store.get_run(slow)
    manager.pause(slow) if row.state == "running" else None
    fork = manager.fork(slow, convergences(store, slow)[0], decide=1)
    wait_state(store, fork, "finished")
    assert history(store, fork) == reference(store.config(fork))


def test_killed_in_a_fork_and_resumed(processes: Any, store: Store, url: str, parent: str) -> None:
    at = convergences(store, parent)[1]
    plan = partial(plan_fork, store, parent, at, 5, {"beta": 8})
    events = forked_run(plan(), store)
    assert [event.kind for event in (next(events), next(events))] == ["forked", "expanded"]
    events.close()
    fork = store.list_runs()[0].id
    assert (store.get_run(fork).state, store.get_run(fork).n_done) == ("interrupted", at)
    moment = "in the middle of the transaction"
    process = processes.Process(target=work, args=(url, "", fork, moment, at + 4))
    process.start()
    process.join(60)
    assert process.exitcode == -9
    assert store.get_run(fork).n_done == at + 3
    list(resumed_run(store, fork))
    assert history(store, fork) == reference(store.config(fork))


def test_a_fork_through_a_file(store: Store, parent: str, tmp_path: Path) -> None:
    at = convergences(store, parent)[1]
    fork = forked(store, parent, at, decide=5, changes={"beta": 8})
    data = export_json(store, [fork])
    other = Store.open(str(tmp_path / "other.db"))
    assert import_bytes(other, data, "fork.json") == [fork]
    assert history(other, fork) == history(store, fork)
    assert other.config(fork) == store.config(fork)
    assert other.get_run(fork).ghost == parent
    assert export_json(other, [fork]) == data
    with store.read() as one, other.read() as two:
        assert one.execute(chosen := select(schema.run.c.hash).where(schema.run.c.id == fork)).scalar() == (
            two.execute(chosen).scalar()
        )
    child = forked(other, fork, convergences(other, fork)[2], decide=0)
    assert history(other, child) == reference(other.config(child))
    other.close()


def test_a_fork_in_tables_charts_and_reports(store: Store, parent: str) -> None:
    at = convergences(store, parent)[1]
    fork = forked(store, parent, at, "another way", decide=5, changes={"beta": 8})
    table = frame(store, [parent, fork])
    assert set(table[table["run_id"] == fork]["fork_of"]) == {parent}
    assert table[table["run_id"] == parent]["fork_at"].isna().all()
    assert "fork_of" not in frame(store, [parent])
    data = read_run(store, fork)
    before, after = (data.config_at(t)["optimizer"]["beta"] for t in (at - 1, at))
    assert (before, after) == (4.0, 8.0)
    assert data.others == []
    ghost = read_ghost(store, data.row)
    assert ghost is not None
    figure = figure_of(data, "log", ghost=ghost)
    assert [len(trace.y) for trace in figure.data if trace.name == "ghost: best so far"] == [30]
    report = export_html(store, [fork]).decode()
    assert f"fork of {parent[:8]} at {at}, β 4 → 8, Δd = 5" in report
    assert f"In grey: {ghost.row.name}" in report
    change(store, parent, deleted_at=1.0)
    assert read_ghost(store, data.row) is None
    change(store, fork, ghost="f" * 32)
    assert read_ghost(store, store.get_run(fork)) is None
    assert "In grey" not in export_html(store, [fork]).decode()


def test_a_fork_is_never_taken_for_a_plain_run(store: Store, parent: str) -> None:
    at = convergences(store, parent)[1]
    same, changed = forked(store, parent, at), forked(store, parent, at, changes={"beta": 8})
    base = CONFIG.model_dump(mode="json")
    spec = ExperimentSpec.parse({"base": base, "axes": {"beta": [4, 8]}, "seeds": [1]})
    with store.read() as connection:
        found = find_runs(connection, spec.planned(), LOCAL_OWNER)
    assert [row.id for row, _ in found.values()] == [parent]
    assert len({setting_key(store.get_run(run_id).config) for run_id in (parent, same, changed)}) == 3
    assert len({label_of(store.get_run(run_id).config) for run_id in (parent, same, changed)}) == 3
    assert parent not in (same, changed)
    with pytest.raises(ConfigError, match="start from nothing: leave forks out"):
        ExperimentSpec.parse({"base": store.config(same).model_dump(mode="json"), "axes": {"beta": [4]}})


def test_what_cannot_be_forked_says_why(store: Store, parent: str, manager: RunManager) -> None:
    first, *_, last = convergences(store, parent)
    known = ", ".join(map(str, convergences(store, parent)[:-1]))
    for at in (0, first + 1, 31):
        why = f"at must be a convergence of run {parent[:8]}, {known} or {last} (got {at})."
        with pytest.raises(StoreError, match=re.escape(why)):
            manager.fork(parent, at)
    with pytest.raises(StoreError, match=re.escape("budget must be a whole number, 30 or more (got 29).")):
        manager.fork(parent, first, budget=29)
    with pytest.raises(ConfigError, match="A fork cannot change d_h"):
        manager.fork(parent, first, changes={"d_h": 12})
    with pytest.raises(ConfigError, match="decide must be a whole number from 0 to d_h = 20"):
        manager.fork(parent, first, decide=21)
    random = manager.launch(small(budget=4, method="random"))[0]
    with pytest.raises(ConfigError, match="A run of Random search cannot be forked: it has no convergences"):
        manager.fork(random, 2)
    short = manager.launch(small(budget=2))[0]
    wait_state(store, short, "finished")
    if not convergences(store, short):
        with pytest.raises(StoreError, match="has not converged yet"):
            manager.fork(short, 1)
    manager.delete(parent)
    with pytest.raises(StoreError, match="is deleted: restore it first"):
        manager.fork(parent, first)
    assert len(store.list_runs()) == 2


def test_the_last_evaluation_needs_a_larger_budget(store: Store) -> None:
    config = RunConfig.parse({**CONFIG.model_dump(mode="json"), "budget": 30, "seed": 1})
    points = [event["t"] for event in reference(config)[1] if "d_to" in event]
    ids: list[str] = []
    shorter = stored_run(config, store, on_id=ids.append)
    list(shorter)
    with store.write() as connection:
        run = schema.run
        connection.execute(update(run).where(run.c.id == ids[0]).values(budget=points[-1]))
    with pytest.raises(StoreError, match="is the last one: a fork there needs a larger budget"):
        plan_fork(store, ids[0], points[-1])
    assert plan_fork(store, ids[0], points[-1], budget=40).budget == 40
