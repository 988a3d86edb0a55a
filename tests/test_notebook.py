"""What a notebook shows of a run: the dashboard's figure, and tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import dsebo
from dsebo.events import Evaluated
from dsebo.notebook import _widget_class, show, watch
from dsebo.run import Runner, run
from dsebo.runs.worker import stored_run
from dsebo.store.store import Store
from objectives.fields import ConfigError
from tests.processes import ROOT
from tests.small import small

pytest.importorskip("anywidget")


def curve(widget: Any) -> list[float]:
    """The values of the line of best values, as drawn."""
    (trace,) = (trace for trace in widget.figure["data"] if trace["name"] == "best so far")
    return list(trace["y"])


def test_watch_draws_while_it_computes_and_ends_as_the_run_does(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    frames: list[int] = []
    monkeypatch.setattr("dsebo.notebook.REFRESH_SECONDS", 0.0)

    def display(widget: Any) -> None:
        shown.append(widget)
        widget.observe(lambda change: frames.append(len(curve(widget))), "figure")

    monkeypatch.setattr("IPython.display.display", display)
    config = small(budget=12)
    found = watch(config)
    assert list(found.named) == [f"x{i + 1}" for i in range(len(found.x))]
    values = [event.best for event in run(config) if isinstance(event, Evaluated)]
    assert found.fun == values[-1]
    assert found.nfev == 12
    assert found.x is not None
    assert found.x.shape == (config.D,)
    (widget,) = shown
    assert frames[:3] == [2, 3, 4]  # the first one was drawn as it was displayed
    assert curve(widget) == pytest.approx(values)


def test_a_run_that_is_stopped_gives_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("IPython.display.display", lambda widget: None)

    step = Runner.step

    def three(self: Any) -> Any:
        if self.t == 3:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(Runner, "step", three)
    found = watch(small(budget=12).model_dump())
    assert (found.nfev, found.success, found.message) == (3, False, "Interrupted after 3 evaluations.")


def test_what_minimize_found_is_shown_with_a_table_of_text(tmp_path: Path) -> None:
    found = dsebo.minimize(lambda x: float((x**2).sum()), [(-1, 2)] * 20, budget=8, method="random")
    assert curve(show(found)) == pytest.approx(found.history["best"].tolist())
    html = found._repr_html_()
    assert "8 evaluations" in html
    assert html.startswith("<table>")


def test_a_stored_run_is_shown_by_its_id_and_by_its_row(store: Store) -> None:
    list(stored_run(small(budget=6), store, "<b>name</b>"))
    (row,) = store.list_runs()
    address = store.engine.url.render_as_string(hide_password=False)
    by_id, by_row = show(row.id[:8], address), show(row, address)
    assert curve(by_id) == curve(by_row)
    assert len(curve(by_id)) == 6
    assert "&lt;b&gt;name&lt;/b&gt;" in row._repr_html_()
    with pytest.raises(ConfigError, match="run must be a Result, a RunRow or the id"):
        show(3)  # type: ignore[arg-type]


def test_without_its_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _widget_class.cache_clear()
    found = dsebo.minimize(lambda x: float(x[0]), [(0, 1)] * 5, budget=3, method="random")
    with pytest.raises(ImportError, match=r"needs anywidget: pip install 'dsebo\[notebook\]'"):
        show(found)


def test_in_a_kernel_of_jupyter() -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    code = "import dsebo\ndsebo.watch({'objective': {'D': 40, 'd_e': 4}, 'budget': 12})"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=200, resources={"metadata": {"path": str(ROOT)}}).execute()
    drawn, returned = (output["data"] for output in book.cells[0].outputs if "data" in output)
    assert "<td" in returned["text/html"]
    model = drawn["application/vnd.jupyter.widget-view+json"]["model_id"]
    state = book.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"][model]["state"]
    assert len(state["figure"]["data"][1]["y"]) == 12
