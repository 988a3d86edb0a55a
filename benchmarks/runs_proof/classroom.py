"""A class of 40 beside a script, behind a proxy, and with few open files."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.browsers import Browser
from dsebo.config import RunConfig
from dsebo.runs.admission import Admission
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from tests.processes import answers, anywhere, dsebo, free_port, start
from tests.small import small, wait_for, wait_state


def a_class(folder: Path) -> None:
    """40 students join and launch within a minute, beside a script with 18 owners."""
    settings = Settings(mode="class", lecturer_token="t" * 16, join_code="c" * 10, slots=2)
    store = Store.open(str(folder / "class.db"))
    manager = RunManager(store, settings)
    door = Admission(settings, store)
    wait_state(store, manager.launch(small(budget=8))[0], "finished", seconds=60)  # what is imported once
    for token in [door.admit("", settings.join_code, "192.0.2.1") for _ in range(18)]:
        large = RunConfig.parse({"objective": {"D": 20_000}, "optimizer": {"d_h": 200}, "budget": 300})
        manager.launch(large.seeds(4), owner=token)
        manager.launch(small(budget=2000, method="random").seeds(20), owner=token, speed=0.05)
        manager.launch(small(budget=2000, method="random").seeds(20), owner=token, paused=True)
    config = RunConfig.parse({"objective": {"name": "sphere", "D": 1000}, "budget": 60})
    students: dict[str, _Student] = {}
    began = time.monotonic()
    for number in range(40):
        student = _Student(time.monotonic())
        token = door.admit("", settings.join_code, "192.0.2.1")
        students[manager.launch(config, owner=token)[0]] = student
        while time.monotonic() < began + 1.2 * (number + 1):
            _watch(store, students)
    joined = time.monotonic() - began
    while not all(student.n_done == config.budget for student in students.values()):
        assert time.monotonic() < began + 300, "a student's run has not ended"
        _watch(store, students)
    waited = sorted(student.first_point for student in students.values())
    longest = max(student.longest for student in students.values())
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    manager.close(10.0)
    store.close()
    print(
        f"class: 40 students joined and launched in {joined:.0f} s beside a script with 792 runs; "
        f"first point after {waited[20]:.1f} s in the median and {waited[-1]:.1f} s at most (limit 5 s), "
        f"{longest:.1f} s at most without a new one (limit 10 s), none refused; "
        f"at most {most:.0f} MB (limit 2000 MB)"
    )
    _check(joined, waited[-1], longest, most)


@dataclass
class _Student:
    """What one student waits for."""

    since: float  # the launch or the last new point
    n_done: int = 0
    first_point: float = 0.0
    longest: float = 0.0


def _watch(store: Store, students: dict[str, _Student]) -> None:
    """Note who has new points; then wait a little."""
    for row in store.list_runs(RunFilter(ids=list(students))):
        student, now = students[row.id], time.monotonic()
        if row.n_done == student.n_done:
            continue
        waited = now - student.since
        student.first_point = student.first_point or waited
        student.n_done, student.since, student.longest = row.n_done, now, max(waited, student.longest)
    time.sleep(0.05)


def tabs(folder: Path) -> None:
    """The same class at the dashboard, a tab for each, beside 18 owners whose large runs are at work."""
    port, code = free_port(), "c" * 10
    (folder / "class.toml").write_text(
        f'mode = "class"\nslots = 2\njoin_code = "{code}"\nlecturer_token = "{"t" * 16}"\n'
    )
    with _dashboard(folder, port, "class.toml") as server:
        for number in range(18):
            script = _Tab(port, f"join={code}&D=20000&d_h=200&budget=300&seed={1 + number}")
            script.open()
            script.press("Launch")
            assert not script.said, script.said
        began = time.monotonic()
        with ThreadPoolExecutor(40) as pool:
            students = list(pool.map(partial(_student, port, code, began), range(40)))
        words = Path(f"/proc/{server}/status").read_text()
        most = int(re.findall(r"VmHWM:\s*(\d+) kB", words)[0]) * 1024 / 1e6
    joined = max(student.since for student in students) - began
    waited = sorted(student.first_point for student in students)
    longest = max(student.longest for student in students)
    print(
        f"tabs: 40 students joined and launched in {joined:.0f} s; their pages showed a first point after "
        f"{waited[20]:.1f} s in the median and {waited[-1]:.1f} s at most (limit 5 s), {longest:.1f} s at "
        f"most without a new one (limit 10 s), none refused; at most {most:.0f} MB (limit 2000 MB)"
    )
    _check(joined, waited[-1], longest, most)


class _Tab(Browser):
    """It reads from a run's page how many evaluations are done."""

    n_done = 0

    def _note(self, answer: Any) -> None:
        super()._note(answer)
        part = answer.delta.new_element.bidi_component
        if part.component_name == "live_status" and (done := re.search(rb"(\d+) of 60 eval", part.bytes)):
            self.n_done = int(done[1])


def _student(port: int, code: str, began: float, number: int) -> _Student:
    """Joins, launches, and watches to the end."""
    time.sleep(max(0.0, began + 1.2 * number - time.monotonic()))
    tab = _Tab(port, f"join={code}&function=sphere&D=1000&budget=60&seed={number + 1}")
    tab.open()
    pressed = time.monotonic()
    tab.press("Launch")
    assert not tab.said, tab.said
    student, last = _Student(time.monotonic()), pressed
    while student.n_done < 60:
        tab.refresh()
        now = time.monotonic()
        assert now < began + 300, "a student's run has not ended"
        if tab.n_done > student.n_done:
            student.n_done, student.longest = tab.n_done, max(student.longest, now - last)
            student.first_point, last = student.first_point or now - last, now
        time.sleep(tab.every or 0.1)
    tab.close()
    return student


FILES, LOADS = 256, 120


def files(folder: Path) -> None:
    """120 quick page loads where 256 files may be open, and no more can be asked for."""
    port, pages = free_port(), ("learn", "", "experiments", "paper")
    (folder / "none.toml").touch()
    most = 0
    with _dashboard(folder, port, "none.toml", "prlimit", f"--nofile={FILES}:{FILES}") as server:
        for number in range(LOADS):
            browser = Browser(port, page=pages[number % len(pages)])
            browser.open()
            assert not browser.said, browser.said
            browser.close()
            most = max(most, len(os.listdir(f"/proc/{server}/fd")))
    print(
        f"files: {LOADS} page loads with {FILES} open files allowed, none refused; at most {most} were open"
    )


@contextmanager
def _dashboard(folder: Path, port: int, settings: str, *before: str) -> Iterator[int]:
    """`dsebo app` with these settings; the number of its server's process."""
    env = {**anywhere(), "DSEBO_DB": f"sqlite:///{folder}/runs.db", "DSEBO_SETTINGS": f"{folder}/{settings}"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    app = start([*before, *dsebo("app", "--port", str(port), "--no-browser")], env=env, **quiet)
    try:
        wait_for(lambda: answers(port), 60)
        yield int(Path(f"/proc/{app.pid}/task/{app.pid}/children").read_text().split()[0])
    finally:
        app.terminate()
        app.wait(30)


def _check(joined: float, first_point: float, longest: float, megabytes: float) -> None:
    """What a class of 40 is promised, by the manager and at real pages alike."""
    assert joined < 60
    assert first_point < 5
    assert longest < 10
    assert megabytes < 2000
