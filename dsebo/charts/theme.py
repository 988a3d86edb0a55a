"""Colours and type of every chart. A colour has one meaning, the same on every page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Okabe and Ito's palette: told apart by colour-blind readers too.
BLUE = "#0072B2"  # best-so-far
SKY = "#56B4E9"  # single evaluations, seeds
ORANGE = "#E69F00"  # subspace dimension
GREEN = "#009E73"  # slopes
VERMILLION = "#D55E00"  # the decision that is being explained
PURPLE = "#CC79A7"
GREY = "#84898F"  # reference lines: F*, centre, d_e, d_h, the paper
TEXT = "#1F2328"  # on paper and in exports; the live chart takes the page's own
GRID = "rgba(132, 137, 143, 0.18)"
CLEAR = "rgba(0,0,0,0)"

FONT = "Source Sans, Source Sans Pro, system-ui, sans-serif"
SIZE = 14  # px; nothing is smaller: a projector is read from the last row
TITLE_SIZE = 16
LEFT = 76  # px; one left margin for all charts, so that iteration axes line up

# Curves that are compared, in a fixed order, told apart by colour and dash alike.
SERIES = (
    (BLUE, "solid"),
    (VERMILLION, "dash"),
    (GREEN, "dot"),
    (ORANGE, "dashdot"),
    (PURPLE, "longdash"),
    (SKY, "solid"),
    (GREY, "dash"),
    ("#8C6D00", "dot"),
)


def series_style(index: int) -> tuple[str, str]:
    """(colour, dash) of the index-th compared curve."""
    return SERIES[index % len(SERIES)]


def faint(colour: str, alpha: float) -> str:
    """A hex colour made transparent."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {alpha})"


def base_layout(height: int) -> dict[str, Any]:
    """What every figure shares: quiet, no boxes, room for the axis names."""
    return {
        "height": height,
        "margin": {"l": LEFT, "r": 16, "t": 34, "b": 52},
        "font": {"family": FONT, "size": SIZE, "color": TEXT},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "showlegend": False,
        "hoverlabel": {"font": {"family": FONT, "size": SIZE}},
        "dragmode": "zoom",
        "barmode": "overlay",
    }


def axis(**more: Any) -> dict[str, Any]:
    """An axis: light grid lines, nothing else."""
    plain = {"gridcolor": GRID, "zeroline": False, "automargin": False}
    return {**plain, "tickfont": {"size": SIZE}, **more}


def axis_name(text: str, between: tuple[float, float]) -> dict[str, Any]:
    """The name of a row's value axis; an annotation, as Plotly's own titles do not line up."""
    return {
        "text": text,
        "textangle": -90,
        "showarrow": False,
        "name": "axis",
        "xref": "paper",
        "x": 0,
        "xanchor": "center",
        "xshift": -58,
        "yref": "paper",
        "y": sum(between) / 2,
        "yanchor": "middle",
    }


def axis_title(text: str) -> dict[str, Any]:
    """The name of an axis across, close to it and no larger than its numbers."""
    return {"text": text, "standoff": 8, "font": {"size": SIZE}}


def iteration_axis(budget: int, anchor: str = "y") -> dict[str, Any]:
    """The axis that all rows of a figure share."""
    return axis(
        title=axis_title("evaluation t"),
        range=[0, budget * 1.01],
        anchor=anchor,
        showgrid=False,
        showspikes=True,
        spikemode="across",
        spikethickness=1,
        spikedash="solid",
        spikecolor=GREY,
        spikesnap="hovered data",
        unifiedhovertitle={"text": "evaluation %{x}"},
    )


def heading(text: str, y: float) -> dict[str, Any]:
    """The title of one row of a figure, at its upper left: what one should see in it."""
    return {
        "text": f"<b>{text}</b>",
        "name": "heading",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": y,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 6,
        "showarrow": False,
        "font": {"size": TITLE_SIZE},
    }


def stacked_rows(
    rows: Mapping[str, tuple[float, float]], names: Mapping[str, tuple[str, str]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(the value axes of rows over one x axis, their titles and names), from the first row on.

    Args:
        rows: The part of the height that each row takes.
        names: The title and the axis' name of each.
    """
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for index, (row, between) in enumerate(rows.items(), start=1):
        title, name = names[row]
        place = f"yaxis{index if index > 1 else ''}"
        axes[place] = axis(domain=between, anchor="x", nticks=5)
        notes += [heading(title, between[1]), axis_name(name, between)]
    return axes, notes
