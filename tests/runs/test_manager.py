from __future__ import annotations

import sys
import threading
import time
from typing import Any

import pytest

from dsebo.run import Runner
from dsebo.runs.limits import check_limits
from dsebo.runs.manager import RunManager
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store.errors import LimitExceeded, NotAllowed, StoreError
from dsebo.store.rows import RunFilter, owner_hash
from dsebo.store.store import Store
from dsebo.text import run_title
from tests.small import history, reference, small, wait_for, wait_state


def done(store: Store, run_id: str) -> int:
    return store.get_run(run_id).n_done


def stays(value: Any, seconds: float = 0.6) -> bool:
    """Whether what `value` gives does not change for a while."""
    first, deadline = value(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value() != first:
            return False
        time.sleep(0.02)
    return True


def test_repeats_are_one_group_and_the_engines_own_runs(any_url: str) -> None:
    store = Store.open(any_url)
    manager = RunManager(store, Settings(slots=2))
    ids = manager.launch(small(budget=12, seed=5).seeds(3), name="three", tags=["t"])
    rows = [wait_state(store, run_id, "finished") for run_id in ids]
    assert [row.seed for row in rows] == [5, 6, 7]
    assert len({row.group for row in rows}) == 1
    for row in rows:
        assert history(store, row.id) == reference(small(budget=12, seed=row.seed))
    manager.close()
    store.close()


def test_pause_step_resume(store: Store, manager: RunManager) -> None:
    config = small(budget=14)
    run_id = manager.launch(config, paused=True)[0]
    wait_state(store, run_id, "paused")
    assert done(store, run_id) == 0
    for i in range(1, 4):
        manager.step(run_id)
        wait_for(lambda i=i: done(store, run_id) == i)
        assert store.get_run(run_id).state == "paused"
    assert stays(lambda: done(store, run_id))
    manager.step(run_id)
    manager.step(run_id)  # two presses are two evaluations
    wait_for(lambda: done(store, run_id) == 5)
    assert stays(lambda: done(store, run_id))
    manager.resume(run_id)
    wait_state(store, run_id, "finished")
    assert history(store, run_id) == reference(config)


def test_pause_takes_effect_between_two_evaluations(store: Store, manager: RunManager) -> None:
    run_id = manager.launch(small(budget=300, method="random"), speed=50)[0]
    wait_for(lambda: done(store, run_id) >= 3)
    manager.pause(run_id)
    wait_state(store, run_id, "paused")
    assert stays(lambda: done(store, run_id))
    manager.resume(run_id)
    before = done(store, run_id)
    wait_for(lambda: done(store, run_id) > before + 2)
    assert store.get_run(run_id).state == "running"


def test_a_command_from_another_process_is_obeyed(store: Store, manager: RunManager, url: str) -> None:
    """Another store and manager on the same file stand for the other process."""
    run_id = manager.launch(small(budget=1000, method="random"), speed=50)[0]
    other_store = Store.open(url)
    other = RunManager(other_store, Settings(slots=1))
    wait_for(lambda: done(store, run_id) >= 2)
    other.pause(run_id)
    wait_state(store, run_id, "paused")
    at = done(store, run_id)
    other.step(run_id)
    wait_for(lambda: done(store, run_id) == at + 1)
    other.set_speed(run_id, None)
    other.resume(run_id)
    wait_for(lambda: done(store, run_id) > at + 20)
    other.cancel(run_id)
    wait_state(store, run_id, "cancelled")
    other.close()
    other_store.close()


def test_speed_is_evaluations_a_second(store: Store, manager: RunManager) -> None:
    run_id = manager.launch(small(budget=1000, method="random"), speed=10)[0]
    wait_for(lambda: done(store, run_id) >= 1)
    began, at = time.monotonic(), done(store, run_id)
    time.sleep(1.5)
    made, took = done(store, run_id) - at, time.monotonic() - began
    assert 3 <= made <= 10 * took + 2
    assert store.get_run(run_id).speed == 10
    for wrong in (0, -1, float("nan"), 1e9):
        with pytest.raises(StoreError, match=r"speed must be a number from 0\.05 to 1000"):
            manager.set_speed(run_id, wrong)
    manager.cancel(run_id)


def test_cancel_delete_restore_rename_tag_annotate(store: Store, manager: RunManager) -> None:
    run_id = manager.launch(small(budget=100, method="random"), speed=20)[0]
    wait_for(lambda: done(store, run_id) >= 1)
    manager.rename(run_id, "  new \n name ")
    manager.tag(run_id, ["b", "a", "b", " "])
    manager.annotate(run_id, " seen \n at noon\x07 ")
    row = store.get_run(run_id)
    assert (row.name, row.tags, row.note) == ("new name", ("b", "a"), "seen at noon")
    assert store.count_runs(RunFilter(search="NOON")) == 1
    with pytest.raises(StoreError, match="note must have at most 1000 characters \\(got 1001\\)"):
        manager.annotate(run_id, "x" * 1001)
    manager.delete(run_id)
    assert store.list_runs() == []
    assert [row.id for row in store.list_runs(RunFilter(deleted=True))] == [run_id]
    wait_state(store, run_id, "cancelled")
    with pytest.raises(StoreError, match="is deleted: restore it first"):
        manager.resume(run_id)
    manager.restore(run_id)
    kept = done(store, run_id)
    manager.set_speed(run_id, None)
    manager.resume(run_id)
    wait_state(store, run_id, "finished")
    assert kept < done(store, run_id) == 100
    with pytest.raises(StoreError, match="name must have at most 200 characters \\(got 300\\)"):
        manager.rename(run_id, "x" * 300)
    with pytest.raises(StoreError, match="is finished and cannot be paused"):
        manager.pause(run_id)
    with pytest.raises(StoreError, match="has finished its 100 evaluations: extend it"):
        manager.resume(run_id)


def test_extend_goes_on_with_the_patience_of_the_first_budget(store: Store, manager: RunManager) -> None:
    config = small(budget=12)
    run_id = manager.launch(config)[0]
    wait_state(store, run_id, "finished")
    manager.extend(run_id, 8)
    wait_for(lambda: done(store, run_id) == 20)
    row = wait_state(store, run_id, "finished")
    assert (row.budget, row.config["budget"]) == (20, 12)
    assert history(store, run_id) == reference(config, budget=20)
    for wrong in (0, -3, 10**6, True, 1.5):
        with pytest.raises(StoreError, match=rf"more must be .* \(got {wrong!r}\)"):
            manager.extend(run_id, wrong)


def test_a_running_run_is_extended_too(store: Store, manager: RunManager) -> None:
    run_id = manager.launch(small(budget=6, method="random"), paused=True)[0]
    wait_state(store, run_id, "paused")
    manager.extend(run_id, 5)
    manager.resume(run_id)
    wait_state(store, run_id, "finished")
    assert done(store, run_id) == 11


@pytest.fixture
def slow_steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Every evaluation takes a while, and how many are under way is counted."""
    seen: dict[str, Any] = {"now": 0, "most": 0, "seconds": 0.05}
    lock, step = threading.Lock(), Runner.step

    def counted(self: Runner) -> Any:
        with lock:
            seen["now"] += 1
            seen["most"] = max(seen["most"], seen["now"])
        time.sleep(seen["seconds"])
        with lock:
            seen["now"] -= 1
        return step(self)

    monkeypatch.setattr(Runner, "step", counted)
    return seen


@pytest.mark.parametrize("slots", [1, 3])
def test_slots_are_taken_for_each_evaluation(store: Store, slow_steps: dict[str, Any], slots: int) -> None:
    manager = RunManager(store, Settings(slots=slots))
    ids = manager.launch(small(budget=12, method="random").seeds(5))

    def counts() -> list[int]:
        return [done(store, run_id) for run_id in ids]

    first = wait_for(lambda: min(counts()) >= 1 and counts())
    last = wait_for(lambda: max(counts()) >= 10 and counts())
    made = [b - a for a, b in zip(first, last, strict=True)]
    assert slots > 1 or max(made) - min(made) <= 3  # they take turns: every curve moves
    for run_id in ids:
        wait_state(store, run_id, "finished")
    assert slow_steps["most"] == slots
    manager.close()


def test_a_paused_or_slowed_run_holds_no_slot(store: Store) -> None:
    manager = RunManager(store, Settings(slots=1))
    paused = manager.launch(small(budget=50, method="random"), paused=True)[0]
    slowed = manager.launch(small(budget=50, method="random"), speed=0.05)[0]
    wait_state(store, paused, "paused")
    wait_for(lambda: done(store, slowed) == 1)
    quick = manager.launch(small(budget=10, method="random"))[0]
    wait_state(store, quick, "finished", seconds=10)
    assert done(store, slowed) == 1
    manager.close()


def test_beyond_the_active_limit_runs_queue_and_owners_take_turns(
    store: Store, slow_steps: dict[str, Any]
) -> None:
    limits = LimitSettings(all=Limits(active=2, queued=10), owner=Limits())
    manager = RunManager(store, Settings(mode="class", slots=2, limits=limits))
    config = small(budget=6, method="random")
    first = manager.launch(config.seeds(4), owner="anna")
    second = manager.launch(config, owner="ben")[0]
    states = [row.state for row in store.list_runs()]
    assert states.count("queued") >= 3
    ben = wait_state(store, second, "finished")
    anna = [wait_state(store, run_id, "finished") for run_id in first]
    assert sum(row.started > ben.started for row in anna) >= 1  # ben came between
    manager.close()


def test_a_queued_run_can_be_cancelled_and_stepped(store: Store, slow_steps: dict[str, Any]) -> None:
    limits = LimitSettings(all=Limits(active=1, queued=10))
    manager = RunManager(store, Settings(slots=1, limits=limits))
    config = small(budget=5, method="random")
    first = manager.launch(small(budget=500, method="random"))[0]
    second, third = manager.launch(config.seeds(2))
    wait_state(store, first, "running")
    manager.cancel(second)
    assert store.get_run(second).state == "cancelled"
    manager.step(third)
    manager.cancel(first)
    wait_state(store, third, "paused")
    wait_for(lambda: done(store, third) == 1)
    assert done(store, second) == 0
    manager.close()
    assert store.get_run(third).state == "interrupted"
    assert store.get_run(second).state == "cancelled"


# -- owners and limits ------------------------------------------------------------------------


def test_in_a_class_only_the_owner_and_the_lecturer_control(store: Store) -> None:
    manager = RunManager(store, Settings(mode="class", lecturer_token="chalk-on-a-blackboard", slots=1))
    run_id = manager.launch(small(budget=500, method="random"), owner="anna", speed=5)[0]
    row = store.get_run(run_id)
    assert "anna" not in row.owner  # watchers must not learn the token
    assert manager.may_control(row, "anna")
    assert manager.may_control(row, "chalk-on-a-blackboard")
    assert not manager.may_control(row, "ben")
    assert not manager.may_control(row, row.owner)
    assert not manager.may_control(row, "")
    assert [found.id for found in store.list_runs(RunFilter(owner=owner_hash("anna")))] == [run_id]
    for command in (
        manager.pause,
        manager.step,
        manager.resume,
        manager.cancel,
        manager.delete,
        manager.restore,
    ):
        with pytest.raises(NotAllowed, match="belongs to someone else"):
            command(run_id, "ben")
    with pytest.raises(NotAllowed):
        manager.rename(run_id, "mine", "ben")
    with pytest.raises(NotAllowed):
        manager.extend(run_id, 1, "ben")
    manager.pause(run_id, "anna")
    wait_state(store, run_id, "paused")
    manager.cancel(run_id, "chalk-on-a-blackboard")
    wait_state(store, run_id, "cancelled")
    manager.close()
    no_lecturer = RunManager(store, Settings(mode="class"))
    assert not no_lecturer.may_control(row, "")
    no_lecturer.close()


@pytest.mark.parametrize(
    ("limits", "seeds", "said"),
    [
        ({"budget": 20}, 1, "budget must be within the limit of 20 evaluations"),
        ({"D": 40}, 1, "D must be within the limit of 40"),
        ({"active": 1, "queued": 1}, 3, "3 unfinished runs are over the limit of 2"),
        ({"memory_mb": 1}, 1, r"memory of \d+ MB is over the limit of 1 MB"),
        ({"seconds": 0.1}, 5, r"time of \d+ s is over the limit of 0.1 s"),
    ],
)
@pytest.mark.parametrize("whose", ["owner", "all"])
def test_a_launch_over_a_limit_is_refused(
    store: Store, limits: dict[str, Any], seeds: int, said: str, whose: str
) -> None:
    both = {"owner": Limits(), "all": Limits(), whose: Limits(**limits)}
    manager = RunManager(store, Settings(limits=LimitSettings(**both)))
    with pytest.raises(LimitExceeded, match=said):
        manager.launch(small(budget=21).seeds(seeds))
    assert store.list_runs() == []
    manager.close()


def test_without_settings_an_absurd_prediction_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsebo.settings.core_count", lambda: 1)
    manager = RunManager(store, Settings())
    with pytest.raises(LimitExceeded, match=r"A predicted time of \d+ days is over the limit of 30 days"):
        manager.launch(small(budget=5_000).seeds(1000))
    assert store.list_runs() == []
    manager.close()


def test_the_limit_counts_what_is_there(store: Store) -> None:
    limits = LimitSettings(owner=Limits(active=1, queued=1), all=Limits())
    manager = RunManager(store, Settings(mode="class", limits=limits))
    config = small(budget=5, method="random")
    manager.launch(config.seeds(2), owner="anna", paused=True)
    with pytest.raises(LimitExceeded, match="3 unfinished runs are over the limit of 2 for an"):
        manager.launch(config, owner="anna")
    manager.launch(config, owner="ben")
    with pytest.raises(StoreError, match=r"must be of 1 to \d+ runs \(got 0\)"):
        manager.launch([])
    manager.close()


def test_a_neighbour_that_launches_meanwhile_does_not_break_the_limit(
    any_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes check a limit that has room for one of them: only one launches anything."""
    settings = Settings(limits=LimitSettings(all=Limits(active=2, queued=1)))
    managers = [RunManager(Store.open(any_url), settings) for _ in range(2)]
    checked = threading.Event()
    outcomes: dict[int, int | str] = {}

    def launch(number: int) -> None:
        configs = small(budget=5, method="random").seeds(2)
        try:
            outcomes[number] = len(managers[number].launch(configs, paused=True))
        except LimitExceeded as error:
            outcomes[number] = str(error)

    def check_and_dawdle(*args: Any, **more: Any) -> None:
        check_limits(*args, **more)
        checked.set()
        time.sleep(0.5)  # the neighbour launches between the check and the rows

    monkeypatch.setattr("dsebo.runs.manager.check_limits", check_and_dawdle)
    threads = [threading.Thread(target=launch, args=(number,)) for number in range(2)]
    threads[0].start()
    checked.wait(10)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert outcomes[0] == 2
    assert "4 unfinished runs are over the limit of 3" in str(outcomes[1])
    assert managers[0].store.count_runs() == 2
    for manager in managers:
        manager.close()
        manager.store.close()


def test_a_launch_is_of_any_configs_and_one_group(store: Store, manager: RunManager) -> None:
    configs = [small(budget=4, seed=7, method="random"), small(budget=3, seed=2), small(budget=3, seed=9)]
    ids = manager.launch(configs, name=["a", "", "c"])
    rows = [wait_state(store, run_id, "finished") for run_id in ids]
    assert [row.seed for row in rows] == [7, 2, 9]
    title = run_title(configs[1], rows[1].created)
    assert [row.name for row in rows] == ["a", title, "c"]
    assert len({row.group for row in rows}) == 1


# -- endings ----------------------------------------------------------------------------------


def test_close_saves_every_run_and_waits_for_none(store: Store, slow_steps: dict[str, Any]) -> None:
    manager = RunManager(store, Settings(slots=2))
    ids = manager.launch(small(budget=50, method="random").seeds(4))
    wait_for(lambda: all(done(store, run_id) >= 1 for run_id in ids))
    slow_steps["seconds"] = 6.0  # an evaluation that will not be waited for
    wait_for(lambda: slow_steps["now"] == 2)
    time.sleep(0.2)
    before = {run_id: done(store, run_id) for run_id in ids}
    manager.close()
    assert slow_steps["now"] == 2
    assert {store.get_run(run_id).state for run_id in ids} == {"interrupted"}
    slow_steps["seconds"] = 0.0
    time.sleep(0.2)
    wait_for(lambda: slow_steps["now"] == 0)  # the late ones end, and may not write
    assert {run_id: done(store, run_id) for run_id in ids} == before
    with pytest.raises(StoreError, match="has been closed"):
        manager.launch(small())
    manager.close()


def test_an_interrupted_run_is_resumed_to_the_same_history(store: Store) -> None:
    config = small(budget=24)
    first = RunManager(store, Settings(slots=1))
    run_id = first.launch(config)[0]
    wait_for(lambda: done(store, run_id) >= 7)
    first.close()
    row = store.get_run(run_id)
    assert (row.state, row.n_done < 24) == ("interrupted", True)
    second = RunManager(store, Settings(slots=1))
    second.step(run_id)
    wait_for(lambda: done(store, run_id) == row.n_done + 1)
    assert stays(lambda: done(store, run_id), 0.4)
    second.resume(run_id)
    wait_state(store, run_id, "finished")
    assert history(store, run_id) == reference(config)
    second.close()


def test_ten_failures_in_a_row_end_the_run_as_failed(
    store: Store, manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = float("nan"), "ValueError: no"
    monkeypatch.setattr(sys.modules[Runner.__module__], "evaluate_once", lambda objective, x: failure)
    run_id = manager.launch(small(budget=50))[0]
    row = wait_state(store, run_id, "failed")
    assert row.n_done == 10
    assert "10 evaluations in a row failed" in row.error
    assert row.best is None


def test_an_error_of_our_own_ends_the_run_with_its_sentence(
    store: Store, manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Runner) -> Any:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Runner, "step", broken)
    run_id = manager.launch(small())[0]
    assert wait_state(store, run_id, "failed").error == "ZeroDivisionError: by zero"


def test_commands_from_many_threads(store: Store, manager: RunManager) -> None:
    """Whatever twenty browser sessions press, the history is the run's own."""
    config = small(budget=60, method="random")
    run_id = manager.launch(config)[0]
    errors: list[BaseException] = []

    def press(i: int) -> None:
        for j in range(6):
            try:
                (manager.pause, manager.step, manager.resume)[(i + j) % 3](run_id)
            except StoreError as error:  # it may have finished
                if "finished" not in str(error):
                    errors.append(error)

    threads = [threading.Thread(target=press, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    if store.get_run(run_id).state != "finished":
        manager.resume(run_id)
    wait_state(store, run_id, "finished")
    assert history(store, run_id) == reference(config)


def test_an_interrupted_run_can_be_cancelled(store: Store) -> None:
    first = RunManager(store, Settings(slots=1))
    run_id = first.launch(small(budget=50, method="random"), paused=True)[0]
    wait_state(store, run_id, "paused")
    first.close()
    second = RunManager(store, Settings(slots=1))
    second.cancel(run_id)
    assert store.get_run(run_id).state == "cancelled"
    with pytest.raises(StoreError, match="is cancelled and cannot be cancelled"):
        second.cancel(run_id)
    second.close()


def test_a_run_at_its_limit_can_be_extended(store: Store) -> None:
    limits = LimitSettings(all=Limits(active=1, queued=0))
    manager = RunManager(store, Settings(slots=1, limits=limits))
    run_id = manager.launch(small(budget=5, method="random"), paused=True)[0]
    manager.extend(run_id, 2)
    assert store.get_run(run_id).budget == 7
    manager.close()


def test_repeats_share_a_name_and_a_single_run_names_its_seed(store: Store, manager: RunManager) -> None:
    config = small(budget=2, seed=7, method="random")
    alone, *repeats = [
        store.get_run(run_id).name for run_id in [*manager.launch(config), *manager.launch(config.seeds(2))]
    ]
    assert ", seed 7, " in alone
    assert len(set(repeats)) == 1
    assert "seed" not in repeats[0]
