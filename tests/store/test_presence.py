"""A database file that is deleted or replaced under a program that works with it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store import presence
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from tests.small import history, reference, small, wait_for, wait_state
from tests.transfer.files import finished

SLOW, LONG = 20.0, small(budget=12)


def file_of(store: Store) -> Path:
    return Path(str(store.engine.url.database))


def at_work(store: Store) -> tuple[RunManager, str]:
    """A run that has some of its points."""
    manager = RunManager(store, Settings(slots=1))
    run_id = manager.launch(LONG, speed=SLOW)[0]
    wait_for(lambda: store.get_run(run_id).n_done >= 2)
    return manager, run_id


@pytest.mark.parametrize("endings", [("",), ("", "-wal", "-shm")])
def test_a_deleted_file_is_written_back_and_the_run_goes_on(store: Store, endings: tuple[str, ...]) -> None:
    earlier = finished(store, small(budget=3, method="random"))
    manager, run_id = at_work(store)
    for ending in endings:
        Path(f"{file_of(store)}{ending}").unlink()
    wait_state(store, run_id, "finished")
    manager.close()
    other = Store.open(str(file_of(store)))  # as another process finds it
    assert {row.id for row in other.list_runs()} == {earlier, run_id}
    assert history(other, run_id) == reference(LONG)
    said = "The database runs.db was deleted under a running program: what it held (2 runs) was written back."
    assert other.incidents() == [said]
    assert other.incidents(0.0) == []
    other.close()


def test_without_a_look_at_open_files_sqlite_copies(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_still_open", lambda _: None)
    run_id = finished(store, small(budget=3, method="random"))
    file_of(store).unlink()
    assert store.get_run(run_id).n_done == 3
    assert len(store.incidents()) == 1


def test_what_others_put_in_its_place_is_kept_too(store: Store, tmp_path: Path) -> None:
    manager, run_id = at_work(store)
    file_of(store).unlink()
    new = Store.open(str(file_of(store)))  # another process begins a store of its own
    theirs = finished(new, small(budget=3, method="random"))
    wait_state(store, run_id, "finished")
    manager.close()
    assert {row.id for row in new.list_runs()} == {run_id, theirs}
    assert history(new, run_id) == reference(LONG)
    assert len(new.events(theirs)) == len({str(event) for event in new.events(theirs)})
    assert "was replaced under a running program" in new.incidents()[0]
    new.close()


def test_two_programs_with_the_same_deleted_file_add_up(store: Store) -> None:
    """The second has written to the old file after the first has written it back."""
    second = Store.open(str(file_of(store)))
    run_id = finished(store, small(budget=3, method="random"))
    file_of(store).unlink()
    assert store.get_run(run_id).n_done == 3
    second._presence._old.execute("UPDATE run SET n_done = 4 WHERE id = ?", (run_id,))  # type: ignore[union-attr]
    assert second.get_run(run_id).n_done == 4
    assert store.get_run(run_id).n_done == 4
    assert len(store.evaluations(run_id)) == 3
    assert len(store.events(run_id)) == 2
    second.close()


def test_another_program_s_file_is_left_alone_and_what_was_there_is_saved(store: Store) -> None:
    run_id = finished(store, small(budget=3, method="random"))
    path = file_of(store)
    path.unlink()
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE apples (weight REAL)")
    foreign.commit()
    foreign.close()
    with pytest.raises(StoreError, match=r"is not a dsebo store.* What was there before is in ") as refused:
        store.get_run(run_id)
    saved = Store.open(str(refused.value).rpartition(" in ")[2].rstrip("."))
    assert saved.get_run(run_id).n_done == 3
    saved.close()
    assert sqlite3.connect(path).execute("SELECT count(*) FROM apples").fetchone() == (0,)


def test_a_folder_that_is_away_is_waited_for(store: Store, tmp_path: Path) -> None:
    run_id = finished(store, small(budget=3, method="random"))
    folder = file_of(store).parent
    os.rename(folder, tmp_path.with_name("elsewhere"))
    with pytest.raises(StoreError, match="cannot be written back"):
        store.get_run(run_id)
    os.rename(tmp_path.with_name("elsewhere"), folder)
    assert store.get_run(run_id).n_done == 3
    assert store.incidents() == []


def test_a_folder_that_is_deleted_is_made_again(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "deep" / "folder" / "runs.db"))
    run_id = finished(store, small(budget=3, method="random"))
    shutil.rmtree(tmp_path / "deep")
    assert store.get_run(run_id).n_done == 3
    assert "was written back" in store.incidents()[0]
    assert file_of(store).is_file()
    store.close()


def test_dsebo_runs_says_it(store: Store) -> None:
    finished(store, small(budget=3, method="random"))
    file_of(store).unlink()
    store.list_runs()
    shown = CliRunner().invoke(app, ["runs", "--db", str(file_of(store))])
    assert "was deleted under a running program" in shown.stderr
