"""Stored runs in the terminal: runs, show, delete."""

from __future__ import annotations

import json
import shutil
import time
from typing import Annotated, Any

import typer

from dsebo.cli.flags import RUN_IDS, AsJson, Db, RunId, open_store
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter, RunRow
from dsebo.text import escaped_controls, number, part, without_controls

MOST_LISTED = 10**9
NAME_WIDTH = 12  # columns that a name gets at least
_IN_JSON = (
    *("id", "name", "group", "state", "method", "function", "seed", "budget", "n_done", "best", "d"),
    *("seconds", "speed", "minimum", "at_centre", "created", "started", "finished", "error", "source"),
    *("deleted_at", "ghost", "note", "config"),
)


def list_command(
    state: Annotated[list[str] | None, typer.Option(help="Only in this state.")] = None,
    function: Annotated[list[str] | None, typer.Option(help="Only of this function.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only of this method.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag.")] = None,
    group: Annotated[str | None, typer.Option(help="Only of this group.")] = None,
    search: Annotated[str, typer.Option(help="Only with these words in name, tags or id.")] = "",
    sort: Annotated[str, typer.Option(help="Column to sort by, such as created or best.")] = "created",
    ascending: Annotated[bool, typer.Option("--ascending", help="Least or oldest first.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, max=MOST_LISTED, help="At most so many.")] = None,
    deleted: Annotated[bool, typer.Option("--deleted", help="The deleted ones.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List stored runs."""
    with open_store(db) as store:
        rows = store.list_runs(
            RunFilter(
                deleted=deleted,
                states=state or (),
                functions=function or (),
                methods=method or (),
                tags=tag or (),
                group=group,
                search=search,
            ),
            order_by=sort,
            descending=not ascending,
            limit=limit,
        )
        for sentence in store.incidents():
            typer.echo(without_controls(sentence), err=True)
        if as_json:
            text = json.dumps([_plain(row) for row in rows], ensure_ascii=False, indent=1)
            typer.echo(escaped_controls(text))
        else:
            width = shutil.get_terminal_size().columns
            typer.echo(without_controls(_table(rows, width)) if rows else "No runs.")
            for row in rows:  # beside the table, which has a line for each run
                if row.error and row.state in ("failed", "interrupted", "stalled"):
                    typer.echo(f"{row.short_id} {row.state}: {without_controls(row.error)}", err=True)


def show_command(run_id: RunId, as_json: AsJson = False, db: Db = None) -> None:
    """Show one run: how it stands, its settings, and what happened in it."""
    with open_store(db) as store:
        row = store.get_run(run_id)
        events = store.events(row.id)
        versions = store.versions(row.id)
    if as_json:
        typer.echo(json.dumps({**_plain(row), "versions": versions, "events": events}, indent=1))
        return
    lines = [f"{row.name}  [{row.id}]"]
    lines.append(f"{row.state_words}, {row.n_done} of {row.budget} evaluations, {row.seconds:.3g} s")
    lines.append(f"best {number(row.best)}, d = {row.d if row.d is not None else '–'}")
    lines.append(f"minimum {number(row.minimum)}, at the centre {number(row.at_centre)}")
    lines += [f"tags {', '.join(row.tags)}"] if row.tags else []
    lines += [f"note {row.note}"] if row.note else []
    lines += [row.error] if row.error else []
    lines += [f"ghost {row.ghost}"] if row.ghost else []
    for fork in row.config.get("forks", ()):
        lines.append(f"forked from {fork['run']} at evaluation {fork['at']}{_fork_words(fork)}")
    for home in ("objective", "optimizer"):
        settings = (f"{name} = {value}" for name, value in row.config[home].items())
        lines.append(f"{home}: {', '.join(settings)}")
    lines.append(f"seed {row.seed}; {', '.join(f'{k} {v}' for k, v in versions.items())}")
    lines += [event["text"] for event in events if event.get("text")]
    typer.echo(without_controls("\n".join(lines)))


def delete_command(
    ids: Annotated[list[str], RUN_IDS],
    restore: Annotated[bool, typer.Option("--restore", help="Bring them back.")] = False,
    db: Db = None,
) -> None:
    """Take runs off the list; --restore brings them back."""
    from dsebo.runs.manager import RunManager

    with open_store(db) as store:
        # who may read the database from a terminal may change it: owners are for browsers
        manager = RunManager(store, Settings(mode="local"))
        full = [store.get_run(run_id).id for run_id in ids]
        for run_id in full:
            (manager.restore if restore else manager.delete)(run_id)
            typer.echo(f"{run_id[:8]} {'restored' if restore else 'deleted'}.")


def _fork_words(fork: dict[str, Any]) -> str:
    """What it changed: `; Δd = 7; before β = 12`."""
    words = [f"Δd = {fork['decide']}"] if fork["decide"] is not None else []
    if fork["before"]:
        words.append("before " + ", ".join(part(name, value) for name, value in fork["before"].items()))
    return "".join(f"; {word}" for word in words)


def _plain(row: RunRow) -> dict[str, Any]:
    """A run as a JSON object."""
    return {name: getattr(row, name) for name in _IN_JSON} | {"tags": list(row.tags)}


def _table(rows: list[RunRow], width: int) -> str:
    """One line per run, however narrow the terminal: a long name is cut, then columns go from the right."""
    header = ("id", "state", "seed", "done", "best", "d", "seconds", "created")
    cells = [header, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while len(widths) > 2 and (room := width - sum(widths) - len(widths)) < NAME_WIDTH:
        widths.pop()
    names = ["name", *(" ".join(row.name.split()) for row in rows)]
    room = max(NAME_WIDTH, min(room, max(map(len, names))))
    lines = []
    for (run_id, state, *others), name in zip(cells, names, strict=True):
        cut = name if len(name) <= room else f"{name[: room - 1]}…"
        right = (cell.rjust(size) for cell, size in zip(others, widths[2:], strict=False))
        lines.append(" ".join([run_id.ljust(widths[0]), cut.ljust(room), state.ljust(widths[1]), *right]))
    return "\n".join(lines)


def _cells(row: RunRow) -> tuple[str, ...]:
    d = "–" if row.d is None else str(row.d)
    when = time.strftime("%d %b %H:%M", time.localtime(row.created))
    done = f"{row.n_done}/{row.budget}"
    seconds = f"{row.seconds:.1f}"
    return (row.short_id, row.state_words, str(row.seed), done, number(row.best), d, seconds, when)
