"""What a page costs: refreshes, bytes on the wire, 5 000 runs, 30 browsers. Linux only.

    python -m benchmarks.dashboard

A real server, asked by browsers that speak its protocol. Times are the server's CPU time, which
other work on the machine disturbs less than the clock; "wall" is what a reader waits.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path

from benchmarks.browsers import Browser, Refresh
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled

ROOT = Path(__file__).parents[1]
WATCHERS = 30
RUNS = 5000


class Server:
    """The app on a free port, with a store of its own."""

    def __init__(self, folder: str) -> None:
        self.database = f"{folder}/runs.db"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        (Path(folder) / "settings.toml").touch()
        env = {
            **os.environ,
            "DSEBO_DB": f"sqlite:///{self.database}",
            "DSEBO_SETTINGS": f"{folder}/settings.toml",
        }
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "app.py",
            "--server.port",
            str(self.port),
            "--server.address",
            "127.0.0.1",
            "--server.fileWatcherType",
            "none",
        ]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def wait(self) -> None:
        """Until it answers."""
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=1)
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("The server was not ready within a minute.")

    def cpu(self) -> float:
        """Seconds of CPU time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(timeout=20)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        import_bundled(store)
        manager = RunManager(store, Settings())
        short, long = [row.id for row in store.list_runs(RunFilter(search="Sphere, the paper's setting"))[:2]]
        _hold(manager, short)
        _hold(manager, long)
        _lengthen(store, long)
        server = Server(folder)
        try:
            server.wait()
            Browser(server.port).open()  # imports torch
            refreshes(server, store, short, long)
            watchers(server, store, short)
            many_runs(server)
        finally:
            server.close()
            manager.close()
            store.close()


def _hold(manager: RunManager, run_id: str) -> None:
    """Let a finished run live again, and pause it: it is polled, and changes when we say so."""
    manager.set_speed(run_id, 0.05)
    manager.extend(run_id, 100)
    manager.pause(run_id)
    for _ in range(600):
        if manager.store.get_run(run_id).state == "paused":
            return
        time.sleep(0.05)
    raise RuntimeError("The run did not pause.")


def _lengthen(store: Store, run_id: str) -> None:
    """Make it a run of 10 000 evaluations: its first 500, twenty times over."""
    with closing(sqlite3.connect(str(store.engine.url.database))) as database:
        database.execute("delete from evaluation where run_id = ? and t > 500", (run_id,))
        names = [c[1] for c in database.execute("pragma table_info(evaluation)")]
        picked = ", ".join("t + :k * 500" if n == "t" else f'"{n}"' for n in names)
        listed = ", ".join(f'"{name}"' for name in names)
        copy = f"insert into evaluation ({listed}) select {picked} from evaluation "
        for k in range(1, 20):
            where = "where run_id = :run and t <= 500"
            database.execute(copy + where, {"k": k, "run": run_id})
        database.execute("update run set n_done = 10000, budget = 10100 where id = ?", (run_id,))
        database.commit()


def refreshes(server: Server, store: Store, short: str, long: str) -> None:
    """One browser: a page that is drawn again, at 500 and at 10 000 evaluations."""
    for run_id, limit in ((short, 100), (long, 250)):
        browser = Browser(server.port, f"run={run_id}")
        browser.open()
        cold, warm = _measured(server, store, browser, run_id)
        n = store.get_run(run_id).n_done
        size = statistics.median(r.bytes for r in cold[0])
        print(
            f"refresh at {n} evaluations: {1000 * cold[1]:.0f} ms of CPU, wall "
            f"{1000 * statistics.median(r.seconds for r in cold[0]):.0f} ms (promised < {limit}), "
            f"{size / 1000:.1f} kB on the wire; unchanged {1000 * warm:.0f} ms"
        )
        browser.close()


def _measured(
    server: Server, store: Store, browser: Browser, run_id: str, times: int = 12
) -> tuple[tuple[list[Refresh], float], float]:
    """((refreshes after one more evaluation each, CPU a refresh), CPU of one without change)."""
    began, found = server.cpu(), []
    for _ in range(times):
        _one_more(store, run_id)
        time.sleep(0.22)  # within 0.2 s all get what one has read
        found.append(browser.refresh())
    changed = (server.cpu() - began) / times
    began = server.cpu()
    for _ in range(times):
        browser.refresh()
    return (found, changed), (server.cpu() - began) / times


