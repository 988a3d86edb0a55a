"""`live_chart`: a Plotly figure that is updated in place, without flicker and keeping the zoom."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

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


@lru_cache(maxsize=1)
def plotly_js() -> str:
    """plotly.js as it comes with the plotly wheel."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _library_source() -> str:
    return plotly_js() + "\nexport default function () {}\n"


@lru_cache(maxsize=1)
def _chart_source() -> str:
    return (files("dsebo.ui") / "live_chart.js").read_text(encoding="utf-8")


def _library() -> ComponentRenderer:
    return st.components.v2.component("plotly_library", js=_library_source(), isolate_styles=False)


def _chart() -> ComponentRenderer:
    return st.components.v2.component(
        "live_chart", css=CSS, js=_chart_source(), isolate_styles=False
    )


def load_plotly() -> None:
    """Give the page plotly.js, once: an element that never changes is sent once a browser tab.

    It is a component of its own, outside every fragment, as a component's code goes along with
    each of its updates.
    """
    _library()(key="plotly_library", height=1)


def live_chart(figure: bytes | go.Figure, key: str) -> int | None:
    """Show a figure; returns the t of a convergence that was just clicked.

    Args:
        figure: The figure, or its JSON.
        key: The same key on each refresh updates the same chart.
    """
    data = figure if isinstance(figure, bytes) else figure.to_json().encode()
    result = _chart()(key=key, data=data, on_chosen_change=_nothing)
    clicked = result.get("chosen")
    return clicked if isinstance(clicked, int) and not isinstance(clicked, bool) else None


def _nothing() -> None:
    """Streamlit reports only events that have a callback."""
