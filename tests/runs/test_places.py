"""Who may start, who makes room: a class in which nobody can keep the others out."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from dsebo.run import Runner
from dsebo.runs import places, worker
from dsebo.runs.manager import RunManager
from dsebo.runs.places import Job, Places
from dsebo.runs.slots import CREDIT_SECONDS, LONG_WAIT, QUICK_SECONDS, FairSlots
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store.leases import Lease
from dsebo.store.store import Store
from tests.small import history, reference, small, wait_for, wait_state

RANDOM = small(budget=6, method="random")


def class_of(owner: Limits | None = None, **of_all: Any) -> Settings:
    limits = LimitSettings(all=Limits(**{"queued": 1000, **of_all}), owner=owner or Limits())
    return Settings(mode="class", slots=2, limits=limits)


class Queue:
    """Places with a clock that is set by hand."""

    def __init__(self, settings: Settings) -> None:
        self.now = 0.0
        self.places = Places(lambda: settings, lambda: self.now)
        self.jobs: dict[str, Job] = {}

    def add(self, name: str, megabytes: float = 1) -> None:
        """A run named by its owner and a number: "anna 1"."""
        job = Job(Lease(name, name), name.split()[0], int(1e6 * megabytes))
        self.places.queue[name] = self.jobs[name] = job

    def start(self) -> list[str]:
        started = []
        while (job := self.places.start_next()) is not None:
            started.append(job.lease.run_id)
        return started

    def leave(self, name: str, again: bool = True) -> bool:
        """Whether it must; it then goes to the end of the queue."""
        if not self.places.must_leave(self.jobs[name]):
            return False
        del self.places.at_work[name]
        if again:
            self.places.queue[name] = self.jobs[name]
        return True


def test_a_waiting_run_holds_no_place_and_takes_it_again_at_once() -> None:
    queue = Queue(class_of(active=1))
    for name in ("anna 1", "anna 2"):
        queue.add(name)
    assert queue.start() == ["anna 1"]
    queue.places.wait(queue.jobs["anna 1"])
    assert queue.start() == ["anna 2"]
    queue.places.go_on(queue.jobs["anna 1"])
    queue.add("anna 3")
    assert queue.start() == []
    queue.now = 60.0
    assert not queue.leave("anna 1")  # turns are between owners, not between the runs of one


def test_who_has_nothing_at_work_starts_at_once_and_the_others_make_room() -> None:
    queue = Queue(class_of(active=2))
    for name in ("anna 1", "anna 2", "anna 3", "ben 1", "ben 2"):
        queue.add(name)
        queue.start()
    assert list(queue.places.at_work) == ["anna 1", "anna 2", "ben 1"]
    assert not queue.leave("anna 1")  # it has just begun
    queue.now = places.TURN_SECONDS
    assert queue.leave("anna 1")  # Ben may have as many
    assert not queue.leave("anna 2")


def test_owners_take_turns_when_every_thread_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "SPARE_THREADS", 0)
    queue = Queue(class_of(active=2))
    for name in ("anna 1", "anna 2", "anna 3", "ben 1"):
        queue.add(name)
    assert queue.start() == ["anna 1", "ben 1"]
    queue.add("carl 1")
    assert queue.start() == []
    assert queue.places.wanted_from() == []
    assert not queue.leave("anna 1")  # it has just begun
    queue.now = places.TURN_SECONDS
    assert queue.places.wanted_from() == [queue.jobs["anna 1"], queue.jobs["ben 1"]]
    assert queue.leave("anna 1")
    assert not queue.leave("ben 1")  # one was enough
    assert queue.start() == ["carl 1"]
    queue.now *= 2
    assert queue.leave("ben 1")
    assert queue.start() == ["anna 2"]


def test_memory_of_waiting_runs_goes_to_who_needs_it() -> None:
    queue = Queue(class_of(memory_mb=100))
    queue.add("anna 1", 60)
    queue.add("anna 2", 30)
    queue.add("ben 1", 50)
    assert queue.start() == ["anna 1"]  # then Ben, who has none at work, is next, and does not fit
    assert not queue.leave("anna 1")
    queue.places.wait(queue.jobs["anna 1"])
    assert queue.start() == []
    assert queue.leave("anna 1", again=False)
    assert queue.start() == ["ben 1", "anna 2"]


def test_the_memory_of_an_owner_is_the_owners_own_affair() -> None:
    queue = Queue(class_of(Limits(memory_mb=100)))
    for name in ("anna 1", "anna 2", "ben 1", "ben 2"):
        queue.add(name, 60)
    assert queue.start() == ["anna 1", "ben 1"]
    queue.places.wait(queue.jobs["ben 1"])
    assert queue.start() == []
    assert queue.leave("ben 1", again=False)
    assert queue.start() == ["ben 2"]
    queue.now = 60.0
    assert not queue.leave("anna 1")


def test_threads_of_waiting_runs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "SPARE_THREADS", 1)
    queue = Queue(class_of(active=1))
    for number in (1, 2, 3):
        queue.add(f"anna {number}")
        queue.start()
        queue.places.wait(queue.jobs[f"anna {number}"])
    assert queue.start() == []
    assert queue.leave("anna 1", again=False)
    assert queue.start() == ["anna 3"]


def test_a_slowed_run_that_made_room_comes_back_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "SPARE_THREADS", 1)
    queue = Queue(class_of(active=1))
    queue.add("anna 1")
    queue.add("anna 2")
    assert queue.start() == ["anna 1"]
    queue.places.wait(queue.jobs["anna 1"])
    queue.jobs["anna 2"].due = 20.0
    assert queue.start() == []  # to open it would serve its waiting only
    assert queue.places.next_due == 20.0
    queue.now = 20.0
    assert queue.start() == ["anna 2"]


def served(slots: FairSlots, asking: list[tuple[str, float]], waited: float = 0.0) -> list[str]:
    """In which order those who asked in that order, with what they expect, and wait so long get a slot."""
    never, order, threads = threading.Event(), [], []
    assert slots.acquire(never)

    def work(owner: str, expected: float) -> None:
        slots.acquire(never, owner, expected)
        order.append(owner)
        slots.release()

    for number, asked in enumerate(asking, 1):
        threads.append(threading.Thread(target=work, args=asked))
        threads[-1].start()
        wait_for(lambda number=number: len(slots._waiting) == number)
    for ticket in slots._waiting:
        ticket.since -= waited
    slots.release()
    for thread in threads:
        thread.join()
    return order


def test_twenty_runs_of_one_owner_do_not_slow_the_one_of_another() -> None:
    order = served(FairSlots(1), [("anna", 0.01)] * 20 + [("ben", 0.01)] * 2)
    assert [i for i, owner in enumerate(order) if owner == "ben"] == [1, 3]


def test_long_evaluations_do_not_slow_short_ones() -> None:
    order = served(FairSlots(1), [("anna", 2.0), ("ben", 3.0), ("carl", 0.01), ("carl", 0.01)])
    assert order == ["carl", "carl", "anna", "ben"]


def test_an_owner_who_has_had_nothing_for_long_is_next_whatever_came_before() -> None:
    asking = [("anna", 0.01), *[("ben", 0.01)] * 3, ("carl", 9.0), ("dora", 0.015)]
    for waited, order in (
        (0.0, ["ben", "dora", "ben", "ben", "carl", "anna"]),
        (LONG_WAIT, ["anna", "ben", "dora", "ben", "ben", "carl"]),  # one for each, who asks for little
        (36.0, ["anna", "ben", "dora", "carl", "ben", "ben"]),  # by now it is little for carl too
    ):
        slots = FairSlots(1)
        assert slots.acquire(threading.Event(), "anna", 0.0)
        slots._held.by = ("anna", time.monotonic() - 20.0, 0.0)  # it took long once
        slots.release()
        assert served(slots, asking, waited) == order


def test_quick_first_points_come_first_for_who_has_not_had_much_more_than_others() -> None:
    never, much = threading.Event(), CREDIT_SECONDS + 1.0
    for had, takes, expected in (
        (0.0, QUICK_SECONDS, "ben"),
        (much, QUICK_SECONDS, "anna"),
        (0.0, 2 * QUICK_SECONDS, "anna"),
    ):
        slots, order = FairSlots(1), []
        assert slots.acquire(never, "ben", had)

        def work(owner: str, takes: float, slots: FairSlots = slots, order: list[str] = order) -> None:
            slots.acquire(never, owner, takes, first=owner == "ben")
            order.append(owner)
            slots.release()

        both = [threading.Thread(target=work, args=asks) for asks in (("anna", 0.01), ("ben", takes))]
        for number, thread in enumerate(both, 1):
            thread.start()
            wait_for(lambda number=number, slots=slots: len(slots._waiting) == number)
        slots._held.by = ("ben", time.monotonic() - had, had)  # it took what was expected
        slots.release()
        for thread in both:
            thread.join()
        assert order[0] == expected


def test_a_nudge_ends_the_waiting_for_a_slot() -> None:
    slots, never, nudged, got = FairSlots(1), threading.Event(), threading.Event(), []
    assert slots.acquire(never)
    thread = threading.Thread(target=lambda: got.append(slots.acquire(never, "anna", 0.0, nudged)))
    thread.start()
    wait_for(lambda: len(slots._waiting) == 1)
    slots.wake()  # of someone else
    nudged.set()
    slots.wake()
    thread.join(10)
    assert got == [False]
    assert not slots._waiting
    slots.release()
    nudged.clear()
    assert slots.acquire(never, "anna", 0.0, nudged)


def test_what_was_expected_is_put_right_by_what_it_took() -> None:
    slots, never = FairSlots(1), threading.Event()
    assert slots.acquire(never, "anna", 0.0)
    time.sleep(0.1)
    slots.release()
    assert served(slots, [("anna", 0.01), ("ben", 0.05)]) == ["ben", "anna"]
    for _ in range(100):  # an owner who is not ahead is not kept in mind
        assert slots.acquire(never, "", 0.0)
        slots.release()
    assert len(slots._clocks) <= 3


def test_paused_runs_of_a_whole_class_keep_nobody_out(store: Store) -> None:
    """16 students with two paused runs each once filled all 32 places."""
    manager = RunManager(store, class_of(active=4))
    paused = [run for i in range(4) for run in manager.launch(RANDOM.seeds(2), owner=f"{i}", paused=True)]
    for run_id in paused:
        wait_state(store, run_id, "paused")
    slowed = [manager.launch(RANDOM, owner=f"{i}", speed=0.05)[0] for i in range(4)]
    wait_for(lambda: all(store.get_run(run_id).n_done == 1 for run_id in slowed))
    other = manager.launch(RANDOM, owner="other")[0]
    wait_state(store, other, "finished", seconds=10)
    manager.resume(paused[0], "0")
    wait_state(store, paused[0], "finished", seconds=10)
    manager.close()


def test_a_long_pause_frees_its_thread_and_the_run_goes_on_when_resumed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PAUSE_SECONDS", 0.3)
    manager = RunManager(store, Settings(slots=1))
    config = small(budget=12)
    run_id = manager.launch(config, paused=True)[0]
    manager.step(run_id)
    wait_for(lambda: store.get_run(run_id).n_done == 1)
    wait_for(lambda: not manager._sessions)
    assert store.get_run(run_id).state == "paused"
    assert store.mark_interrupted() == 0
    manager.pause(run_id)  # it is
    manager.step(run_id)
    wait_for(lambda: store.get_run(run_id).n_done == 2)
    wait_for(lambda: not manager._sessions)
    manager.close()
    assert store.get_run(run_id).state == "paused"  # nobody worked on it: nothing was interrupted
    other = RunManager(store, Settings(slots=1))
    other.resume(run_id)
    wait_state(store, run_id, "finished")
    assert history(store, run_id) == reference(config)
    second = other.launch(config, paused=True)[0]
    wait_state(store, second, "paused")
    wait_for(lambda: not other._sessions)
    other.cancel(second)
    assert store.get_run(second).state == "cancelled"
    other.close()


def test_runs_that_take_turns_have_the_same_history(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three owners, one place: each run is put back into the queue several times."""
    monkeypatch.setattr(places, "TURN_SECONDS", 0.05)
    monkeypatch.setattr(places, "SPARE_THREADS", 0)
    step = Runner.step

    def slow(self: Runner) -> Any:
        time.sleep(0.02)
        return step(self)

    monkeypatch.setattr(Runner, "step", slow)
    manager = RunManager(store, class_of(active=1))
    config = small(budget=12)
    ids = [manager.launch(config, owner=owner)[0] for owner in ("anna", "ben", "carl")]
    wait_for(lambda: min(store.get_run(run_id).n_done for run_id in ids) >= 1)
    assert max(store.get_run(run_id).n_done for run_id in ids) < 12  # nobody waited for another's end
    for run_id in ids:
        wait_state(store, run_id, "finished")
        assert history(store, run_id) == reference(config)
    manager.close()
