"""What a page costs: refreshes, bytes on the wire, 5 000 runs, 1 to 60 browsers. Linux only.

    python -m benchmarks.dashboard

A real server, asked by browsers that speak its protocol. Times are the server's CPU time, which
other work on the machine disturbs less than the clock; "wall" is what a reader waits. In brackets:
what it was on 2026-11-16, when each refresh sent the whole figure.
"""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from contextlib import closing

from benchmarks import watched
from benchmarks.browsers import Browser, Refresh
from benchmarks.server import Server
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled

WATCHERS = 30
RUNS = 5000
BEFORE = ("45 ms, 25.3 kB", "47 ms, 25.3 kB", "8.3 ms")  # at 500 and 10 000 evaluations; a further browser


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
    watched.main()


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
    for run_id, before in zip((short, long), BEFORE, strict=False):
        browser = Browser(server.port, f"run={run_id}")
        browser.open()
        cold, warm = _measured(server, store, browser, run_id)
        n = store.get_run(run_id).n_done
        size = statistics.median(r.bytes for r in cold[0])
        print(
            f"refresh at {n} evaluations: {1000 * cold[1]:.0f} ms of CPU (limit 25), "
            f"{size / 1000:.1f} kB (limit 8) [{before}]; wall "
            f"{1000 * statistics.median(r.seconds for r in cold[0]):.0f} ms; unchanged {1000 * warm:.0f} ms"
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
    """Thirty browsers on one run: what each further one costs."""
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
    print(f"a refresh of each further browser: {1000 * statistics.median(costs):.1f} ms of CPU ({BEFORE[2]})")


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
    browser = Browser(server.port, page="experiments")
    before = server.cpu()
    opened = browser.open()
    print(
        f"Experiments with {total} runs: {opened.seconds:.2f} s (promised < 1), "
        f"{server.cpu() - before:.2f} s of CPU, {opened.bytes / 1e6:.1f} MB"
    )
    again = browser.open()
    print(f"  opened again: {again.seconds:.2f} s")


if __name__ == "__main__":
    main()
