"""The charts of an experiment, from frames made by hand."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dsebo.charts import theme
from dsebo.charts.cells import lines_of_task
from dsebo.charts.curves import Curves
from dsebo.charts.experiment import heat_figure, overlay_figure, response_figure
from dsebo.charts.grid import COLOURS, grid_figure
from dsebo.charts.panels import panels_figure
from dsebo.experiments.spec import ExperimentSpec
from tests.charts.cells import BETAS, curves_of, functions, one_axis, two_axes
from tests.experiments.frames import progress, seeds


def texts(figure: Any) -> list[str]:
    return [str(note.text) for note in figure.layout.annotations]


def named(figure: Any, name: str) -> Any:
    return next(trace for trace in figure.data if trace.name == name)


# --- curves ---------------------------------------------------------------------------------


def test_the_overlay_has_a_curve_a_band_and_n_for_each_cell() -> None:
    frame = one_axis()
    frame.loc[(frame["beta"] == 32.0) & (frame["seed"] > 3), "state"] = "running"
    finished = frame[frame["state"] == "finished"]
    figure = overlay_figure(frame, ["beta"], curves_of(finished), "median")
    legend = [trace.name for trace in figure.data if trace.showlegend]
    assert legend[0] == "β = 1 (n = 10)"
    assert legend[-1] == "β = 32 (n = 3)"
    assert sum(trace.fill == "tonexty" for trace in figure.data) == 12  # value and dimension; not of three
    assert "centre 30" in texts(figure)
    assert figure.layout.legend.orientation == "h"


OF_LASSO = ["best constant λ", "best of 500 random"]


def sweep_of(task: str, **axes: list[Any]) -> ExperimentSpec:
    base = {"objective": {"name": task}, "optimizer": {"method": "dsebo"}, "budget": 20}
    return ExperimentSpec.parse({"base": base, "axes": axes, "seeds": "1-2"})


def grey_lines(figure: Any) -> dict[str, set[float]]:
    """By their names: the values at which they are drawn, where they are traces."""
    drawn: dict[str, set[float]] = {}
    for trace in figure.data:
        if trace.line.color == theme.GREY:
            drawn.setdefault(trace.name, set()).update(float(value) for value in trace.customdata)
    return drawn


def test_every_chart_of_one_task_has_its_reference_lines() -> None:
    of_task = lines_of_task(sweep_of("lasso-hard", beta=[1, 8]))
    frame = progress({(1,): [9.0, 3.0], (8,): [4.0, 5.0]}, minimum=None, centre=7.877)
    assert [list(lines) for lines in of_task.values()] == [OF_LASSO, OF_LASSO]
    for figure in (
        overlay_figure(frame, ["beta"], curves_of(frame), of_task=of_task),
        panels_figure(frame, ["beta"], curves_of(frame), of_task=of_task),
        response_figure(frame, ["beta"], of_task=of_task),
    ):
        shown = " ".join(texts(figure)).replace("<br>", " ")
        assert all(name in shown for name in ("centre 7.877", *OF_LASSO))
    panels = grey_lines(panels_figure(frame, ["beta"], curves_of(frame), of_task=of_task))
    assert panels == {"centre": {7.877}, **{name: {of_task[0][name]} for name in OF_LASSO}}


def test_cells_of_two_tasks_have_each_its_own_lines_and_no_shared_one() -> None:
    noises = ["noiseless", "noisy"]
    of_task = lines_of_task(sweep_of("lasso-simple", noise=noises))
    frame = progress({(noise,): [2.0, 1.5] for noise in noises}, ("noise",), minimum=None, centre=4.0)
    overlay = overlay_figure(frame, ["noise"], curves_of(frame), of_task=of_task)
    assert not any("λ" in text or "random" in text for text in texts(overlay))
    for figure in (
        panels_figure(frame, ["noise"], curves_of(frame), of_task=of_task),
        response_figure(frame, ["noise"], of_task=of_task),
    ):
        for name in OF_LASSO:
            assert grey_lines(figure)[name] == {of_task[0][name], of_task[1][name]}
    tasks = ["lasso-hard", "lasso-high"]
    of_task = lines_of_task(sweep_of("lasso-hard", function=tasks))
    both = progress({(task,): [9.0, 3.0] for task in tasks}, ("function",), minimum=None)
    one = overlay_figure(
        both[both["cell"] == 1], ["function"], curves_of(both[both["cell"] == 1]), of_task=of_task
    )
    assert any("constant λ 2.484" in text.replace("<br>", " ") for text in texts(one))


def test_long_names_of_lines_are_broken_between_two_functions() -> None:
    tasks = ["lasso-hard", "lasso-high"]
    frame = progress({(task,): [9.0, 3.0] for task in tasks}, ("function",), minimum=None, centre=None)
    figure = response_figure(frame, ["function"], of_task=lines_of_task(sweep_of(tasks[0], function=tasks)))
    beside = [note.text for note in figure.layout.annotations if note.name == "beside"]
    assert ["<br>" in text for text in beside] == [True, True, False, False]
    assert beside[0] == "best constant<br>λ 2.329"


def test_the_final_value_has_no_line_that_only_some_cells_have() -> None:
    frame = progress({(1,): [2.0, 3.0], (8,): [4.0, 5.0]})
    figure = response_figure(frame, ["beta"], of_task={0: {"best of 500 random": 1.0}, 1: {}})
    assert set(grey_lines(figure)) == {"centre"}


def test_a_cell_without_a_finished_run_is_not_drawn() -> None:
    frame = progress({(1,): [2.0, 3.0], (8,): [None, "failed"]})
    figure = overlay_figure(frame, ["beta"], curves_of(frame))
    assert [t.name for t in figure.data if t.showlegend] == ["β = 1 (n = 2)"]
    panels = panels_figure(frame, ["beta"], curves_of(frame))
    assert "<b>β = 8</b> (n = 0 of 2)" in texts(panels)


def test_the_small_multiples_share_their_axes() -> None:
    figure = panels_figure(one_axis(), ["beta"], curves_of(one_axis()), "median")
    titles = [text for text in texts(figure) if text.startswith("<b>β")]
    assert titles == [f"<b>β = {b:g}</b> (n = 10)" for b in BETAS]
    blue = [trace for trace in figure.data if trace.name == "best"]
    orange = [trace for trace in figure.data if trace.name == "d"]
    assert len(blue) == len(orange) == 7
    assert {trace.line.color for trace in blue} == {theme.BLUE}
    assert {trace.line.color for trace in orange} == {theme.ORANGE}
    plain = figure.layout.to_plotly_json()
    ranges = {tuple(plain[f"yaxis{n}"]["range"]) for n in ("", 3, 5, 7, 9, 11, 13)}
    assert len(ranges) == 1
    dimensions = {tuple(plain[f"yaxis{n}"]["range"]) for n in (2, 4, 6, 8, 10, 12, 14)}
    assert dimensions == {(0, 12 * 1.2)}
    assert plain["xaxis2"]["domain"][0] > plain["xaxis"]["domain"][1]
    assert plain["yaxis2"]["domain"][1] < plain["yaxis"]["domain"][0]


def test_on_a_phone_two_panels_stand_side_by_side() -> None:
    figure = panels_figure(one_axis(), ["beta"], curves_of(one_axis()))
    narrow = figure.layout.meta["narrow"]
    assert narrow["height"] > figure.layout.height
    assert narrow["xaxis3"]["domain"] == narrow["xaxis"]["domain"]
    assert {key for key in narrow if "axis" in key} == {
        key for key in figure.layout.to_plotly_json() if "axis" in key
    }


def test_with_two_axes_a_row_of_panels_is_one_value_of_the_first() -> None:
    figure = panels_figure(two_axes(), ["beta", "d_h"], curves_of(two_axes()))
    plain = figure.layout.to_plotly_json()
    assert plain["yaxis7"]["domain"][1] < plain["yaxis"]["domain"][0]
    assert plain["yaxis5"]["domain"] == plain["yaxis"]["domain"]


def test_methods_without_a_dimension_have_no_row_for_it() -> None:
    frame = progress({("random",): [2.0], ("centre",): [3.0]}, ("method",))
    figure = panels_figure(frame, ["method"], curves_of(frame, with_d=False))
    assert not any(trace.name == "d" for trace in figure.data)
    assert "yaxis2" not in figure.layout


def test_single_seeds_on_demand() -> None:
    frame, curves = one_axis(4), curves_of(one_axis(4))
    more = panels_figure(frame, ["beta"], curves, singles=True)
    assert len(more.data) == len(panels_figure(frame, ["beta"], curves).data) + 2 * 7 * 4


def test_a_negative_value_leaves_the_log_axis() -> None:
    frame = progress({(1,): [-5.0, -6.0], (8,): [-7.0, -8.0]}, minimum=-29.6, centre=-5.35)
    curves = {
        run: Curves(np.array([best]), np.array([5.0]))
        for run, best in zip(frame["run_id"], frame["best"], strict=True)
    }
    for figure in (
        panels_figure(frame, ["beta"], curves, scale="log"),
        overlay_figure(frame, ["beta"], curves, scale="log"),
        response_figure(frame, ["beta"], scale="log"),
    ):
        assert figure.layout.yaxis.type == "linear"
        drawn = np.concatenate([t.y for t in figure.data if t.mode != "text" and not t.fill])
        assert -7.5 in drawn  # the median itself, not its logarithm


def test_an_empty_sweep_draws_empty_charts() -> None:
    frame = progress({(1,): [None, None], (8,): [None, None]}, minimum=None, centre=None)
    assert overlay_figure(frame, ["beta"], {}).data == ()
    assert panels_figure(frame, ["beta"], {}).data == ()
    assert response_figure(frame, ["beta"]).data == ()
    assert all(len(trace.x) == 0 for trace in grid_figure(frame, ["beta"]).data)


# --- response -------------------------------------------------------------------------------


def test_the_response_curve_by_hand() -> None:
    frame = progress({(1.0,): [1.0, 2.0, 4.0], (10.0,): [10.0, 20.0, 30.0]}, minimum=0.5)
    figure = response_figure(frame, ["beta"], "median", "log")
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.xaxis.ticktext) == ["1", "10"]
    line = named(figure, "")
    np.testing.assert_allclose(line.x, [1.0, 10.0])
    np.testing.assert_allclose(line.y, [2.0, 20.0])
    np.testing.assert_allclose(line.error_y.array, [1.0, 5.0])
    np.testing.assert_allclose(line.error_y.arrayminus, [0.5, 5.0])
    dots = next(trace for trace in figure.data if trace.mode == "markers")
    assert sorted(dots.y) == [1.0, 2.0, 4.0, 10.0, 20.0, 30.0]
    assert dots.marker.color == theme.faint(theme.SKY, 0.45)
    grey = {trace.name: trace.y[-1] for trace in figure.data if trace.line.color == theme.GREY}
    assert grey == {"centre": 30.0, "F*": 0.5}
    beside = {note.text: note.y for note in figure.layout.annotations if note.name == "beside"}
    assert beside == pytest.approx({"centre 30": np.log10(30), "F* 0.5": np.log10(0.5)})
    mean = named(response_figure(frame, ["beta"], "mean", "linear"), "")
    np.testing.assert_allclose(mean.y, [7 / 3, 20.0])
    np.testing.assert_allclose(mean.error_y.array, [np.std([1, 2, 4], ddof=1), 10.0])


def test_the_centre_may_change_along_the_axis() -> None:
    frame = progress({(10,): [1.0], (90,): [2.0]}, ("d_e",), centre={(10,): 10.0, (90,): 90.0})
    grey = next(t for t in response_figure(frame, ["d_e"]).data if t.line.color == theme.GREY)
    assert (list(grey.x), list(grey.y)) == ([10.0, 90.0], [10.0, 90.0])


def test_each_function_has_a_value_axis_of_its_own() -> None:
    figure = response_figure(functions(), ["d_e", "function"])
    assert [text for text in texts(figure) if ":" in text] == [
        "<b>Sphere: lower is better</b>",
        "<b>Levy: lower is better</b>",
    ]
    sphere, levy = figure.layout.yaxis.range, figure.layout.yaxis2.range
    assert levy[0] > sphere[1]
    assert figure.layout.meta["narrow"]["xaxis2"]["domain"] == [0.0, 1.0]
    lines = [trace for trace in figure.data if trace.error_y.array is not None]
    assert [trace.yaxis for trace in lines] == ["y", "y2"]
    alone = progress({("sphere",): [1.0, 2.0], ("levy",): [1000.0, 2000.0]}, ("function",))
    assert len(response_figure(alone, ["function"]).data) > 2


def test_the_second_axis_tells_the_lines_apart() -> None:
    figure = response_figure(two_axes(), ["beta", "d_h"])
    assert [t.name for t in figure.data if t.showlegend] == ["dₕ = 60", "dₕ = 80", "dₕ = 100"]
    styles = {(t.line.color, t.line.dash) for t in figure.data if t.showlegend}
    assert len(styles) == 3


def test_a_value_has_the_same_colour_in_every_chart_of_an_experiment() -> None:
    frame = two_axes()
    curves = overlay_figure(frame, ["beta", "d_h"], curves_of(frame))
    response = response_figure(frame, ["beta", "d_h"])
    wanted = {d_h: colour for d_h, (colour, _) in theme.value_styles("d_h", [60, 80, 100]).items()}
    assert {t.name: t.line.color for t in response.data if t.showlegend} == {
        f"dₕ = {d_h}": colour for d_h, colour in wanted.items()
    }
    for trace in (t for t in curves.data if t.showlegend):
        assert trace.line.color == wanted[int(trace.name.split(",")[1].split()[2])]
    one = frame[frame["d_h"] != 80].assign(state="running")  # not finished, but planned
    partly = pd.concat([frame[frame["d_h"] == 80], one])
    alone = overlay_figure(partly, ["beta", "d_h"], curves_of(partly[partly["d_h"] == 80]))
    assert {t.line.color for t in alone.data if t.showlegend} == {wanted[80]}


def test_names_stand_side_by_side_without_a_line() -> None:
    frame = progress({("dsebo",): [1.0, 2.0], ("random",): [3.0, 4.0]}, ("method",))
    figure = response_figure(frame, ["method"])
    assert list(figure.layout.xaxis.ticktext) == ["DSEBO", "Random search"]
    assert named(figure, "").mode == "markers"


# --- heat map -------------------------------------------------------------------------------


def test_the_heat_map_by_hand() -> None:
    frame = progress(
        {(1, 60): [1.0, 3.0], (1, 80): [100.0, None], (8, 60): [5.0, 5.0], (8, 80): [None, None]},
        ("beta", "d_h"),
    )
    figure = heat_figure(frame, ["beta", "d_h"])
    heat = figure.data[0]
    assert (list(heat.x), list(heat.y)) == (["1", "8"], ["60", "80"])
    assert [list(row) for row in heat.text] == [["2", "5"], ["100 (n = 1)", ""]]
    np.testing.assert_allclose(heat.z, [[0.0, np.log10(2.5) / np.log10(50)], [1.0, np.nan]], atol=1e-12)
    assert figure.data[1].textfont.color[0] == "#FFFFFF"
    for share in np.linspace(0, 1, 21):  # numbers are legible on every shade
        ground = theme.mixed(theme.BLUE, "#F3F6F8", float(share))
        assert theme.contrast(theme.readable_on(ground), ground) >= 4.5
    of_d = heat_figure(frame, ["beta", "d_h"], "final_d").data[0]
    assert [list(row) for row in of_d.text] == [["10", "12"], ["11 (n = 1)", ""]]
    assert heat_figure(frame, ["beta", "d_h"], "seconds").data[0].text[0][0] == "2"


def test_the_heat_map_colours_each_function_by_itself() -> None:
    figure = heat_figure(functions(), ["d_e", "function"])
    heat = figure.data[0]
    assert list(heat.y) == ["Sphere", "Levy"]
    np.testing.assert_allclose(heat.z, [[0.0, 1.0], [0.0, 1.0]])
    assert "for its function" in texts(figure)[0]


# --- grid -----------------------------------------------------------------------------------


def test_the_grid_fills_in_by_hand() -> None:
    frame = progress({(1,): [1.0, "running", None, None], (8,): ["failed", "paused", None, 2.0]})
    figure = grid_figure(frame, ["beta"])
    assert texts(figure)[1:] == ["<b>β = 1</b>", "1/4", "<b>β = 8</b>", "1/4"]
    counted = {trace.name: len(trace.x) for trace in figure.data}
    assert counted == {"finished": 2, "running": 1, "at rest": 1, "failed": 1}
    finished, running = named(figure, "finished"), named(figure, "running")
    np.testing.assert_allclose(running.y[0] / finished.y[0], 0.4)  # 40 of 100 evaluations
    assert running.text == ("β = 1, seed 2: running, 40 of 100, best –",)
    assert finished.marker.color == COLOURS["finished"] == theme.BLUE
    assert finished.x[1] > running.x[0] > finished.x[0]


def test_the_grid_of_two_axes_stands_on_both() -> None:
    figure = grid_figure(two_axes(), ["beta", "d_h"])
    assert list(figure.layout.xaxis.ticktext) == ["60", "80", "100"]
    assert list(figure.layout.yaxis.ticktext) == ["1", "8"]
    names = grid_figure(functions(), ["d_e", "function"])
    assert list(names.layout.yaxis.ticktext) == ["Sphere", "Levy"]
    assert list(names.layout.xaxis.ticktext) == ["10", "30"]


def test_text_is_never_below_14_px() -> None:
    figures = [
        overlay_figure(one_axis(), ["beta"], curves_of(one_axis())),
        panels_figure(one_axis(), ["beta"], curves_of(one_axis())),
        response_figure(two_axes(), ["beta", "d_h"]),
        heat_figure(two_axes(), ["beta", "d_h"]),
        grid_figure(two_axes(), ["beta", "d_h"]),
    ]
    for figure in figures:
        sizes = list(_sizes(figure.to_plotly_json()))
        assert sizes
        assert min(sizes) >= 14


def _sizes(part: Any) -> Any:
    if isinstance(part, dict):
        for key, value in part.items():
            if key in ("font", "tickfont", "textfont") and isinstance(value, dict):
                yield value.get("size", 14)
            yield from _sizes(value)
    elif isinstance(part, (list, tuple)):
        for value in part:
            yield from _sizes(value)


@pytest.mark.parametrize("build", [overlay_figure, panels_figure])
def test_seven_cells_of_ten_runs_are_drawn_quickly(build: Any) -> None:
    """150 ms on a quiet machine; the best of three, as others may be at work."""
    frame = one_axis(budget=500)
    curves = curves_of(frame, 500)
    build(frame, ["beta"], curves, "median")
    spent = []
    for _ in range(3):
        begun = time.process_time()
        build(frame, ["beta"], curves, "median")
        spent.append(time.process_time() - begun)
    assert min(spent) < 0.25


def test_nine_panels_stay_inside_their_figure() -> None:
    cells = {(b, h): seeds(b + h, 2) for b in (1.0, 4.0, 16.0) for h in (4, 8, 16)}
    frame = progress(cells, ("beta", "d_h"))
    panels = panels_figure(frame, ["beta", "d_h"], curves_of(frame))  # the last begins at −5e−17
    assert sum(note.name == "panel" for note in panels.layout.annotations) == 9
