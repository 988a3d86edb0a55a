"""Under the charts of a run: why it did what it did, its embedding, or the bound of section 5."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dsebo.charts.explain import Entry, steps
from dsebo.charts.minds import mind_sketch
from dsebo.objectives import KINDS
from dsebo.runs.data import CHANGES, RunData
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunRow
from dsebo.text import plain, typeset
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.learn import theory_view
from dsebo.ui.live import live_chart, live_feed
from dsebo.ui.run import again, embedding, picture

PARTS = {"why": "Why", "embedding": "Embedding", "bound": "Bound"}
PICTURE = "picture"  # of the best point, where the objective has one


def parts_of(row: RunRow) -> dict[str, str]:
    """What can be shown of a run; the picture of a real task is what one looks for first."""
    name = KINDS[row.config["objective"].get("kind", "embedded")].picture
    return {PICTURE: name, **PARTS} if name else PARTS


def chosen_place(data: RunData, key: str = "") -> str:
    """Where it is kept which convergence is explained."""
    return f"chosen{key} {data.row.id}"


def choose(place: str, clicked: str | int | None) -> None:
    """A click on a convergence shows it everywhere."""
    if isinstance(clicked, int) and clicked != st.session_state.get(place):
        st.session_state[place] = clicked
        st.rerun()


def show(part: str, data: RunData, whole: RunData, entries: list[Entry], key: str = "") -> None:
    """The chosen part. `data`: the run as it is shown, `whole`: all of it."""
    if part == "embedding":
        _show_embedding(data, whole)
    elif part == PICTURE:
        picture.show(session.manager().store, data, key)
    elif part == "bound":
        with st.container(key=f"section5{key}"):
            theory_view.show_bound(data)
    else:
        place = chosen_place(data, key)
        event = data.chosen(st.session_state.get(place))
        lines = [
            {
                "t": entry.t,
                "text": typeset(entry.in_words),
                "numbers": typeset(entry.numbers),
                "choose": entry.kind in CHANGES,
                "advice": again.advice_of(data, entry.event)[0],
            }
            for entry in entries
        ]
        pressed = live_feed(lines, event["t"] if event else None, key=f"feed {place}")
        again.take_advice(data, pressed)
        choose(place, pressed)
        with st.container():  # beside the feed
            _show_formula(data, place)
            if (mind := mind_sketch(data.events, data.row.budget)) is not None:
                kept = ("mind", data.row.id, data.t, len(data.events))
                live_chart(SHARED.figure(kept, lambda: mind), f"mind{key}")


def _show_formula(data: RunData, place: str) -> None:
    """Algorithm 1 with the numbers of the chosen convergence."""
    event = data.chosen(st.session_state.get(place))
    if event is None or data.row.method != "dsebo":
        return
    config = data.config_at(event["t"])
    lines = steps(event, config["optimizer"], config["budget"])
    body = "\n\n".join(f":gray[{step.words}]\n\n$$\n{step.latex}\n$$" for step in lines)
    st.markdown(f"#### Algorithm 1 at evaluation {event['t']}\n\n{body}")


def _show_embedding(data: RunData, whole: RunData) -> None:
    """At the evaluation that is shown; at the best one of a run that is shown whole."""
    if not data.t:
        st.caption("The first evaluation is under way.")
        return
    if data.t < whole.t:
        t = data.t
    elif whole.ended or not whole.changes:
        y = data.evaluations["y"].to_numpy(dtype=float)
        t = int(np.nanargmin(y)) + 1 if np.isfinite(y).any() else 1
    else:  # of a run at work the newest convergence: each evaluation would lift all points again
        t = whole.changes[-1]["t"]
    try:
        embedding.show(session.manager().store, whole, t)
    except StoreError as error:
        st.info(plain(str(error)))
