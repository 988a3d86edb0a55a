"""Colours, type and frame of every chart. A colour has one meaning, the same on every page."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import plotly.graph_objects as go

from dsebo.config import METHODS
from dsebo.text import is_number

# Okabe and Ito's palette, told apart by colour-blind readers too; sky and orange are a shade darker, so
# that a line in any of these has a contrast of 3 or more on a light and on a dark page.
BLUE = "#0072B2"  # best-so-far
SKY = "#3A9AD4"  # single evaluations, seeds
ORANGE = "#C48700"  # subspace dimension
GREEN = "#009E73"  # slopes
VERMILLION = "#D55E00"  # the decision that is being explained
PURPLE = "#CC79A7"
BROWN = "#8C6A4F"
OLIVE = "#7A8A1E"
GREY = "#84898F"  # reference lines: F*, centre, d_e, d_h, the paper
TEXT = "#1F2328"  # on paper and in exports; the live chart takes the page's own
GRID = "rgba(132, 137, 143, 0.18)"
CLEAR = "rgba(0,0,0,0)"

FONT = "Source Sans, Source Sans Pro, system-ui, sans-serif"
SIZE = 14  # px; nothing is smaller: a projector is read from the last row
TITLE_SIZE = 16
LEFT = 76  # px; one left margin for all charts, so that iteration axes line up
RIGHT = 112  # px beside rows whose lines have names: these stand there, never in the data
PAPER_HEIGHT = 520  # px of three rows in a column of a paper, before they are made smaller
CLEAR_OF_0 = 5  # px by which numbers along an axis are further down, clear of the other axis's 0
ROW_GAP = 34  # px between two rows: the title of the lower one

# Words in the colour of a line, in a shade that is legible on a light and on a dark ground.
WORDS: dict[str, dict[str, str]] = {
    "light": {VERMILLION: "#B34A00", PURPLE: "#9C4576"},
    "dark": {VERMILLION: "#F08030", PURPLE: "#DB93BC"},
}


@cache
def script() -> str:
    """The code that draws a figure at a size and on a ground, for pages, reports and files."""
    code = (files("dsebo.charts") / "figure.js").read_text(encoding="utf-8")
    return f"window.dseboWords = {json.dumps(WORDS)};\n{code}"


def _parts(colour: str) -> tuple[int, ...]:
    """Red, green and blue of a hex colour."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def faint(colour: str, alpha: float) -> str:
    """A hex colour made transparent."""
    red, green, blue = _parts(colour)
    return f"rgba({red}, {green}, {blue}, {alpha})"


def mixed(low: str, high: str, share: float) -> str:
    """The hex colour at this share of the way from one to another."""
    ends = zip(_parts(low), _parts(high), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in ends)


def contrast(first: str, second: str) -> float:
    """Of two hex colours, as WCAG 2 defines it; its level AA asks for 4.5 for words and 3 for lines."""
    low, high = sorted(_luminance(colour) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    shares = (part / 255 for part in _parts(colour))
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable_on(ground: str) -> str:
    """Black or white: what has more contrast."""
    return max("#000000", "#FFFFFF", key=lambda ink: contrast(ink, ground))


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
    if "domain" in more:  # rounding may take a share past the figure's edge
        more["domain"] = [min(max(share, 0.0), 1.0) for share in more["domain"]]
    plain = {"gridcolor": GRID, "zeroline": False, "automargin": False}
    return {**plain, "tickfont": {"size": SIZE}, **more}


def axis_name(text: str, y: float, yref: str = "paper") -> dict[str, Any]:
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
        "yref": yref,
        "y": y,
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
        **({"dtick": 1} if budget < 8 else {}),  # there is no evaluation 0.5
        anchor=anchor,
        showgrid=False,
        ticklabelstandoff=CLEAR_OF_0,
        showspikes=True,
        spikemode="across",
        spikethickness=1,
        spikedash="solid",
        spikecolor=GREY,
        spikesnap="hovered data",
        unifiedhovertitle={"text": "evaluation %{x}"},
    )


def legend_above() -> dict[str, Any]:
    """A legend over the figure, its entries side by side."""
    place = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "yref": "container"}
    return {**place, "bgcolor": CLEAR, "font": {"size": SIZE}}


def heading(text: str, y: float, yref: str = "paper") -> dict[str, Any]:
    """The title of one row of a figure, at its upper left: what one should see in it."""
    return {
        "text": f"<b>{text}</b>",
        "name": "heading",
        "xref": "paper",
        "yref": yref,
        "x": 0,
        "y": y,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 6,
        "showarrow": False,
        "font": {"size": TITLE_SIZE},
    }


def beside(text: str, axis: str, y: float, x: float = 1, colour: str | None = None) -> dict[str, Any]:
    """The name of a line, right of its row; those that are close move apart as they are drawn."""
    place = {"xref": "paper", "x": x, "xanchor": "left", "xshift": 5, "yref": axis, "y": y}
    ink = {} if colour is None else {"font": {"color": colour}}
    words = {"text": text, "align": "left", "showarrow": False, "name": "beside", "yanchor": "middle"}
    return words | place | ink


