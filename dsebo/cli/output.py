"""What commands print: refusals, tables' numbers, and a run's events for people or as JSON lines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from dsebo.analysis.conclusions import conclude
from dsebo.config import RunConfig
from dsebo.events import Evaluated, Event, Finished, Started
from dsebo.text import brief, without_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130
INTERRUPTED = "interrupted"


def refuse(message: str, exit_code: int = EXIT_BAD_INPUT) -> NoReturn:
    """End the command with one sentence on standard error that says what is wrong."""
    sentence = without_controls(" ".join(message.split()))
    typer.echo(sentence if sentence.endswith((".", "?")) else f"{sentence}.", err=True)
    raise typer.Exit(exit_code)


def ask_before(why: str, yes: bool) -> None:
    """Ask before what takes long; where nobody can answer, refuse. `why` empty: nothing to ask."""
    if not why or yes:
        return
    if not sys.stdin.isatty():
        refuse(f"{why} Give --yes to start it.")
    if not typer.confirm(f"{why} Start it?", err=True):
        raise typer.Exit(EXIT_FAILED)


def check_writable(file: Path) -> None:
    """Refuse a file that cannot be written, before the work that it is to hold."""
    try:
        if file.is_dir():
            refuse(f"{file} cannot be written: it is a folder.")
        if not file.parent.is_dir():
            refuse(f"{file} cannot be written: there is no folder {file.parent}.")
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        refuse(f"{file} cannot be written: {error.strerror}.")


def write_file(file: Path, data: bytes) -> None:
    """Write it, or say why that cannot be done."""
    try:
        file.write_bytes(data)
    except OSError as error:
        refuse(f"{file} cannot be written: {error.strerror}.")


def progress_bar() -> Progress:
    """On standard error, so that what is printed can be piped; nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def watch(
    events: Iterator[Event], config: RunConfig, as_json: bool, concluded: Callable[[], str] = str
) -> None:
    """Show a run to its end; the exit code says how it ended.

    `concluded`: what it amounts to, for a run that was carried on, whose beginning is not among the events.
    """
    state = _print_json(events) if as_json else _show_live(events, config, concluded)
    if state == INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)
    if state == "failed":
        raise typer.Exit(EXIT_FAILED)


def _print_json(events: Iterator[Event]) -> str:
    """One JSON object per line, `finished` at the end; how the run ended."""
    last: Event | None = None
    try:
        for event in events:
            _print_line(event)
            last = event if isinstance(event, Evaluated | Finished) else last
    except KeyboardInterrupt:
        _print_line(_interrupted(last))
        return INTERRUPTED
    return last.state if isinstance(last, Finished) else INTERRUPTED


def _print_line(event: Event) -> None:
    print(json.dumps(event.to_json(), allow_nan=False), flush=True)


def _interrupted(last: Event | None) -> Finished:
    if not isinstance(last, Evaluated):
        return Finished(0, INTERRUPTED, math.inf, None, 0.0, "Interrupted: nothing was found.")
    text = f"Interrupted after {last.t} evaluations: best value so far {last.best:.6g}."
    return Finished(last.t, INTERRUPTED, last.best, last.d, 0.0, text)


def _show_live(events: Iterator[Event], config: RunConfig, concluded: Callable[[], str]) -> str:
    """A progress bar with best value, dimension and time left; how the run ended."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console()
    last: Evaluated | None = None
    told: list[Event] = []  # what a conclusion is drawn from, besides the last evaluation
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[status]}"), TimeRemainingColumn())
    try:
        first = next(events)  # a run that cannot be resumed says so here, before anything is shown
        console.print(_describe(config), highlight=False, markup=False)
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("", total=config.budget, status="")
            for event in chain([first], events):
                if isinstance(event, Evaluated):
                    last = event
                    told += [event] if event.failed else []
                    bar.update(task, completed=event.t, status=_status(event))
                elif isinstance(event, Finished):
                    told += [event] if last is None or last.failed else [last, event]
                    amounts_to = "" if event.state == "failed" else conclude(told) or concluded()
                    words = amounts_to or event.text
                    console.print(words, highlight=False, markup=False)
                    return event.state
                else:
                    told.append(event)
                    _print_other(console, event)
    except KeyboardInterrupt:
        console.print(_interrupted(last).text, highlight=False, markup=False)
    return INTERRUPTED


def _describe(config: RunConfig) -> str:
    objective = ", ".join([config.function, *brief(config.model_dump()["objective"])])
    return f"{config.optimizer.label} on {objective}, seed {config.seed}."


def _status(event: Evaluated) -> str:
    d = "" if event.d is None else f"  d = {event.d}"
    return f"best {event.best:.6g}{d}"


def _print_other(console: Console, event: Event) -> None:
    if isinstance(event, Started):
        if event.at_centre is not None:
            minimum = "" if event.minimum is None else f", the minimum {event.minimum:.6g}"
            console.print(
                f"The centre of the box has {event.at_centre:.6g}{minimum}.", highlight=False, markup=False
            )
    elif text := getattr(event, "text", ""):
        console.print(text, highlight=False, markup=False)
