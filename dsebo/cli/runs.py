"""Stored runs in the terminal: runs, show, resume, export, import, delete."""

from __future__ import annotations

import importlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from dsebo.config import RunConfig
from dsebo.runs.limits import check_limits
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.settings import Settings
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import LOCAL_OWNER, RunRow, owner_hash
from dsebo.store.store import Store
from dsebo.transfer import export_csv, export_json, export_optuna, export_parquet, import_path
from objectives.fields import ConfigError

__all__ = ["add_commands", "check_within_limits", "open_store", "stored_run"]

Db = Annotated[
    str | None, typer.Option("--db", help="Database: a URL or a SQLite file. Else DSEBO_DB, else your own.")
]
Ids = Annotated[list[str], typer.Argument(help="Ids of runs, or their first characters.")]


class Format(StrEnum):
    """What `dsebo export` writes."""

    csv = "csv"
    parquet = "parquet"
    json = "json"
    html = "html"
    optuna = "optuna"


@contextmanager
def open_store(db: str | None) -> Iterator[Store]:
    """The store for one command; its refusals become one sentence and exit code 1."""
    store = None
    try:
        store = Store.open(db)
        yield store
    except (ConfigError, StoreError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    finally:
        if store is not None:
            store.close()


def check_within_limits(store: Store, configs: Sequence[RunConfig]) -> None:
    """Refuse, with the figure and exit code 2, a run over the limits; they run one by one."""
    settings, mark = Settings.load(), owner_hash(LOCAL_OWNER)
    try:
        with store.read() as connection:
            for config in configs:
                check_limits(connection, settings, mark, [(config, config.budget, 0)])
    except LimitExceeded as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def add_commands(app: typer.Typer) -> None:
    """Mount the commands of this file."""
    app.command("runs")(list_command)
    app.command("show")(show_command)
    app.command("resume")(resume_command)
    app.command("export")(export_command)
    app.command("import")(import_command)
    app.command("delete")(delete_command)


def list_command(
    state: Annotated[list[str] | None, typer.Option(help="Only in this state.")] = None,
    function: Annotated[list[str] | None, typer.Option(help="Only of this function.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only of this method.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag.")] = None,
    group: Annotated[str | None, typer.Option(help="Only of this group.")] = None,
    search: Annotated[str, typer.Option(help="Only with these words in name, tags or id.")] = "",
    sort: Annotated[str, typer.Option(help="Column to sort by, such as created or best.")] = ("created"),
    ascending: Annotated[bool, typer.Option("--ascending", help="Least or oldest first.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    deleted: Annotated[bool, typer.Option("--deleted", help="The deleted ones.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON list of objects.")] = False,
    db: Db = None,
) -> None:
    """List stored runs."""
    with open_store(db) as store:
        rows = store.list_runs(
            deleted=deleted,
            states=state or (),
            functions=function or (),
            methods=method or (),
            tags=tag or (),
            group=group,
            search=search,
            order_by=sort,
            descending=not ascending,
            limit=limit,
        )
        if as_json:
            typer.echo(json.dumps([_plain(row) for row in rows], ensure_ascii=False, indent=1))
        else:
            Console().print(_table(rows) if rows else "No runs.")


def show_command(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="Id, or its first characters.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    db: Db = None,
) -> None:
    """Show one run: how it stands, its settings, and what happened in it."""
    with open_store(db) as store:
        row = store.get_run(run_id)
        events = store.events(row.id)
        versions = store.versions(row.id)
    if as_json:
        typer.echo(json.dumps({**_plain(row), "versions": versions, "events": events}, indent=1))
        return
    lines = [f"{row.name}  [{row.id}]"]
    lines.append(f"{row.state}, {row.n_done} of {row.budget} evaluations, {row.seconds:.3g} s")
    lines.append(f"best {_number(row.best)}, d = {row.d if row.d is not None else '–'}")
    lines.append(f"minimum {_number(row.minimum)}, at the centre {_number(row.at_centre)}")
    lines += [f"tags {', '.join(row.tags)}"] if row.tags else []
    lines += [row.error] if row.error else []
    for part in ("objective", "optimizer"):
        settings = (f"{name} = {value}" for name, value in row.config[part].items())
        lines.append(f"{part}: {', '.join(settings)}")
    lines.append(f"seed {row.seed}; {', '.join(f'{k} {v}' for k, v in versions.items())}")
    lines += [event["text"] for event in events if event.get("text")]
    typer.echo("\n".join(lines))


def resume_command(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="Id, or its first characters.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print events, one a line.")] = False,
    db: Db = None,
) -> None:
    """Carry an interrupted run on, to the same history as if nothing had happened."""
    with open_store(db) as store:
        row = store.get_run(run_id)
        try:
            _follow(store, row, as_json)
        except KeyboardInterrupt:
            typer.echo(f"Interrupted; dsebo resume {row.short_id} carries it on.", err=True)
            raise typer.Exit(130) from None
        after = store.get_run(row.id)
        if not as_json:
            best = _number(after.best)
            typer.echo(f"{after.short_id} {after.state}: {after.n_done} evaluations, best {best}.")
        if after.state == "failed":
            raise typer.Exit(1)


def _follow(store: Store, row: RunRow, as_json: bool) -> None:
    """Work on the run, with a progress bar or with its events as JSON lines."""
    events = resumed_run(store, row.id)
    if as_json:
        for event in events:
            typer.echo(json.dumps(event.to_json()))
        return
    with progress_bar() as bar:
        task = bar.add_task("evaluations", total=row.budget, completed=row.n_done)
        for event in events:
            bar.update(task, completed=event.t)


def export_command(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of runs, or their first characters.")] = None,
    group: Annotated[str | None, typer.Option(help="All runs of this group as well.")] = None,
    format: Annotated[Format, typer.Option(help="What to write.")] = Format.csv,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File; else CSV and JSON are printed.")
    ] = None,
    db: Db = None,
) -> None:
    """Export runs: CSV, Parquet, a JSON bundle that can be imported, HTML, an Optuna study."""
    with open_store(db) as store:
        full = [store.get_run(run_id).id for run_id in ids or ()]
        if group is not None:
            full += [row.id for row in store.list_runs(group=group, descending=False)]
        if not full:
            _refuse("ID is missing: at least one run, or --group with some.")
        if format is Format.optuna:
            _export_optuna(store, full, out)
            return
        data = _export(store, full, format)
    if out is None:
        if format not in (Format.csv, Format.json):
            _refuse(f"{format.value} needs a file: -o FILE.")
        typer.echo(data.decode(), nl=False)
        return
    try:
        out.write_bytes(data)
    except OSError as error:
        _refuse(f"{out} cannot be written: {error.strerror}.")