@dataclass
class Sketch:
    """Plain dicts that Plotly validates once, at the end: piece by piece is ten times slower."""

    layout: dict[str, Any]
    traces: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)

    def scatter(self, **trace: Any) -> None:
        """Dots or a line."""
        self.traces.append({"type": "scatter", **trace})

    def bar(self, **trace: Any) -> None:
        """Bars."""
        self.traces.append({"type": "bar", **trace})

    def across(self, y: float, axis: str, line: Mapping[str, Any]) -> None:
        """A line over the whole width, under the data."""
        place = {"xref": "paper", "x0": 0, "x1": 1, "yref": axis, "y0": y, "y1": y}
        self.shapes.append({"type": "line", "layer": "below", **place, "line": dict(line)})

    def upright(self, x: float, *rows: str) -> None:
        """A line through these rows, not through their titles: what is being explained."""
        line = {"color": VERMILLION, "width": 1.5, "dash": "dot"}
        for row in rows:
            place = {"x0": x, "x1": x, "yref": f"{row} domain", "y0": 0, "y1": 1}
            self.shapes.append({"type": "line", "layer": "below", **place, "line": line})

    def note(self, text: str, **place: Any) -> None:
        """A text without an arrow."""
        self.notes.append({"text": text, "showarrow": False, **place})

    def beside(self, text: str, axis: str, y: float, colour: str | None = None) -> None:
        """The name of a line, right of its row at y."""
        self.notes.append(beside(text, axis, y, colour=colour))

    def figure(self) -> go.Figure:
        """The finished figure, checked."""
        return go.Figure(self.to_plotly_json())

    def to_plotly_json(self) -> dict[str, Any]:
        """What a browser draws, as it is: the check takes longer than all else of a refresh.

        The empty template keeps Plotly's own off the wire.
        """
        whole = {**self.layout, "annotations": self.notes, "shapes": self.shapes, "template": {}}
        return {"data": self.traces, "layout": whole}


def stacked_rows(layout: dict[str, Any], rows: Sequence[str], names: Mapping[str, tuple[str, str]]) -> Sketch:
    """A figure of rows over one x axis, each with a title and the name of its axis, from the top.

    They are equally tall; `figure.js` divides another height in the same way.
    """
    inside = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    gap = ROW_GAP / inside
    height = (1 - gap * (len(rows) - 1)) / len(rows)
    layout["meta"] = layout.get("meta", {}) | {"rows": {"count": len(rows), "gap": ROW_GAP}}
    sketch = Sketch(layout)
    for index, row in enumerate(rows):
        top = 1 - index * (height + gap)
        y = "y" if index == 0 else f"y{index + 1}"
        title, name = names[row]
        layout[f"yaxis{y[1:]}"] = axis(domain=[top - height, top], anchor="x", nticks=5)
        sketch.notes += [heading(title, 1, f"{y} domain"), axis_name(name, 0.5, f"{y} domain")]
    return sketch


def captioned(figure: go.Figure, caption: str) -> go.Figure:
    """With the settings in words, which files have below the figure."""
    figure.layout.meta = {**(figure.layout.meta or {}), "caption": caption}
    return figure


# --- who has which colour and dash ---

Style = tuple[str, str]
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# Of what is compared; without sky, which beside blue is a second blue.
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, OLIVE, BROWN)
# Curves that are compared, in a fixed order, told apart by colour and dash alike.
SERIES: tuple[Style, ...] = (
    (BLUE, "solid"),
    (VERMILLION, "dash"),
    (GREEN, "dot"),
    (ORANGE, "dashdot"),
    (PURPLE, "longdash"),
    (OLIVE, "solid"),
    (GREY, "dash"),
    (BROWN, "dot"),
)
# Numbers in their order, from the least to the largest.
SEQUENCE = ("#4C63D2", "#8F55C8", "#C2478F", "#D9613F", "#C48700")
# Those of the methods that have one by hand; any other takes one that is free.
STYLES: dict[str, Style] = {
    "dsebo": (BLUE, "solid"),
    "random": (VERMILLION, "dash"),
    "turbo": (GREEN, "dot"),
    "baxus": (ORANGE, "dashdot"),
    "rembo": (PURPLE, "longdash"),
    "hesbo": (OLIVE, "solid"),
    "vbo": (BROWN, "dot"),
    "sbo-se": (BROWN, "solid"),
    "sirbo": (GREEN, "dash"),
    "mcts-vs": (ORANGE, "solid"),
    "lm-ma-es": (VERMILLION, "dot"),
    "dcem": (VERMILLION, "dashdot"),
    "centre": (GREY, "dash"),  # as its line is on every chart
    "bandit-extreme": (GREEN, "solid"),
    "bandit-c-ucb": (OLIVE, "dash"),
    "bandit-epsilon-greedy": (PURPLE, "dot"),
    "bandit-softmax": (BROWN, "dash"),
    "bandit-successive-halving": (OLIVE, "dot"),
    "bandit-ucb-e": (OLIVE, "dashdot"),
    "bandit-thompson": (ORANGE, "dash"),
    "bandit-expectation": (ORANGE, "dot"),
    "bandit-random": (BROWN, "dashdot"),
}


