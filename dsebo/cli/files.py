"""Runs as files in the terminal: export and import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsebo.cli.flags import RUN_IDS, Db, open_store
from dsebo.cli.output import check_writable, progress_bar, refuse, write_file
from dsebo.objectives.fields import not_one_of
from dsebo.store.rows import RunFilter
from dsebo.text import without_controls
from dsebo.transfer import FORMATS, import_path
from dsebo.transfer.studies import shown_place

OF_RUNS = [key for key, form in FORMATS.items() if form.runs or form.add_runs]


def export_command(
    ids: Annotated[list[str] | None, RUN_IDS] = None,
    group: Annotated[str | None, typer.Option(help="All runs of this group as well.")] = None,
    format: Annotated[str, typer.Option(help="What to write.", metavar="|".join(OF_RUNS))] = "csv",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File; else CSV and JSON are printed.")
    ] = None,
    db: Db = None,
) -> None:
    """Export runs: CSV, Parquet, a JSON bundle that can be imported, HTML, an Optuna study."""
    if format not in OF_RUNS:
        refuse(not_one_of("format", OF_RUNS, format))
    if out is not None:
        check_writable(out)
    with open_store(db) as store:
        full = [store.get_run(run_id).id for run_id in ids or ()]
        if group is not None:
            full += [row.id for row in store.list_runs(RunFilter(group=group), descending=False)]
        if not full:
            refuse("ID is missing: at least one run, or --group with some.")
        form = FORMATS[format]
        if out is None and not form.is_text:
            refuse(f"{format} needs a file: -o FILE.")
        if form.add_runs is not None:
            total = sum(store.get_run(run_id).n_done for run_id in full)
            with progress_bar() as bar:
                task = bar.add_task("evaluations", total=total)
                form.add_runs(store, full, str(out), lambda done: bar.update(task, completed=done))
            return
        data = form.runs(store, full) if form.runs else b""
    if out is None:
        typer.echo(data.decode(), nl=False)
    else:
        write_file(out, data)


def import_command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Bundles, zips, CSV pairs, folders, storages of Optuna."),
    ],
    study: Annotated[
        list[str] | None, typer.Option(help="Only the study of this name; else all of a storage.")
    ] = None,
    db: Db = None,
) -> None:
    """Import JSON bundles, results of the authors' script, and studies of Optuna to be looked at.

    Of a broken file, nothing. A storage is a SQLite file, a journal, or an address as Optuna takes it.
    """
    with open_store(db) as store, progress_bar() as bar:
        for file in bar.track(files, description="files"):
            saved = import_path(store, file, studies=study or ())
            bar.console.print(without_controls(f"{shown_place(file)}: {saved.words}."), markup=False)
            for run_id in saved.ids:
                typer.echo(run_id)