def _export(store: Store, ids: list[str], format: Format) -> bytes:
    if format is Format.html:
        report: Any = importlib.import_module("dsebo.transfer.html")  # charts: needed only here
        return bytes(report.export_html(store, ids))
    write = {Format.csv: export_csv, Format.parquet: export_parquet, Format.json: export_json}
    return write[format](store, ids)


def _export_optuna(store: Store, ids: list[str], out: Path | None) -> None:
    if out is None:
        _refuse("optuna needs a file: -o FILE.")
    total = sum(store.get_run(run_id).n_done for run_id in ids)
    with progress_bar() as bar:
        task = bar.add_task("trials", total=total)
        export_optuna(store, ids, str(out), lambda done: bar.update(task, completed=done))


def import_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Bundles, zips, CSV pairs or folders.")
    ],
    db: Db = None,
) -> None:
    """Import JSON bundles and results of the authors' script; of a broken file, nothing."""
    with open_store(db) as store, progress_bar() as bar:
        for file in bar.track(files, description="files"):
            ids = import_path(store, file)
            bar.console.print(f"{file}: {len(ids)} run{'s' if len(ids) != 1 else ''}.")
            for run_id in ids:
                typer.echo(run_id)


def delete_command(
    ids: Ids,
    restore: Annotated[bool, typer.Option("--restore", help="Bring them back.")] = False,
    db: Db = None,
) -> None:
    """Take runs off the list; --restore brings them back."""
    with open_store(db) as store:
        # who may read the database from a terminal may change it: owners are for browsers
        manager = RunManager(store, Settings(mode="local"))
        full = [store.get_run(run_id).id for run_id in ids]
        for run_id in full:
            (manager.restore if restore else manager.delete)(run_id)
            typer.echo(f"{run_id[:8]} {'restored' if restore else 'deleted'}.")


def progress_bar() -> Progress:
    """On stderr, so that what is printed can be piped."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _refuse(said: str) -> NoReturn:
    typer.echo(said, err=True)
    raise typer.Exit(1)


def _plain(row: RunRow) -> dict[str, Any]:
    """A run as a JSON object."""
    names = (
        "id",
        "name",
        "group",
        "state",
        "method",
        "function",
        "seed",
        "budget",
        "n_done",
        "best",
        "d",
        "seconds",
        "speed",
        "minimum",
        "at_centre",
        "created",
        "started",
        "finished",
        "error",
        "source",
        "deleted_at",
    )
    plain = {name: getattr(row, name) for name in names}
    return {**plain, "tags": list(row.tags), "config": row.config}


def _table(rows: list[RunRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", no_wrap=True)
    table.add_column("name", min_width=8)
    table.add_column("state", no_wrap=True)
    for name in ("seed", "done", "best", "d", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("created", no_wrap=True)
    for row in rows:
        when = time.strftime("%d %b %H:%M", time.localtime(row.created))
        done = f"{row.n_done}/{row.budget}"
        d = "–" if row.d is None else str(row.d)
        table.add_row(
            row.short_id,
            row.name,
            row.state,
            str(row.seed),
            done,
            _number(row.best),
            d,
            f"{row.seconds:.1f}",
            when,
        )
    return table


def _number(value: float | None) -> str:
    """Four significant digits."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"