def series_style(index: int) -> Style:
    """(colour, dash) of the index-th compared curve."""
    return SERIES[index % len(SERIES)]


def method_style(method: str) -> Style:
    """(colour, dash) of a method, the same in every chart: by hand, or one that no other method has.

    Which one that is depends on the method's name, so that it stays when methods are added later.
    """
    styles = dict(STYLES)
    free = [(colour, dash) for dash in DASHES for colour in COLOURS if (colour, dash) not in styles.values()]
    for name in dict.fromkeys([*METHODS, method]):
        if name not in styles:
            styles[name] = _free(free[zlib.crc32(name.encode()) % len(free)], set(styles.values()))
    return styles[method]


def styles_of(methods: Mapping[str, str]) -> dict[str, Style]:
    """(colour, dash) by label; a method that runs twice keeps its colour and takes another dash."""
    return styles_for({label: {"method": method} for label, method in methods.items()})


def styles_for(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Style]:
    """(colour, dash) by label, from the settings that tell the labels apart, the same in every chart.

    A method has its own. The labels of one method that vary in one setting have its colours; in two as a
    grid, the colour of the second, as in a response curve, and the dash of the first; those that vary in
    more have one after another.
    """
    by_method: dict[str, list[str]] = {}
    for label, values in settings.items():
        by_method.setdefault(str(values.get("method", "")), []).append(label)
    styles: dict[str, Style] = {}
    for method, labels in sorted(by_method.items(), key=lambda item: len(item[1])):
        told = {label: _without_method(settings[label]) for label in labels}
        alike = len({tuple(values.items()) for values in told.values()}) == 1
        if method and (alike or len(labels) == 1):
            wanted = dict.fromkeys(labels, method_style(method.split(":")[0]))
        else:
            wanted = _styles_within(told, {colour for colour, _ in styles.values()})
        for label in labels:
            styles[label] = _free(wanted[label], set(styles.values()))
    return {label: styles[label] for label in settings}


def _without_method(values: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in values.items() if field != "method"}


def _styles_within(settings: Mapping[str, Mapping[str, Any]], taken: set[str]) -> dict[str, Style]:
    """Those of the labels of one method."""
    names = dict.fromkeys(field for values in settings.values() for field in values)
    values = {field: [told.get(field) for told in settings.values()] for field in names}
    fields = [field for field in names if len(set(values[field])) > 1]
    first = fields[0] if fields else ""
    named = not all(is_number(value) for value in values.get(first, []))
    if first and len(set(values[first])) == len(settings) and not (named and taken):
        own = value_styles(first, values[first])
        return {label: own[told.get(first)] for label, told in settings.items()}
    if len(fields) == 2 and len(settings) == len(set(values[fields[0]])) * len(set(values[fields[1]])):
        second = fields[1]
        own, dashes = value_styles(second, values[second]), list(dict.fromkeys(values[first]))
        return {
            label: (own[told.get(second)][0], DASHES[dashes.index(told.get(first)) % len(DASHES)])
            for label, told in settings.items()
        }
    free = [style for style in SERIES if style[0] not in taken] or list(SERIES)
    return {label: free[index % len(free)] for index, label in enumerate(settings)}


def value_styles(field: str, values: Sequence[Any]) -> dict[Any, Style]:
    """(colour, dash) of each value of a setting: numbers in their order on a scale, methods as always."""
    unique = list(dict.fromkeys(values))
    if field == "method":
        return {value: method_style(str(value).split(":")[0]) for value in unique}
    if len(unique) < 2 or not all(is_number(value) for value in unique):
        return {value: series_style(index) for index, value in enumerate(unique)}
    return {
        value: (_between(index / (len(unique) - 1)), DASHES[index % len(DASHES)])
        for index, value in enumerate(sorted(unique))
    }


def _between(share: float) -> str:
    """The colour at this share of the sequence."""
    at = share * (len(SEQUENCE) - 1)
    low = min(int(at), len(SEQUENCE) - 2)
    return mixed(SEQUENCE[low], SEQUENCE[low + 1], at - low)


def _free(wanted: Style, taken: set[Style]) -> Style:
    colours = (wanted[0], *(colour for colour in COLOURS if colour != wanted[0]))
    options = [wanted, *((colour, dash) for colour in colours for dash in DASHES)]
    return next((style for style in options if style not in taken), wanted)
