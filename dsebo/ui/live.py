"""The page's style and its own components: charts that keep their zoom, a feed, a run's status."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit import runtime
from streamlit.components.v2.types import ComponentRenderer
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsebo.charts import theme
from dsebo.lessons.glossary import GLOSSARY, SECTION_5, explained
from dsebo.ui.wire import Frame

# Each component's function in the library.
FUNCTIONS = {
    "live_chart": "dseboLiveChart",
    "live_feed": "dseboFeed",
    "live_status": "dseboStatus",
    "live_tick": "dseboTick",
}
_ticks = count(1)


_DENY_NOT_FOUND = """
export default function () {
  const until = Date.now() + 5000;
  const look = setInterval(() => {
    const dialogs = [...document.querySelectorAll("[role=dialog]")];
    const wrong = dialogs.find((dialog) => dialog.textContent.startsWith("Page not found"));
    if (wrong) wrong.querySelector("button[aria-label=Close]").click();
    if (wrong || Date.now() > until) clearInterval(look);
  }, 50);
  return () => clearInterval(look);
}
"""


_FETCH = """
export default function ({ data }) {
  if (window.dseboPlaces) return;
  window.dseboPlaces = data;
  const script = document.createElement("script");
  script.src = data.dsebo;
  document.head.appendChild(script);
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


# Where our own server (`ui.front`) has the library, by name; empty where Streamlit serves the script.
library_places: dict[str, str] = {}


@cache
def library() -> dict[str, bytes]:
    """Our code and plotly.js, by name.

    plotly.js is a function that our code fetches and calls for the first chart: it takes most of a second.
    The brackets around it let the browser compile it beside everything else, as it then expects the call.
    """
    ours = [_read(name) for name in ("wire.js", "live_chart.js", "feed.js", "status.js", "symbols.js")]
    known = {"everywhere": explained(GLOSSARY), "section5": explained(SECTION_5)}
    glossary = f"window.dseboGlossary = {json.dumps(known)};"
    # The factory within is called as well, but has no brackets.
    plotly = re.sub(
        r"this, \(\) => \{(.*)\}\)\);\s*$", r"this, (() => {\1})));", plotly_js(), flags=re.DOTALL
    )
    sources = {
        "dsebo": "\n".join(["(function () {", theme.script(), glossary, *ours, "})();"]),
        "plotly": f"window.dseboPlotly = (() => {{\n{plotly}\n}});",
    }
    return {name: source.encode() for name, source in sources.items()}


def library_files() -> dict[str, str]:
    """The library's files, by name: a file is called another when what it holds is another."""
    return {name: f"{name}-{hashlib.sha256(data).hexdigest()[:16]}.js" for name, data in library().items()}


@cache
def _read(name: str) -> str:
    return (files("dsebo.ui") / "live" / name).read_text(encoding="utf-8")


def _component(name: str, **parts: str) -> ComponentRenderer:
    return st.components.v2.component(name, isolate_styles=False, **parts)


def icon() -> str:
    """The page's icon: a file of ours, as Streamlit fetches named icons from elsewhere."""
    return str(files("dsebo.data") / "favicon.png")


def load() -> None:
    """Give the page its style, and its library: plotly.js and ours.

    The library are files that the browser fetches beside the page: as a component's own code it would
    come before the first words, and take seconds to get through. Our own server's pages name them themselves.
    """
    with st.container(key="page-style"):
        st.html(f"<style>{_read('style.css')}</style>")
    if not library_places:
        _component("library", js=_FETCH)(key="library", data=_as_media(), height=1)


def _as_media() -> dict[str, str]:
    """Give the library to Streamlit's own server; where it is."""
    files = runtime.get_instance().media_file_mgr
    base = st.get_option("server.baseUrlPath").strip("/")
    names = library_files()
    places = {
        name: files.add(data, "text/javascript", names[name], names[name]) for name, data in library().items()
    }
    return {name: f"/{base}{place}" if base else place for name, place in places.items()}


def deny_not_found() -> None:
    """Close what Streamlit says of an address that leads on, where it is a server's first request."""
    _component("deny_not_found", js=_DENY_NOT_FOUND)(key="deny_not_found", height=1)


def live_chart(figure: Frame | go.Figure | theme.Sketch, key: str) -> int | None:
    """Show a figure; returns the t of a convergence that was just clicked.

    What many look at, or again and again, is a frame from `SHARED.figure`.
    """
    frame = figure if isinstance(figure, Frame) else Frame(figure.to_plotly_json())
    return _clicked(_send("live_chart", frame, key))


def live_feed(entries: Sequence[Mapping[str, Any]], chosen: int | None, key: str) -> str | int | None:
    """Show sentences, newest first; returns the t of one that was just clicked, or as text of its advice."""
    oldest_first = list(entries)[::-1]  # what is new comes at the end of what was sent
    return _pressed(_send("live_feed", Frame({"entries": oldest_first, "chosen": chosen}), key))


def live_sentence(newest: Mapping[str, Any], key: str) -> str | int | None:
    """Show what is to be known at this moment (`ui.run.status.sentence`); returns whose advice was taken."""
    return _pressed(_send("live_feed", Frame({"entries": [], "chosen": None, "newest": newest}), key))


def live_status(data: Mapping[str, Any], key: str) -> str | int | None:
    """Show where a run stands; returns what was just pressed (`ui.run.timeline`), or a chosen t."""
    return _pressed(_send("live_status", Frame(data), key))


def live_tick(every: float | None, key: str) -> None:
    """Let the browser ask for this part of the page again, so many seconds after it has come."""
    data = {"every": every, "number": next(_ticks)}
    tick = _component("live_tick", js=_calling(FUNCTIONS["live_tick"]))
    tick(key=f"tick {key}", data=data, on_tick_change=_nothing)


def by_timer() -> bool:
    """Whether only a part of the page is being drawn again, not the whole."""
    context = get_script_run_ctx()
    return bool(context and context.fragment_ids_this_run)


def _send(name: str, frame: Frame, key: str) -> Any:
    """What is new since this browser's last refresh; the whole where the page is drawn as a whole.

    Returns what was pressed. It is kept until it is returned, as Streamlit forgets a press when
    another run of the page comes before the component is reached.
    """
    place, pressed = f"sent {key}", f"pressed {key}"
    before = st.session_state.get(place) if by_timer() else None
    st.session_state[place] = frame

    def keep() -> None:
        if key in st.session_state:
            st.session_state[pressed] = st.session_state[key].get("chosen")

    result = _component(name, js=_calling(FUNCTIONS[name]))(
        key=key,
        data=frame.whole() if before is None else frame.since(before),
        on_chosen_change=keep,
        on_whole_change=lambda: st.session_state.pop(place, None),
    )
    kept = st.session_state.pop(pressed, None)
    return result.get("chosen") if kept is None else kept


def _clicked(clicked: Any) -> int | None:
    """A number that came from the browser, if it is one."""
    return clicked if isinstance(clicked, int) and not isinstance(clicked, bool) else None


def _pressed(pressed: Any) -> str | int | None:
    """A name or a number that came from the browser, if it is one."""
    return pressed if isinstance(pressed, str) else _clicked(pressed)


def _nothing() -> None:
    """Streamlit reports only events that have a callback."""
