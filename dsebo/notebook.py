"""Runs in Jupyter: the dashboard's own figure of a run, whole or while it computes.

import dsebo

dsebo.show("3f2a")                      # a stored run
dsebo.watch(dsebo.RunConfig.parse({}))  # a new one, drawn as it goes
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from dsebo.config import RunConfig
from dsebo.events import Evaluated, Event, Started
from dsebo.minimize import Result, history_frame, interrupted, result_of
from dsebo.objectives.fields import ConfigError, must
from dsebo.run import Runner, iterate
from dsebo.store.rows import RunRow
from dsebo.store.store import Store

if TYPE_CHECKING:
    import anywidget

    from dsebo.charts.theme import Sketch

REFRESH_SECONDS = 0.5
# plotly.js and our own code, once for all figures of a page, whatever loader of modules that page has.
_RENDER = """
const plotly = %s, own = %s;
export default {
  render({ model, el }) {
    if (!window.Plotly) new Function("module", "exports", "define", plotly).call(window);
    if (!window.dseboFigure) new Function(own).call(window);
    const host = el.appendChild(document.createElement("div"));
    const shown = { ...model.get("figure") };
    const again = window.dseboFigure.draw(host, shown);
    model.on("change:figure", () => {
      Object.assign(shown, model.get("figure"));
      again();
    });
  },
};
"""


def show(run: Result | RunRow | str, db: str | None = None) -> anywidget.AnyWidget:
    """The figure of a run: what `minimize` or `watch` found, or a stored run by its row or id.

    Args:
        run: What is drawn; of an id its first characters are enough.
        db: The database of stored runs; None: DSEBO_DB, that of the settings, or your own.
    """
    if isinstance(run, Result):
        return _widget(_sketch(run.events))
    if not isinstance(run, RunRow | str):
        raise ConfigError(must("run", "a Result, a RunRow or the id of a stored run", run))
    from dsebo.charts.run import sketch_of
    from dsebo.charts.scales import default_scale
    from dsebo.runs.data import read_ghost, read_run

    store = Store.open(db)
    try:
        data = read_run(store, run if isinstance(run, str) else run.id)
        ghost = read_ghost(store, data.row)
    finally:
        store.close()
    return _widget(sketch_of(data, default_scale(data.row.minimum), ghost=ghost))


def watch(config: RunConfig | dict[str, Any]) -> Result:
    """Run it, drawn while it computes, and return what it found, with x in [-1, 1]^D.

    It is not stored. Who stops the cell gets what was found until then.
    """
    from IPython.display import display

    runner = Runner.from_config(config if isinstance(config, RunConfig) else RunConfig.parse(config))
    events: list[Event] = []
    widget: anywidget.AnyWidget | None = None
    drawn = 0.0
    try:
        for event in iterate(runner):
            events.append(event)
            if not isinstance(event, Evaluated):
                continue
            if widget is None:
                widget = _widget(_sketch(events))
                display(widget)  # type: ignore[no-untyped-call]
            elif time.monotonic() - drawn > REFRESH_SECONDS:
                widget.figure = _plain(_sketch(events))
                drawn = time.monotonic()
    except KeyboardInterrupt:
        events.append(interrupted(runner))
    if widget is not None:
        widget.figure = _plain(_sketch(events))
    return result_of(runner, runner.objective, events)


def _sketch(events: list[Event]) -> Sketch:
    """The figure of a run that is not in the store, from what has happened in it."""
    from dsebo.charts.run import references, run_sketch
    from dsebo.charts.scales import default_scale
    from dsebo.runs.data import CHANGES

    started = events[0]
    assert isinstance(started, Started)
    changes = [event.to_json() for event in events if event.kind in CHANGES]
    budget = int(started.config["budget"])
    sketch = run_sketch(
        history_frame(events), changes, references(started), budget, default_scale(started.minimum)
    )
    sketch.layout["meta"] |= {"file": "dsebo-run"}
    return sketch


def _plain(sketch: Sketch) -> Any:
    """As JSON has it: what is not a number (NaN, infinite) is null, a gap in a line."""
    return orjson.loads(orjson.dumps(sketch.to_plotly_json(), option=orjson.OPT_SERIALIZE_NUMPY))


def _widget(sketch: Sketch) -> anywidget.AnyWidget:
    return _widget_class()(figure=_plain(sketch))


@cache
def _widget_class() -> type[anywidget.AnyWidget]:
    try:
        import anywidget
        import traitlets
        from plotly.offline import get_plotlyjs

        from dsebo.charts.theme import script
    except ImportError as error:
        raise ImportError(
            f"A figure in a notebook needs {error.name}: pip install 'dsebo[notebook]'."
        ) from None

    class RunFigure(anywidget.AnyWidget):
        """The dashboard's figure, drawn by the dashboard's own code."""

        _esm = _RENDER % (_quoted(get_plotlyjs()), _quoted(script()))
        figure = traitlets.Dict().tag(sync=True)

    return RunFigure


def _quoted(code: str) -> str:
    return orjson.dumps(code).decode()
