"""The page's style and its own components: charts that keep their zoom, a feed, a run's status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

CSS = """
.live-chart { width: 100%; min-height: 60px; }
.live-chart-files { display: flex; gap: 0.5rem; }
.live-chart-files button {
  font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: none;
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
  padding: 0.35rem 0.8rem; cursor: pointer;
}
.live-chart-files button:hover { border-color: var(--st-primary-color); }
"""
FEED_CSS = """
.feed-title { font-size: 1.5rem; font-weight: 600; margin: 0; }
.feed { display: flex; flex-direction: column; gap: 0.6rem; font-size: 1rem; line-height: 1.55; }
.feed-line {
  font: inherit; text-align: left; color: var(--st-text-color); background: none; border: 0;
  border-left: 4px solid rgba(132, 137, 143, 0.3); padding: 0.1rem 0 0.1rem 0.9rem;
}
button.feed-line { cursor: pointer; }
button.feed-line:hover, button.feed-line:focus-visible {
  border-left-color: #D55E00; background: rgba(132, 137, 143, 0.1); outline: none;
}
.feed-chosen { border-left-color: #D55E00; }
.feed details { display: contents; }
.feed summary { cursor: pointer; }
"""
STATUS_CSS = """
.status { display: flex; flex-direction: column; gap: 1rem; }
.status-numbers { display: flex; flex-wrap: wrap; gap: 0.4rem 2.6rem; }
.status-label { font-size: 0.875rem; line-height: 1.6; }
.status-value { font-size: 1.9rem; line-height: 1.25; white-space: nowrap; }
.status-bar {
  height: 0.5rem; margin-top: 0.35rem; border-radius: 0.25rem; overflow: hidden;
  background: rgba(132, 137, 143, 0.2);
}
.status-filled { height: 100%; background: var(--st-primary-color); transition: width 0.2s; }
/* What just happened stands where the eye is; its room is kept, so that charts do not jump. */
.status-newest {
  border-left: 4px solid #D55E00; padding-left: 0.9rem; font-size: 1.06rem; line-height: 1.5;
  min-height: 3.1em; display: flex; align-items: center;
}
"""


def _calling(function: str) -> str:
    """A component's code: it calls what came with the library, as soon as that is there."""
    return f"""
export default function (component) {{
  if (window.{function}) return window.{function}(component);
  let end = null;
  const wait = setInterval(() => {{
    if (!window.{function}) return;
    clearInterval(wait);
    end = window.{function}(component);
  }}, 50);
  return () => {{ clearInterval(wait); if (end) end(); }};
}}
"""


@cache
def plotly_js() -> str:
    """plotly.js as it comes with the plotly wheel."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


@cache
def _library_source() -> str:
    ours = [_read(name) for name in ("live_chart.js", "feed.js", "status.js")]
    return "\n".join([plotly_js(), *ours, "export default function () {}"])


@cache
def _read(name: str) -> str:
    return (files("dsebo.ui") / "live" / name).read_text(encoding="utf-8")


def _component(name: str, **parts: str) -> ComponentRenderer:
    return st.components.v2.component(name, isolate_styles=False, **parts)


def icon() -> str:
    """The page's icon: a file of ours, as Streamlit fetches named icons from elsewhere."""
    return str(files("dsebo.data") / "favicon.png")


def load() -> None:
    """Give the page its style and plotly.js, once: an element that never changes is sent once per tab.

    The library is a component of its own, outside every fragment, as a component's code goes along
    with each of its updates.
    """
    with st.container(key="page-style"):
        st.html(f"<style>{_read('style.css')}</style>")
    _component("plotly_library", js=_library_source())(key="plotly_library", height=1)


def live_chart(figure: bytes | go.Figure, key: str) -> int | None:
    """Show a figure; returns the t of a convergence that was just clicked."""
    data = figure if isinstance(figure, bytes) else figure.to_json().encode()
    chart = _component("live_chart", css=CSS, js=_calling("dseboLiveChart"))
    return _clicked(chart(key=key, data=data, on_chosen_change=_nothing))


def live_feed(entries: Sequence[Mapping[str, Any]], chosen: int | None, key: str) -> int | None:
    """Show sentences; returns the t of one that was just clicked."""
    feed = _component("live_feed", css=FEED_CSS, js=_calling("dseboFeed"))
    data = {"entries": list(entries), "chosen": chosen}
    return _clicked(feed(key=key, data=data, on_chosen_change=_nothing))


def live_status(data: Mapping[str, Any], key: str) -> None:
    """Show where a run stands (`dsebo.ui.run.status`)."""
    _component("live_status", css=STATUS_CSS, js=_calling("dseboStatus"))(key=key, data=dict(data))


def _clicked(result: Mapping[str, Any]) -> int | None:
    """A number that came from the browser, if it is one."""
    clicked = result.get("chosen")
    return clicked if isinstance(clicked, int) and not isinstance(clicked, bool) else None


def _nothing() -> None:
    """Streamlit reports only events that have a callback."""