def _one_more(store: Store, run_id: str) -> None:
    """One more evaluation, as if the run went on."""
    with closing(sqlite3.connect(str(store.engine.url.database))) as database:
        names = [c[1] for c in database.execute("pragma table_info(evaluation)")]
        picked = ", ".join("t + 1" if n == "t" else f'"{n}"' for n in names)
        listed = ", ".join(f'"{name}"' for name in names)
        database.execute(
            f"insert into evaluation ({listed}) select {picked} from evaluation "
            "where run_id = :run and t = (select n_done from run where id = :run)",
            {"run": run_id},
        )
        database.execute("update run set n_done = n_done + 1 where id = ?", (run_id,))
        database.commit()


def watchers(server: Server, store: Store, run_id: str) -> None:
    """Thirty browsers on one run: what each costs, and what a run at work loses."""
    crowd = [Browser(server.port, f"run={run_id}") for _ in range(WATCHERS)]
    for browser in crowd:
        browser.open()
    costs = []
    for _ in range(5):
        _one_more(store, run_id)
        time.sleep(0.22)
        crowd[0].refresh()  # draws the figure
        began = server.cpu()
        for browser in crowd[1:]:
            browser.refresh()
        costs.append((server.cpu() - began) / (WATCHERS - 1))
    for browser in crowd:
        browser.close()
    alone, crowded = (_run_watched(server, store, count) for count in (1, WATCHERS))
    print(
        f"{WATCHERS} browsers: polling every {crowded[1]:.1f} s instead of {alone[1]:.1f} s; a "
        f"refresh of each further one costs {1000 * statistics.median(costs):.1f} ms of CPU "
        f"(promised ≤ 10); the run takes {crowded[0]:.1f} s instead of {alone[0]:.1f} s, "
        f"{crowded[0] / alone[0]:.2f} times"
    )


def _run_watched(server: Server, store: Store, count: int) -> tuple[float, float]:
    """(seconds that a run of 200 evaluations took, seconds between two refreshes)."""
    first = Browser(server.port, "D=1000&budget=200")
    first.open()
    first.press("Launch")
    run_id = first.query.split("run=")[1].split("&")[0]
    others = [Browser(server.port, f"run={run_id}") for _ in range(count - 1)]
    for other in others:
        other.open()
    n, began = store.get_run(run_id).n_done, time.monotonic()
    due = {browser: time.monotonic() + browser.every for browser in (first, *others)}
    while (row := store.get_run(run_id)).n_done < 190:
        browser = min(due, key=lambda one: due[one])
        time.sleep(max(0.0, min(0.2, due[browser] - time.monotonic())))
        if due[browser] <= time.monotonic():
            browser.refresh()
            due[browser] = time.monotonic() + browser.every
    seconds = (time.monotonic() - began) * 200 / (row.n_done - n)
    every = statistics.median(browser.every for browser in due)
    for browser in due:
        browser.close()
    return seconds, every


def many_runs(server: Server) -> None:
    """The table of runs with thousands of them."""
    with closing(sqlite3.connect(server.database)) as database:
        names = [c[1] for c in database.execute("pragma table_info(run)")]
        listed = ", ".join(f'"{name}"' for name in names)
        picked = ", ".join("lower(hex(randomblob(16)))" if n == "id" else f'"{n}"' for n in names)
        each = RUNS // database.execute("select count(*) from run").fetchone()[0] + 1
        rows = f"with recursive k(i) as (select 1 union all select i + 1 from k where i < {each})"
        database.execute(f"{rows} insert into run ({listed}) select {picked} from run, k")
        database.commit()
        total = database.execute("select count(*) from run").fetchone()[0]
    browser = Browser(server.port, page="runs")
    before = server.cpu()
    opened = browser.open()
    print(
        f"runs page with {total} runs: {opened.seconds:.2f} s (promised < 1), "
        f"{server.cpu() - before:.2f} s of CPU, {opened.bytes / 1e6:.1f} MB"
    )
    again = browser.open()
    print(f"  opened again: {again.seconds:.2f} s")


if __name__ == "__main__":
    main()
