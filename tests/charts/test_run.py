"""The chart of a run says what the events say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dsebo.charts import theme
from dsebo.charts.curves import AREA, Curves
from dsebo.charts.function import function_picture
from dsebo.charts.run import run_figure, value_span
from dsebo.charts.scales import References
from objectives import EmbeddedConfig

LINES = References(minimum=0.0, at_centre=8.0, paper=3.94, d_e=8, d_h=20)


def draw(evaluations: pd.DataFrame, changes: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    figure = run_figure(evaluations, changes, more.pop("lines", LINES), 40, **more)
    return json.loads(figure.to_json())


def texts(figure: dict[str, Any]) -> list[str]:
    return [note["text"] for note in figure["layout"]["annotations"]]


def trace(figure: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in figure["data"] if one["name"] == name)


def test_three_rows_share_one_iteration_axis(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]]
) -> None:
    figure = draw(evaluations, changes)
    layout = figure["layout"]
    assert layout["hoversubplots"] == "axis"
    assert "xaxis2" not in layout
    assert {one.get("yaxis", "y") for one in figure["data"]} == {"y", "y2", "y3"}
    assert all(one.get("xaxis", "x") == "x" for one in figure["data"])
    said = " ".join(texts(figure))
    for title in ("Best value so far", "The subspace grows", "Slope", "dimension d", "value F(x)"):
        assert title in said


def test_nothing_is_smaller_than_14_px(evaluations: pd.DataFrame, changes: list[dict[str, Any]]) -> None:
    figure = json.dumps(draw(evaluations, changes)["layout"])
    sizes = [int(part.split("}")[0].split(",")[0]) for part in figure.split('"size": ')[1:]]
    assert min(sizes) >= 14
    assert "<sub" not in figure


def test_a_bar_for_each_slope_at_its_convergence(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]]
) -> None:
    figure = run_figure(evaluations, changes, LINES, 40)
    bars = next(one for one in figure.data if one.type == "bar")
    sloped = [change for change in changes if change["slopes"]]
    assert list(bars.x) == [change["t"] for change in sloped]
    assert list(bars.y) == [change["slopes"][-1] for change in sloped]


def test_the_deciding_bar_stands_out_in_every_row(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]]
) -> None:
    sloped = [c for c in changes if c["slopes"] and c["event"] == "expanded"]
    chosen = sloped[0]
    figure = run_figure(evaluations, changes, LINES, 40, chosen=chosen["t"])
    bars = next(one for one in figure.data if one.type == "bar")
    marks = next(one for one in figure.data if one.name == "expands to")
    at = list(bars.x).index(chosen["t"])
    assert bars.marker.line.color[at] == theme.VERMILLION
    assert sum(colour == theme.VERMILLION for colour in bars.marker.line.color) == 1
    assert marks.marker.color[list(marks.x).index(chosen["t"])] == theme.VERMILLION
    across = [s for s in figure.layout.shapes if s.line.color == theme.VERMILLION]
    # through the two rows above, but neither through titles nor through the words over the bar
    assert [(s.x0, s.yref, s.y0, s.y1) for s in across] == [
        (chosen["t"], "y domain", 0, 1),
        (chosen["t"], "y2 domain", 0, 1),
    ]


def test_s_min_s_max_k_and_step_stand_there_as_text(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]]
) -> None:
    decided = [change for change in changes if change["k"] is not None]
    if not decided:
        pytest.skip("this run scaled no step")
    said = " ".join(texts(draw(evaluations, changes, chosen=decided[0]["t"])))
    assert f"k = {decided[0]['k']:.2f}" in said
    assert "sₘᵢₙ" in said
    assert "sₘₐₓ" in said
    assert f"Δd {decided[0]['delta_before']} → {decided[0]['delta_after']}" in said


def test_the_grey_lines_are_named(evaluations: pd.DataFrame, changes: list[dict[str, Any]]) -> None:
    said = texts(draw(evaluations, changes))
    assert "centre 8" in said
    assert "paper 3.94" in said
    assert "F* = 0 ↓" in said
    assert "dₑ = 8" in said
    assert "F* = 0" in texts(draw(evaluations, changes, scale="linear"))


def test_the_dimension_axis_ends_above_what_is_used(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]]
) -> None:
    def drawn(d: float, d_e: int | None, d_h: int) -> tuple[Any, list[str]]:
        lines = References(d_e=d_e, d_h=d_h)
        figure = draw(evaluations.assign(d=d), [], lines=lines)
        return figure["layout"]["yaxis2"], texts(figure)

    axis, said = drawn(10.0, 30, 100)
    assert axis["range"] == [0, 36]
    assert "dₑ = 30" in said
    assert "dₕ = 100 ↑" in said  # an arrow at the edge
    axis, said = drawn(60.0, 30, 70)
    assert axis["range"] == [0, 72]
    assert "dₕ = 70" in said
    axis, said = drawn(1000.0, 30, 1000)  # a method that goes to D
    assert axis["type"] == "log"
    assert axis["range"][1] == pytest.approx(np.log10(1200))
    assert "30" not in axis["ticktext"]
    assert draw(evaluations, [], largest_d=90.0)["layout"]["yaxis2"]["range"] == [0, 108]


@pytest.mark.parametrize("height", [420, 620, 1000])
def test_three_rows_are_equally_tall_at_every_height(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]], height: int
) -> None:
    layout = draw(evaluations, changes, height=height)["layout"]
    inside = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    rows = [layout[axis]["domain"] for axis in ("yaxis", "yaxis2", "yaxis3")]
    tall = [(high - low) * inside for low, high in rows]
    assert tall == pytest.approx([tall[0]] * 3)
    assert tall[0] > 85
    assert [(rows[i][0] - rows[i + 1][1]) * inside for i in (0, 1)] == pytest.approx([theme.ROW_GAP] * 2)


def is_area(note: dict[str, Any]) -> bool:
    return str(note.get("name")).startswith(AREA)


def test_the_two_areas_have_their_names_in_them(evaluations: pd.DataFrame) -> None:
    frame = evaluations.assign(best=100.0, y=100.0, floor=10.0)
    figure = draw(frame, [], lines=References(minimum=1.0, d_e=8, d_h=20))
    names = {note["text"]: note for note in figure["layout"]["annotations"] if is_area(note)}
    assert 0 < names["out of reach"]["y"] < 1 < names["within reach"]["y"] < 2
    assert "reachable 10" in texts(figure)
    thin = draw(frame.assign(floor=80.0), [], lines=References(minimum=1.0, d_e=8, d_h=20))
    offered = [note for note in thin["layout"]["annotations"] if note["text"] == "within reach"]
    *inside, end = [note["name"].split() for note in offered]
    assert all(float(tall) < 0.1 for _, _, tall in inside)  # too low for words on any page
    assert end == [AREA, "end"]
    assert offered[-1]["x"] == 1 + len(frame)  # they may stand where nothing is drawn yet
    none = draw(frame.assign(floor=np.nan), [])
    assert not any(map(is_area, none["layout"]["annotations"]))


def test_a_log_axis_gives_way_where_values_are_not_positive(evaluations: pd.DataFrame) -> None:
    below = evaluations.assign(y=evaluations["y"] - 1000, best=evaluations["best"] - 1000)
    figure = draw(below, [], scale="log")
    assert figure["layout"]["yaxis"]["type"] == "linear"
    assert "customdata" in trace(figure, "best so far")  # the hover says the true value


def test_an_empty_run_and_one_without_a_subspace(evaluations: pd.DataFrame) -> None:
    assert draw(evaluations.iloc[:0], [])["layout"]["yaxis3"]
    alone = draw(evaluations.assign(d=np.nan), [], lines=References(minimum=0.0))
    assert "yaxis2" not in alone["layout"]


def test_500_evaluations_fit_in_30_kB(changes: list[dict[str, Any]]) -> None:
    t = np.arange(1, 501)
    y = np.random.default_rng(0).uniform(1, 90, 500)
    frame = pd.DataFrame({"t": t, "y": y, "best": np.minimum.accumulate(y), "d": 5 + t // 25})
    figure = run_figure(frame, changes, LINES, 500)
    assert len(figure.to_json()) < 26_000


def test_a_replay_keeps_its_axes(evaluations: pd.DataFrame, changes: list[dict[str, Any]]) -> None:
    span = value_span(evaluations, LINES, "log")
    early = draw(evaluations.iloc[:5], [], value_range=span)
    late = draw(evaluations, changes, value_range=span)
    assert early["layout"]["yaxis"]["range"] == late["layout"]["yaxis"]["range"]
    assert early["layout"]["xaxis"]["range"] == late["layout"]["xaxis"]["range"]


def test_a_ghost_is_drawn_in_grey_behind_the_run(
    evaluations: pd.DataFrame, changes: list[dict[str, Any]]
) -> None:
    best = np.array([500.0, 400.0, 1e-3, 1e-3])
    ghost = Curves(best, np.array([5.0, 5.0, 60.0, 60.0]), [(2, 99.0), (3, -7.0)])
    plain, figure = draw(evaluations, changes), draw(evaluations, changes, ghost=ghost)
    first = [one["name"] for one in figure["data"][:3]]
    assert first == ["ghost: best so far", "ghost: dimension d", "ghost: slope"]
    assert [one["name"] for one in figure["data"][3:]] == [one["name"] for one in plain["data"]]
    grey = theme.faint(theme.GREY, 0.6)
    assert figure["data"][0]["line"]["color"] == figure["data"][2]["marker"]["color"] == grey
    low, high = figure["layout"]["yaxis"]["range"]
    assert low <= -3
    assert high >= np.log10(500)
    assert figure["layout"]["yaxis2"]["range"][1] > 60
    assert figure["layout"]["yaxis3"]["range"][0] == -7
    assert figure["layout"]["yaxis3"]["range"][1] > 99
    assert "changes" in figure["layout"]["meta"]
    alone = draw(evaluations.assign(d=np.nan), [], lines=References(minimum=0.0), ghost=ghost)
    assert [one["name"] for one in alone["data"] if "ghost" in one["name"]] == ["ghost: best so far"]
    without_d = Curves(best, np.full(4, np.nan))
    assert [one["name"] for one in draw(evaluations, changes, ghost=without_d)["data"]][1] == "value"


@pytest.mark.parametrize("name", EmbeddedConfig.names())
def test_every_function_has_a_picture(name: str) -> None:
    assert function_picture(name, 0.5).figure().data[0].type == "contour"


@pytest.mark.parametrize("scale", ["log", "linear", "symlog"])
def test_failures_are_marked_inside_the_axis(scale: Any) -> None:
    """On its very edge a rounding decides whether Plotly draws them at all."""
    y = np.array([23.9, np.nan, 19.3, np.nan, 3.817])
    best = [23.9, 23.9, 19.3, 19.3, 3.817]
    evaluations = pd.DataFrame({"t": range(1, 6), "y": y, "best": best, "d": np.nan})
    figure = run_figure(evaluations, [], References(), 5, scale=scale)
    marks = next(trace for trace in figure.data if trace.name == "failed")
    low, high = figure.layout.yaxis.range
    places = np.log10(marks.y) if scale == "log" else np.array(marks.y)
    assert list(marks.x) == [2, 4]
    assert ((low + 0.01 * (high - low) < places) & (places < high)).all()
