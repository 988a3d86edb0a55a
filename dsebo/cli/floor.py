"""`dsebo floor`: the best value that each subspace can reach."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer

from dsebo.cli.flags import AsJson, ConfigFile, Db, Method, open_store, read_config
from dsebo.cli.output import progress_bar, refuse
from dsebo.config import RunConfig
from dsebo.store.store import Store
from objectives.fields import ConfigError

GRID = 10  # dimensions, where none are given
_PART = re.compile(r"(\d{1,7})(?::(\d{1,7})(?::(\d{1,7}))?)?")


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
        wanted = parse_dims(dims) if dims else visited or _grid(settings)
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


def parse_dims(text: str) -> list[int]:
    """`5,19,40:100:20` as 5, 19, 40, 60, 80, 100."""
    dims: list[int] = []
    for part in text.replace(" ", "").split(","):
        match = _PART.fullmatch(part)
        if match is None or match[3] == "0":
            raise ConfigError(f"dims = {text!r} is not allowed: numbers as 5,19,33 or from:to:step.")
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        dims += range(first, last + 1, step)
    return dims


def _of_run(store: Store, run_id: str) -> tuple[RunConfig, list[int], str | None]:
    """(the config of a stored run, the dimensions it visited, the fingerprint of its S)."""
    row = store.get_run(run_id)
    d = store.evaluations(row.id)["d"].dropna()
    started = store.started(row.id)
    checksum = started["checksum"] if started else None
    return RunConfig.parse(row.config), sorted({int(value) for value in d}), checksum


def _grid(config: RunConfig) -> list[int]:
    """From d_l to d_h in even steps."""
    low, high = getattr(config.optimizer, "d_l", 1), getattr(config.optimizer, "d_h", 1)
    return sorted({round(low + (high - low) * i / (GRID - 1)) for i in range(GRID)})
