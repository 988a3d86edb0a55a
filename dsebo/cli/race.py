"""`dsebo race`: several methods on one function from the same seeds, in the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from dsebo.cli.flags import AsJson, Db, Keep, open_store, read_flags
from dsebo.cli.output import EXIT_FAILED, EXIT_INTERRUPTED
from dsebo.cli.run import check_within_limits
from dsebo.config import RunConfig, predict
from dsebo.events import Evaluated, Event, Finished, Started
from dsebo.experiments.race import CLIPPED, Race, label_of
from dsebo.experiments.standings import CENTRE, TAG, Result, standings
from dsebo.paper.comparison import printed_mean
from dsebo.runs.worker import stored_run

Source = Callable[[RunConfig, Callable[[str], None]], Generator[Event, None, None]]


@dataclass
class Line:
    """One run of the race: how it stands."""

    config: RunConfig
    label: str
    run_id: str | None = None
    best: float = math.inf
    d: int | None = None
    seconds: float = 0.0
    state: str = "waiting"

    def result(self) -> Result:
        """For the standings."""
        best = self.best if math.isfinite(self.best) else None
        return Result(self.label, best, self.d, self.seconds, self.state == "finished")

    def to_json(self) -> dict[str, Any]:
        """One JSON object."""
        best = self.best if math.isfinite(self.best) else None
        return {
            "id": self.run_id,
            "method": self.config.optimizer.method,
            "label": self.label,
            "seed": self.config.seed,
            "best": best,
            "d": self.d,
            "seconds": self.seconds,
            "state": self.state,
        }


@dataclass
class Course:
    """The race as it goes: its runs, and the lines that they are read against."""

    race: Race
    lines: list[Line]
    at_centre: float | None = None
    minimum: float | None = None


def race_command(
    *,
    methods: Annotated[
        str, typer.Option(help="With commas; `dsebo methods` lists them. Also rembo:scale=dsebo")
    ] = "dsebo,turbo,random",
    seeds: Annotated[str, typer.Option(help="The same for all: 1-3 or 1,4,9.")] = "1-3",
    as_json: AsJson = False,
    store: Keep = True,
    db: Db = None,
    given: dict[str, Any],
) -> None:
    """Let several methods search the same function from the same seeds.

    A setting goes to every method that has it.
    """
    race = Race.parse(methods, read_flags(given), seeds)
    course = Course(race, [_line(config) for config in _in_turn(race)])
    try:
        if store:
            with open_store(db) as opened:
                check_within_limits(opened, [line.config for line in course.lines])
                _say_before(race)
                _watch(course, lambda c, on_id: stored_run(c, opened, tags=[TAG], on_id=on_id))
        else:
            _say_before(race)
            _watch(course, _unstored)
    except KeyboardInterrupt:
        _say_interrupted(course, store)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(_json(course), allow_nan=False))
    else:
        Console().print(_table(course), _reading(course), sep="\n", highlight=False)
    if any(line.state != "finished" for line in course.lines):
        raise typer.Exit(EXIT_FAILED)


def _in_turn(race: Race) -> list[RunConfig]:
    """Seed by seed, so that a race which is stopped has compared what it has run."""
    return [race.config(entrant, seed) for seed in race.seeds for entrant in race.entrants]


def _line(config: RunConfig) -> Line:
    return Line(config, label_of(config.model_dump(mode="json")))


def _say_before(race: Race) -> None:
    """What the race will cost, and who loses by construction."""
    total = 0.0
    for entrant in race.entrants:
        config = race.config(entrant)
        cost = predict(config)
        total += cost.seconds * len(race.seeds)
        label = label_of(config.model_dump(mode="json"))
        memory = cost.memory_bytes / 1e6
        typer.echo(f"{label}: about {cost.seconds:.2g} s and {memory:.0f} MB a run", err=True)
    many = f"{_count(len(race.entrants), 'method')} from {_count(len(race.seeds), 'seed')}"
    typer.echo(f"{many}: about {total:.0f} s.", err=True)
    if race.clips:
        typer.echo(f"Note: {CLIPPED}", err=True)


def _unstored(config: RunConfig, on_id: Callable[[str], None]) -> Generator[Event, None, None]:
    from dsebo.run import run

    yield from run(config)


def _watch(course: Course, source: Source) -> None:
    """Run one after the other; a bar for each method, on standard error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[status]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        total = course.race.config(course.race.entrants[0]).budget * len(course.race.seeds)
        labels = dict.fromkeys(line.label for line in course.lines)
        tasks = {label: bars.add_task(label, total=total, status="") for label in labels}
        for line in course.lines:
            _run(course, line, source, bars, tasks[line.label])


