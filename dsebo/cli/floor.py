"""`dsebo floor`: the best value that each subspace can reach."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from dsebo.cli.flags import AsJson, ConfigFile, Db, Method, open_store, read_config
from dsebo.cli.output import progress_bar, refuse
from dsebo.config import RunConfig
from dsebo.parsing import read_dims
from dsebo.store.store import Store

GRID = 10  # dimensions, where none are given


def floor_command(
    *,
    dims: Annotated[
        str, typer.Option(help="Dimensions: 5,19,33 or from:to:step.", show_default="a grid")
    ] = "",
    run_id: Annotated[
        str, typer.Option("--run", help="A stored run: its S and the dimensions it visited.")
    ] = "",
    method: Method = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    db: Db = None,
    given: dict[str, Any],
) -> None:
    """The floor of each subspace of DSEBO: the best value that any of its points reaches.

    It is what a many-start search finds, so it is an upper bound of the true floor.
    """
    from dsebo.store.floors import floors_with_store

    if run_id and (given or config or method):
        refuse("--run has its own settings: leave the other flags out.")
    with open_store(db) as store:
        settings, visited, checksum = (
            _of_run(store, run_id) if run_id else (read_config(given, method, config), [], None)
        )
        wanted = read_dims(dims) if dims else visited or _grid(settings)
        with progress_bar() as bar:
            task = bar.add_task("floors", total=len(set(wanted)))
            floors = floors_with_store(
                store, settings, wanted, checksum, lambda done, _: bar.update(task, completed=done)
            )
    rows = [{"d": at.d, "floor": at.floor} for at in floors]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    typer.echo("    d  floor (an upper bound of the true one)")
    for row in rows:
        typer.echo(f"{row['d']:5d}  {row['floor']:.4g}")


def _of_run(store: Store, run_id: str) -> tuple[RunConfig, list[int], str | None]:
    """(the config of a stored run, the dimensions it visited, the fingerprint of its S)."""
    row = store.get_run(run_id)
    d = store.evaluations(row.id)["d"].dropna()
    started = store.started(row.id)
    checksum = started["checksum"] if started else None
    return row.parsed, sorted({int(value) for value in d}), checksum


def _grid(config: RunConfig) -> list[int]:
    """From d_l to d_h in even steps."""
    low, high = getattr(config.optimizer, "d_l", 1), getattr(config.optimizer, "d_h", 1)
    return sorted({round(low + (high - low) * i / (GRID - 1)) for i in range(GRID)})
