"""Figures in files, as a browser measures them: nothing over anything else, nothing cut, fonts that exist."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from dsebo.analysis.theory import Phase
from dsebo.charts import theme
from dsebo.charts.compare import figure_of_groups, groups_of
from dsebo.charts.curves import Curves, curves_figure
from dsebo.charts.experiment import heat_figure, overlay_figure, race_figure, response_figure
from dsebo.charts.lesson import distribution, mark_end, mark_level
from dsebo.charts.panels import panels_figure
from dsebo.charts.parallel import parallel_figure
from dsebo.charts.run import figure_of
from dsebo.charts.scales import References
from dsebo.charts.theme import styles_of
from dsebo.charts.theory import phases_figure
from dsebo.config import METHODS
from dsebo.runs.data import RunData, read_run
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled
from dsebo.transfer.figures import COLUMN, POINTS, write_figure
from dsebo.transfer.html import figure_page
from tests.charts.cells import curves_of, one_axis, two_axes
from tests.experiments.frames import progress, seeds

pytestmark = pytest.mark.browser
WIDTHS = (416, 700, 1000)
FONTS = {"Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"}  # those that a file names
# The words of the picture as boxes: left, top, right, bottom in its own pixels, in its legend or not.
BOXES = """() => {
  const svg = document.querySelector('svg');
  const frame = svg.getBoundingClientRect();
  const within = (box) => [box.left - frame.left, box.top - frame.top, box.right - frame.left,
                           box.bottom - frame.top];
  const words = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
  const legend = svg.querySelector('g.legend rect.bg');
  return {
    size: [frame.width, frame.height],
    legend: legend && within(legend.getBoundingClientRect()),
    words: words.map((t) => ({ text: t.textContent, legend: !!t.closest('g.legend'),
                               box: within(t.getBoundingClientRect()) })),
  };
}"""

BARS = """() => {
  const frame = document.querySelector('svg').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('g.bars path')].map((path) => path.getBoundingClientRect());
  return boxes.map((box) => [box.left - frame.left, box.top - frame.top, box.right - frame.left,
                             box.bottom - frame.top]);
}"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunData]:
    """The bundled runs of Sphere."""
    store = Store.open(f"sqlite:///{tmp_path_factory.mktemp('figures')}/runs.db")
    import_bundled(store)
    rows = store.list_runs(RunFilter(functions=["sphere"]))
    found = [read_run(store, row.id) for row in rows]
    store.close()
    return found


@pytest.fixture(scope="module")
def paper(browser: Any) -> Iterator[Any]:
    """A page that draws figures for files."""
    opened = browser.new_page(viewport={"width": 1300, "height": 900})
    opened.set_content("<body style='margin:0'><div id=place></div></body>")
    opened.add_script_tag(content=get_plotlyjs())
    opened.add_script_tag(content=theme.script())
    yield opened
    opened.close()


def drawn(paper: Any, figure: Any, width: int) -> dict[str, Any]:
    """The words of the file, measured."""
    given = json.loads(figure.to_json())
    made = paper.evaluate("([f, width]) => dseboFigure.file(f, 'svg', width)", [given, width])
    svg = base64.b64decode(made).decode()
    paper.evaluate("(svg) => document.getElementById('place').innerHTML = svg", svg)
    boxes: dict[str, Any] = paper.evaluate(BOXES)
    return boxes


