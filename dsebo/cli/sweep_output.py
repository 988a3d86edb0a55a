"""What `dsebo sweep` shows: bars while it runs, a table and what is seen at the end; or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from dsebo.cli.output import progress_bar
from dsebo.experiments.findings import findings
from dsebo.experiments.plan import Plan
from dsebo.experiments.progress import ENDED, waiting_words
from dsebo.experiments.records import SweepRow


class SweepOutput:
    """One sweep on a terminal.

    Args:
        sweep: The sweep.
        as_json: JSON objects on standard output in place of everything else.
    """

    def __init__(self, sweep: SweepRow, as_json: bool) -> None:
        self._sweep, self._json = sweep, as_json
        self._bar: Progress | None = None
        self._told: set[str] = set()
        self._waits = ""  # for what, as it was said

    def begin(self, plan: Plan, runs: pd.DataFrame) -> None:
        """What is planned, what is there already, and what the rest will take."""
        if self._json:
            about = {"event": "sweep-started", "id": self._sweep.id, "name": self._sweep.name}
            counts = {"runs": plan.total, "reused": plan.finished, "seconds": plan.seconds}
            _print({**about, **counts, "memory": plan.memory_bytes, "workers": plan.workers})
            self._told = set(runs.loc[runs["state"] == "finished", "hash"])
            return
        sweep = self._sweep
        reused = f", {plan.finished} of them in the store already" if plan.finished else ""
        planned = f"{_count(plan.total, 'run')}{reused}; {_costs(plan)}"
        typer.echo(f"Sweep {sweep.short_id}, {sweep.name}: {planned}.", err=True)
        if plan.finished < plan.total:
            typer.echo(f"If interrupted, dsebo sweep {sweep.short_id} --resume goes on.", err=True)

    @contextmanager
    def bars(self) -> Iterator[None]:
        """Progress bars, where someone sees them."""
        bar = progress_bar()
        if self._json or not bar.console.is_terminal:
            yield
            return
        with bar:
            self._bar = bar
            self._runs = bar.add_task("runs", total=self._sweep.spec.total)
            self._evaluations = bar.add_task("evaluations", total=None)
            yield
            self._bar = None

    def watch(self, runs: pd.DataFrame, state: str) -> None:
        """How the runs stand now, and the sweep's state."""
        self._tell_waiting(waiting_words(runs) if state == "running" else "")
        if self._json:
            self._tell_ended(runs)
        elif self._bar is not None:
            done = int(runs["state"].isin(ENDED).sum())
            self._bar.update(self._runs, completed=done, total=len(runs))
            total = int(runs["budget"].sum())
            evaluated = int(runs["n_done"].where(runs["state"] != "finished", runs["budget"]).sum())
            self._bar.update(self._evaluations, completed=evaluated, total=total)

    def end(self, sweep: SweepRow, runs: pd.DataFrame) -> None:
        """How it ended."""
        self._sweep = sweep
        if self._json:
            self._tell_ended(runs)
            states = {str(state): int(n) for state, n in runs["state"].value_counts().items()}
            about = {"event": "sweep-ended", "id": sweep.id, "state": sweep.state}
            _print({**about, "error": sweep.error, "runs": states})
            return
        self.show(runs)

    def show(self, runs: pd.DataFrame) -> None:
        """A table of its cells and what is seen in them."""
        sweep = self._sweep
        if self._json:
            about = {"id": sweep.id, "name": sweep.name, "state": sweep.state, "error": sweep.error}
            rows = [_plain(row) for row in runs.to_dict("records")]
            _print({**about, "spec": sweep.spec.plain(), "runs": rows})
            return
        Console().print(_table(sweep, runs))
        for sentence in findings(runs, sweep.spec.fields):
            typer.echo(sentence)
        done = int(runs["state"].eq("finished").sum())
        typer.echo(f"Sweep {sweep.short_id} {sweep.state}: {done} of {len(runs)} runs finished.")
        if sweep.error:
            typer.echo(sweep.error, err=True)
        if sweep.state in ("interrupted", "cancelled", "failed"):
            typer.echo(f"dsebo sweep {sweep.short_id} --resume goes on.", err=True)

    def _tell_waiting(self, said: str) -> None:
        """Once, until it changes."""
        if said == self._waits:
            return
        self._waits = said
        if said and self._json:
            _print({"event": "sweep-waiting", "text": f"{said}."})
        elif said:
            typer.echo(f"{said}.", err=True)

    def _tell_ended(self, runs: pd.DataFrame) -> None:
        for row in runs[runs["state"].isin(ENDED)].to_dict("records"):
            if row["hash"] not in self._told:
                self._told.add(str(row["hash"]))
                _print({"event": "run-ended", **_plain(row)})


def _table(sweep: SweepRow, runs: pd.DataFrame) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("cell", no_wrap=True)
    for name in ("runs", "mean", "std", "best", "d", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in sweep.spec.cells():
        own = runs[runs["cell"] == cell.index]
        done = own[own["state"] == "finished"]
        best = done["best"]
        numbers = (best.mean(), best.std(), best.min(), done["d"].mean(), done["seconds"].mean())
        count = f"{len(done)}/{len(own)}"
        table.add_row(cell.label, count, *(_number(float(number)) for number in numbers))
    return table


def _costs(plan: Plan) -> str:
    """Of what is left, as predicted."""
    if plan.finished == plan.total:
        return "nothing left to run"
    workers = _count(plan.workers, "worker")
    return f"about {_duration(plan.wall_seconds)} on {workers}, {plan.memory_bytes / 1e6:.0f} MB"


def _number(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}" if math.isfinite(value) else "–"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    """A row of the frame as JSON has it: no NaN."""
    return {
        str(name): None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def _print(one: dict[str, Any]) -> None:
    print(json.dumps(one, ensure_ascii=False, allow_nan=False), flush=True)
