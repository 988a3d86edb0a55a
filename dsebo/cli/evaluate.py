"""`dsebo evaluate`: the value of an objective at given points, to check it against its source."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dsebo.cli.flags import AsJson, ConfigFile, read_file, read_flags
from dsebo.cli.output import EXIT_FAILED, refuse
from dsebo.config import BARE, RunConfig, parse_flat
from dsebo.embedding import Array
from dsebo.objectives.base import Objective
from dsebo.objectives.fields import ConfigError, must
from dsebo.run import evaluate_once, make_objective


def evaluate_command(
    *,
    at: Annotated[
        Path | None,
        typer.Option(help="A CSV file: one row for each point, one column for each variable, in [-1, 1]."),
    ] = None,
    constant: Annotated[
        str | None, typer.Option(help="The point with this value in every variable.", metavar="FLOAT")
    ] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    given: dict[str, Any],
) -> None:
    """The values of a function at points of [-1, 1]^D, without noise."""
    if (at is None) == (constant is None):
        refuse("evaluate needs points: --at FILE or --constant VALUE, one of them.")
    settings = _config(given, config)
    points = read_points(at, settings.D) if at is not None else _constant(constant or "", settings.D)
    objective = make_objective(settings)
    rows = [_value(objective, point) for point in points]
    if as_json:
        values = [
            {"y": y if math.isfinite(y) else None, **({"error": error} if error else {})} for y, error in rows
        ]
        typer.echo(json.dumps(values))
    else:
        for y, error in rows:
            typer.echo(f"failed: {error}" if error else f"{y:.12g}")
    if any(error for _, error in rows):
        raise typer.Exit(EXIT_FAILED)


def _value(objective: Objective, x: Array) -> tuple[float, str | None]:
    """As a run takes it: what is not finite has failed."""
    y, error = evaluate_once(objective, x)
    return y, error or (None if math.isfinite(y) else f"the value is {y}")


def _config(given: dict[str, Any], file: Path | None) -> RunConfig:
    """The flags over the objective of a file, which may hold a whole run's config or an objective's alone."""
    base = read_file(file)
    objective = base.get("objective", {} if "optimizer" in base else base)
    return parse_flat({**read_flags(given), "method": BARE}, {"objective": objective})


def _constant(text: str, D: int) -> Array:
    allowed = "a number from -1 to 1"
    try:
        value = float(text)
    except ValueError:
        raise ConfigError(must("constant", allowed, text)) from None
    if not abs(value) <= 1.0:
        raise ConfigError(must("constant", allowed, value))
    return np.full((1, D), value)


def read_points(file: Path, D: int) -> Array:
    """(n, D) the points of a CSV file, with or without a first line of names; ConfigError with the line."""
    points: list[Array] = []
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            for number, row in enumerate(csv.reader(text), start=1):
                if not row or (number == 1 and _is_header(row)):
                    continue
                points.append(_point(row, D, f"{file}, line {number}"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{file} cannot be read as CSV: {why}.") from None
    if not points:
        raise ConfigError(f"{file} has no points.")
    return np.array(points)


def _point(row: list[str], D: int, where: str) -> Array:
    if len(row) != D:
        raise ConfigError(f"{where}: a point must have {D} columns, one for each variable (got {len(row)}).")
    wrong = [cell for cell in row if not (_is_number(cell) and abs(float(cell)) <= 1.0)]
    if wrong:
        raise ConfigError(f"{where}: {must('a coordinate', 'a number from -1 to 1', wrong[0])}")
    return np.array([float(cell) for cell in row])


def _is_header(row: list[str]) -> bool:
    """Whether it is a line of names: nothing in it is a number, nor a row of them put apart otherwise."""
    return not any(_is_number(part) for cell in row for part in re.split(r"[;\s]", cell))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