def _run(course: Course, line: Line, source: Source, bars: Progress, task: TaskID) -> None:
    """One run to its end."""
    before = bars.tasks[bars.task_ids.index(task)].completed
    line.state = "running"

    def remember(run_id: str) -> None:
        line.run_id = run_id

    for event in source(line.config, remember):
        if isinstance(event, Started):
            course.at_centre, course.minimum = event.at_centre, event.minimum
        elif isinstance(event, Evaluated):
            line.best, line.d = event.best, event.d
            line.seconds += event.seconds
            status = f"seed {line.config.seed}  best {line.best:.6g}"
            bars.update(task, completed=before + event.t, status=status)
        elif isinstance(event, Finished):
            line.state, line.seconds = event.state, event.seconds
            line.d = event.d if event.d is not None else line.d
    bars.update(task, completed=before + line.config.budget)  # one that had nothing more to ask


def _say_interrupted(course: Course, stored: bool) -> None:
    at_work = [line for line in course.lines if line.state == "running"]
    ended = sum(line.state == "finished" for line in course.lines)
    said = f"Interrupted after {ended} of {len(course.lines)} runs."
    if stored and at_work and at_work[0].run_id:
        said += f" dsebo resume {at_work[0].run_id[:8]} carries the last one on."
    typer.echo(said, err=True)


def _standings(course: Course) -> pd.DataFrame:
    """Who leads, with what the paper prints for the same setting."""
    table = standings([line.result() for line in course.lines], course.at_centre)
    configs = {line.label: line.config.model_dump(mode="json") for line in course.lines}
    printed = [printed_mean(configs[label]) if label in configs else None for label in table.method]
    return table.assign(paper=pd.Series(printed, dtype=float))


def _json(course: Course) -> dict[str, Any]:
    found = _standings(course).astype(object)
    rows = found.where(found.notna(), None).to_dict("records")
    first = course.lines[0].config.model_dump(mode="json")
    return {
        "objective": first["objective"],
        "budget": first["budget"],
        "seeds": list(course.race.seeds),
        "at_centre": course.at_centre,
        "minimum": course.minimum,
        "standings": rows,
        "runs": [line.to_json() for line in course.lines],
    }


def _table(course: Course) -> Table:
    frame = _standings(course)
    printed = bool(frame["paper"].notna().any())
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", justify="right")
    table.add_column("method")
    columns = ["runs", "mean", "std", "best", "d", "seconds", *(["paper"] if printed else [])]
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in enumerate(frame.to_dict("records"), start=1):
        style = "dim" if row["method"] == CENTRE else None
        shown = [_number(float(row[name])) for name in columns]
        table.add_row(str(place), str(row["method"]), *shown, style=style)
    return table


def _reading(course: Course) -> str:
    """The lines to read it against."""
    said = f"The centre of the box has {_number(course.at_centre)}"
    minimum = "; F* is not known" if course.minimum is None else f"; F* = {course.minimum:.4g}"
    return f"{said}{minimum}. Means over {_count(len(course.race.seeds), 'seed')}."


def _count(value: int, thing: str) -> str:
    return f"{value} {thing}{'' if value == 1 else 's'}"


def _number(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"
