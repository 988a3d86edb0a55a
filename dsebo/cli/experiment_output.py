"""What `dsebo sweep` and `dsebo race` show: bars, a table and what is seen at the end; or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from dsebo.cli.output import progress_bar
from dsebo.config import predict
from dsebo.experiments.entrants import CLIPPED, are_clipped
from dsebo.experiments.findings import report
from dsebo.experiments.progress import Plan, waiting_words
from dsebo.experiments.records import ExperimentRow
from dsebo.experiments.status import CENTRE, cell_labels, evaluated, first_known, race_standings
from dsebo.paper.comparison import printed_mean
from dsebo.store.schema import ENDED
from dsebo.text import count, duration, number


class SweepOutput:
    """One experiment on a terminal."""

    command = "sweep"

    def __init__(self, experiment: ExperimentRow, as_json: bool, stored: bool = True) -> None:
        self._experiment, self._json, self._stored = experiment, as_json, stored
        self._bar: Progress | None = None
        self._tasks: list[TaskID] = []
        self._told: set[str] = set()
        self._waits = ""  # for what, as it was said

    @property
    def resuming(self) -> str:
        """How to go on with it."""
        return f"dsebo {self.command} {self._experiment.short_id} --resume goes on."

    def begin(self, plan: Plan, runs: pd.DataFrame) -> None:
        """What is planned, what is there already, and what the rest will take."""
        experiment = self._experiment
        if self._json:
            about = {"event": "sweep-started", "id": experiment.id, "name": experiment.name}
            counts = {"runs": plan.total, "reused": plan.finished, "seconds": plan.seconds}
            _print({**about, **counts, "memory": plan.memory_bytes, "workers": plan.workers})
            self._told = set(runs.loc[runs["state"] == "finished", "hash"])
            return
        typer.echo(f"Sweep {experiment.short_id}, {experiment.name}: {_planned(plan)}.", err=True)
        if plan.finished < plan.total:
            typer.echo(f"If interrupted, {self.resuming}", err=True)

    @contextmanager
    def bars(self) -> Iterator[None]:
        """Progress bars, where someone sees them."""
        with progress_bar() as bar:
            self._bar = bar
            self._tasks = [bar.add_task(label, total=None) for label in self._bar_labels()]
            yield
            self._bar = None

    def watch(self, runs: pd.DataFrame, state: str) -> None:
        """How the runs stand now, and the experiment's state."""
        self._tell_waiting(waiting_words(runs) if state == "running" else "")
        if self._bar is not None:
            for task, (done, total) in zip(self._tasks, self._bar_values(runs), strict=True):
                self._bar.update(task, completed=done, total=total)
        self._watch_json(runs)

    def end(self, experiment: ExperimentRow, runs: pd.DataFrame) -> None:
        """How it ended."""
        self._experiment = experiment
        if self._json:
            self._watch_json(runs)
            states = {str(state): int(n) for state, n in runs["state"].value_counts().items()}
            about = {"event": "sweep-ended", "id": experiment.id, "state": experiment.state}
            _print({**about, "error": experiment.error, "runs": states})
            return
        self.show(runs)

    def show(self, runs: pd.DataFrame) -> None:
        """A table of its cells and what is seen in them."""
        experiment = self._experiment
        if self._json:
            about = {name: getattr(experiment, name) for name in ("id", "name", "state", "error")}
            rows = [_plain(row) for row in runs.to_dict("records")]
            _print({**about, "spec": experiment.spec.plain(), "runs": rows})
            return
        Console().print(self._table(runs))
        for sentence in report(runs, experiment.spec.fields).texts:
            typer.echo(sentence)
        done = int(runs["state"].eq("finished").sum())
        typer.echo(f"Sweep {experiment.short_id} {experiment.state}: {done} of {len(runs)} runs finished.")
        self._say_problem()

    def _say_problem(self) -> None:
        if self._experiment.error:
            typer.echo(self._experiment.error, err=True)
        if self._stored and self._experiment.state in ("interrupted", "cancelled", "failed"):
            typer.echo(self.resuming, err=True)

    def _bar_labels(self) -> list[str]:
        return ["runs", "evaluations"]

    def _bar_values(self, runs: pd.DataFrame) -> list[tuple[int, int]]:
        """(done, total) of each bar."""
        ended = int(runs["state"].isin(ENDED).sum())
        return [(ended, len(runs)), (int(evaluated(runs).sum()), int(runs["budget"].sum()))]

    def _watch_json(self, runs: pd.DataFrame) -> None:
        if not self._json:
            return
        for row in runs[runs["state"].isin(ENDED)].to_dict("records"):
            if row["hash"] not in self._told:
                self._told.add(str(row["hash"]))
                _print({"event": "run-ended", **_plain(row)})

    def _tell_waiting(self, text: str) -> None:
        """Once, until it changes."""
        if text == self._waits:
            return
        self._waits = text
        if text and self._json:
            _print({"event": "sweep-waiting", "text": f"{text}."})
        elif text:
            typer.echo(f"{text}.", err=True)

    def _table(self, runs: pd.DataFrame) -> Table:
        table = _new_table("cell", "runs", "mean", "std", "best", "d", "seconds")
        for cell in self._experiment.spec.cells():
            own = runs[runs["cell"] == cell.index]
            done = own[own["state"] == "finished"]
            best = done["best"]
            values = (best.mean(), best.std(), best.min(), done["d"].mean(), done["seconds"].mean())
            table.add_row(cell.label, f"{len(done)}/{len(own)}", *(number(float(v)) for v in values))
        return table


