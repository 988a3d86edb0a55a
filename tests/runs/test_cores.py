"""Cores shared out among processes: counted, taken back from the dead, live runs first."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

import pytest

from dsebo.runs import slots
from dsebo.runs.slots import CoreTokens, FairSlots
from tests.small import wait_for

GO = threading.Event()  # never set


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "core_count", lambda: 2)


def in_thread(tokens: CoreTokens, seconds: float = 0.02) -> bool:
    """Whether another thread gets a token; it gives it back."""
    got: list[bool] = []

    def work() -> None:
        got.append(tokens.acquire(GO, seconds))
        tokens.release()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return got[0]


def test_no_more_than_there_are() -> None:
    live, sweep = CoreTokens(live=True), CoreTokens(live=False)
    assert live.acquire(GO, 0.01)
    assert sweep.acquire(GO, 0.01)
    assert not in_thread(live)
    assert not in_thread(sweep)
    sweep.release()
    sweep.release()  # holds nothing: nothing happens
    assert in_thread(live)
    assert in_thread(sweep)
    live.release()


def test_more_slots_than_cores_are_still_granted() -> None:
    live = CoreTokens(3, live=True)
    got: list[bool] = []
    barrier = threading.Barrier(3)

    def work() -> None:
        got.append(live.acquire(GO, 0.01))
        barrier.wait()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 3


HOLD = """
import sys, threading, time
from dsebo.runs import slots
from dsebo.runs.slots import CoreTokens
slots.core_count = lambda: 2
tokens = CoreTokens(live=False)
assert tokens.acquire(threading.Event(), 1)
print("held", flush=True)
time.sleep(60)
"""


def test_a_killed_process_gives_its_token_back() -> None:
    tokens = CoreTokens(live=False)
    assert tokens.acquire(GO, 0.01)
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    assert not in_thread(tokens)
    process.kill()
    process.wait()
    assert in_thread(tokens, 1.0)


def test_a_live_run_goes_before_sweeps() -> None:
    """Two workers that ask again at once would else keep it waiting."""
    done, turns, passed = threading.Event(), count(), []

    def sweep() -> None:
        tokens = CoreTokens(live=False)
        while not done.is_set():
            if tokens.acquire(GO, 0.25):
                next(turns)
                time.sleep(0.02)  # an evaluation
                tokens.release()

    workers = [threading.Thread(target=sweep) for _ in range(4)]
    for worker in workers:
        worker.start()
    live = CoreTokens(live=True)
    for _ in range(20):
        before = next(turns)
        assert live.acquire(GO, 2.0)
        passed.append(next(turns) - before - 1)
        live.release()
        time.sleep(0.005)
    done.set()
    for worker in workers:
        worker.join()
    assert sorted(passed)[10] <= 2  # those who had a core in hand when it asked


def test_a_sweep_is_not_starved() -> None:
    """Live runs always wait; a worker gets its turn all the same."""
    done = threading.Event()

    def work() -> None:
        tokens = CoreTokens(live=True)
        while not done.is_set():
            tokens.acquire(GO, 2.0)
            time.sleep(0.01)
            tokens.release()

    live = [threading.Thread(target=work) for _ in range(4)]
    for thread in live:
        thread.start()
    assert wait_for(lambda: in_thread(CoreTokens(live=False), 5.0))
    done.set()
    for thread in live:
        thread.join()


def test_a_live_run_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsebo.runs.slots.LIVE_PATIENCE", 0.05)
    stuck = [CoreTokens(live=False) for _ in range(2)]  # a stopped process keeps its locks
    assert all(tokens.acquire(GO, 0.01) for tokens in stuck)
    slots = FairSlots(1, CoreTokens(live=True))
    assert slots.acquire(GO)
    slots.release()
    assert not in_thread(stuck[0])  # it did not give back what is not its own


def test_stopping_ends_the_wait() -> None:
    holders = [CoreTokens(live=False) for _ in range(2)]
    assert all(tokens.acquire(GO, 0.01) for tokens in holders)
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    slots = FairSlots(1, CoreTokens(live=True))
    assert not slots.acquire(stop)
    for tokens in holders:
        tokens.release()
    assert slots.acquire(GO)  # the slot was given back


def test_without_a_folder_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DSEBO_CORES", str(tmp_path / "file" / "cores"))
    several = [CoreTokens(live=False) for _ in range(3)]
    assert all(tokens.acquire(GO, 0.0) for tokens in several)
    several[0].release()


def test_the_locks_are_where_only_their_user_can_open_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DSEBO_CORES")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o755)
    monkeypatch.setattr("platformdirs.user_runtime_path", lambda *_, **__: runtime)
    assert slots.tokens_folder() == runtime
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    monkeypatch.setattr("os.getuid", lambda: 4711)  # the folders are another user's
    fallback = tmp_path / "dsebo-cores-4711"
    assert slots.tokens_folder() == fallback
    fallback.mkdir()  # made by the other one, to hold the locks
    assert CoreTokens(live=True)._queue is None  # nobody waits for anything
    assert list(fallback.iterdir()) == []
