"""The cells of an experiment as tiles that fill in: a bar for every seed, as far as its run is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.charts import theme
from dsebo.charts.cells import FUNCTION, labels, value_axis
from dsebo.charts.theme import Sketch
from dsebo.text import number, symbol, value_label

TILE, HEAD, FOOT = 74, 40, 12  # px
TICKS = 42  # px more at the foot where the tiles stand on an axis
MOST_TILES, MOST_BARS = 120, 2400  # that can be told apart, and drawn while one waits
PAD, FULL = 0.06, 0.56  # shares of a tile: its edge, and the height of a finished run's bar
COLUMNS, FEW, SHORT = 4, 2, 9  # tiles side by side; fewer where a label is longer than so many
TITLE = "Runs of each cell: one bar per seed"
COLOURS = {"finished": theme.BLUE, "running": theme.SKY, "at rest": theme.GREY, "failed": theme.VERMILLION}
_TEXT_TOP = 0.97


def grid_figure(frame: pd.DataFrame, axes: Sequence[str]) -> go.Figure:
    """Two axes: a tile for each pair of values, on both. Else tiles one after another."""
    grid = _crossed(frame, axes) if len(axes) == 2 else _along(frame, axes)
    layout = theme.base_layout(HEAD + TILE * grid.rows + grid.foot)
    layout["margin"] = {"l": grid.left, "r": 8, "t": HEAD, "b": grid.foot}
    layout |= {
        "uirevision": "grid",
        "hovermode": "closest",
        "meta": {"quiet": True},
        "bargap": 0,
        "xaxis": _axis(grid.across, grid.columns),
        "yaxis": _axis(grid.down, grid.rows) | {"range": [grid.rows, 0]},
    }
    sketch = Sketch(layout, notes=[theme.heading(TITLE, 1)])
    for cell, rows in frame.groupby("cell", sort=False):
        column, row = grid.places[int(str(cell))]
        _tile(sketch, column, row, grid.labels[int(str(cell))], rows)
    _bars(sketch, frame, labels(frame, axes), grid)
    return sketch.figure()


def fits(frame: pd.DataFrame) -> bool:
    """Whether the experiment is small enough to be drawn cell by cell."""
    return frame["cell"].nunique() <= MOST_TILES and len(frame) <= MOST_BARS


@dataclass(frozen=True)
class _Grid:
    """Where each cell stands."""

    columns: int
    rows: int
    places: dict[int, tuple[int, int]]  # (column, row)
    labels: dict[int, str]  # in the tile
    across: dict[str, Any]  # settings of the axes
    down: dict[str, Any]
    left: int = 8
    foot: int = FOOT


def _along(frame: pd.DataFrame, axes: Sequence[str]) -> _Grid:
    named = labels(frame, axes)
    columns = min(len(named), COLUMNS if max(map(len, named.values())) <= SHORT else FEW)
    places = {cell: (i % columns, i // columns) for i, cell in enumerate(named)}
    return _Grid(columns, -(-len(named) // columns), places, named, {}, {})


def _crossed(frame: pd.DataFrame, axes: Sequence[str]) -> _Grid:
    """Names go down the left side, where there is room for them; else the longer axis is across."""

    def order(axis: str) -> tuple[bool, bool, int]:
        return axis == FUNCTION, not value_axis(frame, axis).numeric, -frame[axis].nunique()

    x, y = (value_axis(frame, axis) for axis in sorted(axes, key=order))
    cells = frame.drop_duplicates("cell")
    triples = zip(cells["cell"], cells[x.field], cells[y.field], strict=True)
    places = {int(c): (x.values.index(a), y.values.index(b)) for c, a, b in triples}
    names = [value_label(y.field, value) for value in y.values]
    return _Grid(
        len(x.values),
        len(y.values),
        places,
        dict.fromkeys(places, ""),
        _ticks([value_label(x.field, value) for value in x.values], symbol(x.field)),
        _ticks(names, "" if y.field == FUNCTION else symbol(y.field)),
        left=44 + 8 * max(map(len, names)),
        foot=FOOT + TICKS,
    )


def _ticks(names: list[str], title: str) -> dict[str, Any]:
    return {
        "showticklabels": True,
        "tickmode": "array",
        "ticktext": names,
        "tickvals": [index + 0.5 for index in range(len(names))],
        "title": theme.axis_title(title),
    }


def _axis(settings: dict[str, Any], count: int) -> dict[str, Any]:
    plain = {"range": [0, count], "showgrid": False, "showticklabels": False, "fixedrange": True}
    return theme.axis(**{**plain, **settings})


def _tile(sketch: Sketch, column: int, row: int, label: str, rows: pd.DataFrame) -> None:
    """The tile itself, what it is, and how many of its runs have finished."""
    sketch.shapes.append(
        {
            "type": "rect",
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": theme.GRID,
            "x0": column + PAD / 2,
            "x1": column + 1 - PAD / 2,
            "y0": row + PAD / 2,
            "y1": row + 1 - PAD / 2,
        }
    )
    done = f"{int((rows['state'] == 'finished').sum())}/{len(rows)}"
    at: dict[str, Any] = {"y": row + 1 - _TEXT_TOP, "yanchor": "top", "borderpad": 2}
    if label:
        sketch.note(f"<b>{label}</b>", x=column + PAD, xanchor="left", **at)
    sketch.note(done, x=column + 1 - PAD, xanchor="right", **at)


def _bars(sketch: Sketch, frame: pd.DataFrame, named: dict[int, str], grid: _Grid) -> None:
    """All runs, in one trace for each way in which they may stand."""
    seeds = {seed: index for index, seed in enumerate(dict.fromkeys(frame["seed"]))}
    width = (1 - 2 * PAD) / len(seeds)
    rows = frame[frame["state"] != "missing"]
    kinds = [state if state in COLOURS else "at rest" for state in rows["state"]]
    place = np.array([grid.places[int(cell)] for cell in rows["cell"]]).reshape(-1, 2)
    spot = np.array([seeds[seed] for seed in rows["seed"]], dtype=float)
    share = np.clip((rows["n_done"] / rows["budget"]).to_numpy(dtype=float), 0.02, 1.0)
    share[[kind in ("finished", "failed") for kind in kinds]] = 1.0
    names = ("cell", "seed", "state", "n_done", "budget", "best")
    texts = [
        f"{named[int(cell)]}, seed {seed}: {state}, {n_done} of {budget}, best {number(best)}"
        for cell, seed, state, n_done, budget, best in zip(*(rows[name] for name in names), strict=True)
    ]
    for kind, colour in COLOURS.items():
        chosen = np.array([other == kind for other in kinds], dtype=bool)
        sketch.bar(
            x=place[chosen, 0] + PAD + width * (spot[chosen] + 0.5),
            base=place[chosen, 1] + 1 - PAD,
            y=-FULL * share[chosen],
            width=width * 0.8,
            marker={"color": colour, "line": {"width": 0}},
            name=kind,
            text=[text for text, other in zip(texts, kinds, strict=True) if other == kind],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