class RaceOutput(SweepOutput):
    """The same with a bar for each method, and standings at the end."""

    command = "race"

    def begin(self, plan: Plan, runs: pd.DataFrame) -> None:
        """What the race will cost, and who loses by construction; on standard error."""
        spec = self._experiment.spec
        configs = spec.first_configs()
        for label, config in zip(cell_labels(spec), configs, strict=True):
            cost = predict(config)
            memory = cost.memory_bytes / 1e6
            typer.echo(f"{label}: about {cost.seconds:.2g} s and {memory:.0f} MB per run", err=True)
        entrants = f"{count(len(configs), 'method')} from {count(len(spec.seeds), 'seed')}"
        typer.echo(f"{entrants}: {_planned(plan)}.", err=True)
        if self._stored and plan.finished < plan.total:
            typer.echo(f"If interrupted, {self.resuming}", err=True)
        if are_clipped(configs):
            typer.echo(f"Note: {CLIPPED}", err=True)

    def end(self, experiment: ExperimentRow, runs: pd.DataFrame) -> None:
        """Who won."""
        self._experiment = experiment
        self.show(runs)

    def show(self, runs: pd.DataFrame) -> None:
        """The standings, and the lines to read them against."""
        if self._json:
            _print(self._object(runs))
        else:
            centre, minimum = first_known(runs["at_centre"]), first_known(runs["minimum"])
            lines = [f"The centre of the box has {number(centre)}"] if centre is not None else []
            lines.append("F* is not known" if minimum is None else f"F* = {number(minimum)}")
            seeds = count(len(self._experiment.spec.seeds), "seed")
            reading = f"{'; '.join(lines)}. Means over {seeds}."
            Console().print(self._table(runs), reading, sep="\n", highlight=False)
            for sentence in report(runs, self._experiment.spec.fields).texts:
                typer.echo(sentence)
        self._say_problem()

    def _bar_labels(self) -> list[str]:
        return cell_labels(self._experiment.spec)

    def _bar_values(self, runs: pd.DataFrame) -> list[tuple[int, int]]:
        sums = runs.assign(done=evaluated(runs)).groupby("cell")[["done", "budget"]].sum()
        return [(int(done), int(total)) for done, total in sums.to_numpy()]

    def _watch_json(self, runs: pd.DataFrame) -> None:
        """One object at the end says it all."""

    def _standings(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Who leads, with what the paper prints for the same setting."""
        spec = self._experiment.spec
        table = race_standings(spec, runs)
        configs = dict(zip(cell_labels(spec), spec.first_configs(), strict=True))
        printed = [
            printed_mean(configs[label].model_dump(mode="json")) if label in configs else None
            for label in table["method"]
        ]
        return table.assign(paper=pd.Series(printed, dtype=float))

    def _object(self, runs: pd.DataFrame) -> dict[str, Any]:
        spec = self._experiment.spec
        configs = spec.first_configs()
        first = configs[0].model_dump(mode="json")
        rows = runs.assign(
            label=[cell_labels(spec)[cell] for cell in runs["cell"]],
            method=[configs[cell].optimizer.method for cell in runs["cell"]],
            d=runs["d"].astype("Int64").astype(object),
            id=runs["run_id"] if self._stored else None,
        )
        rows = rows.sort_values("seed", key=lambda seeds: seeds.map(spec.seeds.index), kind="stable")
        columns = ["id", "method", "label", "seed", "best", "d", "seconds", "state"]
        return {
            "id": self._experiment.id if self._stored else None,
            "objective": first["objective"],
            "budget": first["budget"],
            "seeds": list(spec.seeds),
            "at_centre": first_known(runs["at_centre"]),
            "minimum": first_known(runs["minimum"]),
            "standings": [_plain(row) for row in self._standings(runs).to_dict("records")],
            "runs": [_plain(row) for row in rows[columns].to_dict("records")],
        }

    def _table(self, runs: pd.DataFrame) -> Table:
        frame = self._standings(runs)
        columns = ["runs", "mean", "std", "best", "d", "seconds"]
        columns += ["paper"] if frame["paper"].notna().any() else []
        table = _new_table("", "method", *columns)
        for place, row in enumerate(frame.to_dict("records"), start=1):
            style = "dim" if row["method"] == CENTRE else None
            values = (number(float(row[name])) for name in columns)
            table.add_row(str(place), str(row["method"]), *values, style=style)
        return table


def _new_table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        words = name in ("cell", "method")
        table.add_column(name, justify="left" if words else "right", no_wrap=name != "method")
    return table


def _planned(plan: Plan) -> str:
    """`6 runs, 2 of them in the store already; about 4 s on 2 workers, 612 MB`."""
    reused = f", {plan.finished} of them in the store already" if plan.finished else ""
    if plan.finished == plan.total:
        return f"{count(plan.total, 'run')}{reused}; nothing left to run"
    time, workers = duration(max(1.0, plan.wall_seconds)), count(plan.workers, "worker")
    memory = f"{plan.memory_bytes / 1e6:.0f} MB"
    return f"{count(plan.total, 'run')}{reused}; about {time} on {workers}, {memory}"


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    """A row of a frame as JSON has it: no NaN."""
    missing = {name for name, value in row.items() if pd.isna(value) or value in (math.inf, -math.inf)}
    return {str(name): None if name in missing else value for name, value in row.items()}


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line, ensure_ascii=False, allow_nan=False), flush=True)
