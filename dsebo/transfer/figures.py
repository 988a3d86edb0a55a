"""Runs as a figure for a paper: one column wide, 8 pt, in PDF, SVG, PNG or HTML.

A figure is drawn by a browser, as on the page: PDF, SVG and PNG need a Chromium on this machine.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dsebo.analysis.curves import EVERYTHING, BandKind
from dsebo.charts import theme
from dsebo.charts.compare import common_scale, figure_of_groups, groups_of
from dsebo.charts.run import figure_of
from dsebo.charts.scales import Scale
from dsebo.objectives.fields import ConfigError
from dsebo.runs.data import read_ghost, read_run
from dsebo.store.store import Store
from dsebo.transfer.html import figure_page

COLUMN = 3.3  # inches: a column of a paper
POINTS = 8.0  # the size of its words
DPI = 300  # of a PNG
CSS_DPI = 96
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
NO_BROWSER = (
    "A figure is drawn by a browser: {kind} needs Chromium or Chrome on this machine. "
    "HTML does not: -o figure.html."
)
PATIENCE = 120  # seconds
BEGIN, END = "made:", ":made"  # around the file in the page that made it


def figure_of_runs(
    store: Store,
    ids: Sequence[str],
    scale: Scale | None = None,
    kind: BandKind = "mean",
    by: str = EVERYTHING,
    chosen: int | None = None,
) -> go.Figure:
    """The chart of a run, where the convergence at t = `chosen` stands out; of several, their comparison."""
    runs = [read_run(store, run_id) for run_id in ids]
    scale = scale or common_scale([run.row for run in runs])
    if len(runs) > 1:
        return figure_of_groups(groups_of(runs, by), kind, scale, False)
    ghost = read_ghost(store, runs[0].row)
    return figure_of(runs[0], scale, chosen, ghost=ghost, height=theme.PAPER_HEIGHT)


def write_figure(figure: go.Figure, kind: str, width: float = COLUMN, points: float = POINTS) -> bytes:
    """The figure as a file, so many inches wide, with words of so many points."""
    if kind == "html":
        return figure_page(figure)
    # Words are 14 px on the page: the page's picture is made as wide as brings them to that size.
    shrunk = points / (theme.SIZE * 72 / CSS_DPI)
    pixels = round(width * CSS_DPI / shrunk)
    scale = DPI * width / pixels
    drawn = "png" if kind == "png" else "svg"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "figure.html"
        page.write_text(_drawing(figure, drawn, pixels, scale), encoding="utf-8")
        body = _result(_browse(kind, folder, "--dump-dom", page.as_uri()).decode())
        if kind == "png":
            return body
        picture = _in_inches(body.decode(), shrunk)
        if kind == "svg":
            return picture.encode()
        page.write_text(_printed(picture, width), encoding="utf-8")
        file = Path(folder) / "figure.pdf"
        _browse(kind, folder, "--no-pdf-header-footer", f"--print-to-pdf={file}", page.as_uri())
        return file.read_bytes()


def browser() -> str | None:
    """The path of a browser that draws figures; None where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _browse(kind: str, folder: str, *flags: str) -> bytes:
    """What the browser prints."""
    path = browser()
    if path is None:
        raise ConfigError(NO_BROWSER.format(kind=kind.upper()))
    usual = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=30000"]
    # As root a browser starts only without its sandbox; what it opens is written here, by us.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [path, *usual, *root, f"--user-data-dir={folder}/profile", *flags]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"The browser {path} could not draw the figure: {error}.") from None
    return done.stdout


def _drawing(figure: go.Figure, kind: str, pixels: int, scale: float) -> str:
    """A page that draws the figure and holds the file in base 64 as its text."""
    data = str(figure.to_json()).replace("</", "<\\/")
    return f"""<!doctype html><meta charset="utf-8"><body><script>{get_plotlyjs()}</script>
<script>{theme.script()}</script><script>
dseboFigure.file({data}, "{kind}", {pixels}, 0, {scale}).then((made) => {{
  document.body.textContent = "{BEGIN}" + made + "{END}";
}});
</script>"""


def _result(text: str) -> bytes:
    """What the page holds in the end."""
    _, begin, rest = text.partition(f"<body>{BEGIN}")
    body, end, _ = rest.partition(END)
    if not begin or not end:
        raise ConfigError("The browser could not draw the figure.")
    return base64.b64decode(body)


def _in_inches(picture: str, shrunk: float) -> str:
    """An SVG of pixels as one that is so much smaller, in inches."""
    head, rest = picture.split(">", 1)
    for side in ("width", "height"):
        pixels = float(head.split(f' {side}="', 1)[1].split('"', 1)[0])
        head = head.replace(f' {side}="{pixels:g}"', f' {side}="{pixels * shrunk / CSS_DPI:.4f}in"', 1)
    return f"{head}>{rest}"


def _printed(picture: str, width: float) -> str:
    """A page as large as the picture."""
    height = picture.split(' height="', 1)[1].split('in"', 1)[0]
    return (
        f"<!doctype html><meta charset='utf-8'><style>@page {{ size: {width}in {height}in; margin: 0; }}"
        f" body {{ margin: 0; }} svg {{ display: block; }}</style><body>{picture}"
    )
