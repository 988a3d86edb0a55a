"""`dsebo figure`: runs as a figure for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsebo.cli.flags import Db, open_store
from dsebo.cli.output import check_writable, refuse, write_file
from dsebo.objectives.fields import must, not_one_of

FORMATS, SCALES, BANDS = ("pdf", "svg", "png", "html"), ("log", "linear", "symlog"), ("mean", "median")
NARROWEST, WIDEST = 2.0, 20.0  # inches
SMALLEST, LARGEST = 4.0, 40.0  # points


def figure_command(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Runs to draw; several are compared, by group.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="File: .pdf, .svg, .png or .html.")],
    width: Annotated[float, typer.Option(help="Inches; a column of a paper is 3.3, a page 7.")] = 3.3,
    points: Annotated[float, typer.Option(help="Size of the words, in points.")] = 8.0,
    scale: Annotated[
        str | None, typer.Option(help="Value axis: log, linear or symlog.", show_default="as it fits")
    ] = None,
    band: Annotated[str, typer.Option(help="Over several seeds: mean or median.")] = "mean",
    at: Annotated[
        int | None, typer.Option(help="The convergence to point out, by its evaluation t.", metavar="T")
    ] = None,
    db: Db = None,
) -> None:
    """Draw runs as a figure for a paper: one column wide, 8 pt, with its settings as a caption."""
    kind = out.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        refuse(not_one_of("The file's ending", FORMATS, kind))
    if scale is not None and scale not in SCALES:
        refuse(not_one_of("scale", SCALES, scale))
    if band not in BANDS:
        refuse(not_one_of("band", BANDS, band))
    if not NARROWEST <= width <= WIDEST:
        refuse(must("width", f"a number of inches from {NARROWEST:g} to {WIDEST:g}", width))
    if not SMALLEST <= points <= LARGEST:
        refuse(must("points", f"a number from {SMALLEST:g} to {LARGEST:g}", points))
    check_writable(out)
    from dsebo.transfer.figures import figure_of_runs, write_figure

    with open_store(db) as store:
        full = list(dict.fromkeys(store.get_run(run_id).id for run_id in ids))
        figure = figure_of_runs(store, full, scale, band, chosen=at)  # type: ignore[arg-type]
    data = write_figure(figure, kind, width, points)
    write_file(out, data)