def figures(runs: list[RunData]) -> dict[str, Any]:
    """One of each kind, with as many and as long names as there may be."""
    first = next(run for run in runs if run.row.seed == 1 and run.row.name.endswith("the paper's setting"))
    half = first.evaluations.assign(floor=first.evaluations["best"] / 2)
    floored = RunData(first.row, half, first.events)
    chosen = first.changes[3]["t"]
    many = {f"a method with a long name, number {i}": [curve(i)] for i in range(14)}
    lines = References(minimum=0.1, at_centre=0.11, paper=0.12, d_e=30)
    phases = [Phase(5, 100), Phase(12, 100), Phase(20, 300)]
    frame, curves = one_axis(), curves_of(one_axis())
    methods = progress({(name,): seeds(1 + i, 2) for i, name in enumerate(list(METHODS)[:12])}, ("method",))
    long = ("bandit-successive-halving", "dsebo:growth=patience:variant=adaptive", "vaebo:kl_weight=0.0005")
    named = progress({(name,): seeds(9, 2) for name in (*long, *METHODS)}, ("method",))
    task = References(at_centre=4.677, of_task={"best constant λ": 3.11, "best of 500 random": 0.9168})
    even = frame[frame["cell"] < 6]
    tall = {name: Curves(c.best, np.geomspace(1, 900, 100)) for name, c in curves.items()}
    lesson, lessons = figure_of(first, "log"), curves_figure(many, lines=lines, slopes=True)
    mark_level(lesson, "y2", 30, "predicted 30", "linear")
    mark_level(lesson, "y", 0.001, "below 0.001?", "log")
    mark_end(lesson, "y2", 31, "ends at d = 31")
    mark_end(lessons, "y", -0.9, "lowest: a method with a long name, number 0")
    return {
        "lesson": lesson,
        "lessons": lessons,
        "room": distribution(["12", "9", "12"], "20"),
        "methods": response_figure(methods, ["method"]),
        "named panels": panels_figure(named, ["method"], curves_of(named)),
        "task": curves_figure({"DSEBO": [curve(0)]}, lines=task),
        "even panels": panels_figure(even, ["beta"], tall),
        "run": figure_of(first, "log", chosen),
        "reachable": figure_of(floored, "log", chosen, height=420),
        "linear": figure_of(floored, "linear"),
        "compared": figure_of_groups(groups_of(runs, "everything but the seed"), "mean", "log", False),
        "many": curves_figure(many, lines=lines),
        "overlay": overlay_figure(frame, ["beta"], curves),
        "panels": panels_figure(frame, ["beta"], curves),
        "response": response_figure(two_axes(), ["beta", "d_h"]),
        "heat": heat_figure(two_axes(), ["beta", "d_h"]),
        "parallel": parallel_figure(
            [
                {"beta": b, "d_h": h, "function": f}
                for b in (1, 8, 32)
                for h in (4, 40)
                for f in ("sphere", "dixon-price")
            ],
            ["beta", "d_h", "function"],
            list(np.geomspace(0.1, 900, 12)),
        ),
        "crowded": parallel_figure(
            [
                {"function": f, "beta": b, "d_h": b, "D": b, "refit_every": b}
                for b in (1, 8)
                for f in ("levy", "mslr")
            ],
            ["function", "beta", "d_h", "D", "refit_every"],
            [0.319, 12.8, 100.0, 271.0],
        ),
        "race": race_figure(many, styles_of(dict.fromkeys(many, "hesbo")), lines, 50),
        "theory": phases_figure(phases, 100, lambda d: 1 / d),
    }


def curve(index: int) -> Curves:
    return Curves(np.linspace(9.0, 0.1 + index, 50), np.full(50, 5.0 + index))


def overlaps(one: list[float], other: list[float]) -> bool:
    """By more than a pixel and a half in both directions: boxes of letters have air."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 1.5 and down > 3.5


@pytest.mark.parametrize("width", WIDTHS)
def test_no_words_stand_on_others_and_none_are_cut(paper: Any, runs: list[RunData], width: int) -> None:
    for name, figure in figures(runs).items():
        boxes = drawn(paper, figure, width)
        right, bottom = boxes["size"]
        words = boxes["words"]
        assert words, name
        for word in words:
            box = word["box"]
            assert box[0] >= -1, (name, word)
            assert box[1] >= -1, (name, word)
            assert box[2] <= right + 1, (name, word)
            assert box[3] <= bottom + 1, (name, word)
        on_others = [
            (one["text"], other["text"])
            for one, other in combinations(words, 2)
            if overlaps(one["box"], other["box"])
        ]
        assert on_others == [], name
        left, top, end, foot = boxes["legend"] or (0, 0, 0, 0)
        in_legend = [word for word in words if word["legend"]]
        assert len(in_legend) == sum(bool(t.showlegend) for t in figure.data if t.name), name
        for word in in_legend:
            assert left - 1 <= word["box"][0] <= word["box"][2] <= end + 1, (name, word)
            assert top - 1 <= word["box"][1] <= word["box"][3] <= foot + 1, (name, word)


@pytest.mark.parametrize("width", [340, *WIDTHS])
def test_words_over_a_bar_cover_no_bar(paper: Any, runs: list[RunData], width: int) -> None:
    for run in runs:
        for change in run.changes[1:8]:
            words = drawn(paper, figure_of(run, "log", change["t"]), width)["words"]
            over = [word["box"] for word in words if word["text"].startswith(("k =", "Δd"))]
            assert over, (run.row.name, change["t"])
            for bar, box in product(paper.evaluate(BARS), over):
                assert not overlaps(bar, box), (run.row.name, change["t"])


def test_numbers_of_parallel_axes_stand_clear_of_the_lines_in_a_file(paper: Any, runs: list[RunData]) -> None:
    drawn(paper, figures(runs)["parallel"], 700)
    style = "t => [getComputedStyle(t).paintOrder, getComputedStyle(t).stroke]"
    number = paper.locator("svg .parcoords .axis text").first
    assert number.evaluate(style) == ["stroke", "rgb(255, 255, 255)"]


def test_a_file_names_fonts_that_exist_and_typesets_symbols(paper: Any, runs: list[RunData]) -> None:
    boxes = drawn(paper, figures(runs)["reachable"], 416)
    texts = [word["text"].replace("\u200b", "") for word in boxes["words"]]  # before and after a subscript
    assert "dh = 100 ↑" in texts  # h is a subscript of its own, not a letter that a font may lack
    assert any("run " in text for text in texts)  # the caption
    session = paper.context.new_cdp_session(paper)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    nodes = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "svg text"})["nodeIds"]
    used = {
        font["familyName"]
        for node in nodes
        for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    }
    assert used
    assert used <= FONTS


def test_a_figure_for_a_paper_is_a_column_wide_with_words_of_8_points(runs: list[RunData]) -> None:
    grown = next(run for run in runs if run.changes)
    figure = figure_of(grown, "log", height=theme.PAPER_HEIGHT)
    svg = write_figure(figure, "svg").decode()
    width, height = (float(re.search(rf' {side}="([\d.]+)in"', svg)[1]) for side in ("width", "height"))  # type: ignore[index]
    assert width == pytest.approx(COLUMN, abs=0.01)
    assert 3 < height < 6
    across = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])  # type: ignore[index]
    assert theme.SIZE * width * 72 / across == pytest.approx(POINTS, rel=0.01)
    pdf = write_figure(figure, "pdf")
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(COLUMN * 72, abs=1)
    assert float(box[2]) == pytest.approx(height * 72, abs=1)
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page/") == 1


def test_a_report_draws_its_figures_without_a_network(page: Any, runs: list[RunData], tmp_path: Any) -> None:
    file = tmp_path / "figure.html"
    file.write_bytes(write_figure(figure_of(runs[0], "log"), "html"))
    page.set_content(file.read_text(encoding="utf-8"))
    page.wait_for_selector("svg .annotation-text")
    assert page.locator("figcaption").inner_text().startswith("Sphere · D = 1000")


def test_long_names_are_whole_in_a_report_on_a_phone(page: Any, runs: list[RunData]) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    long = {f"a method with a long name and a setting of its own = {i}": [run] for i, run in enumerate(runs)}
    page.set_content(figure_page(figure_of_groups(long, "mean", "log", False)).decode())
    page.locator("g.legend text").first.wait_for()
    ends = "[...document.querySelectorAll('g.legend text')].map(t => t.getBoundingClientRect().right)"
    assert max(page.evaluate(ends)) <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
