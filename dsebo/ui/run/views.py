"""A stored run again: as it stood at any evaluation, and its embedding."""

from __future__ import annotations

import streamlit as st

from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import inputs, links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.run import embedding
from dsebo.ui.run.player import play


def show_replay() -> None:
    """Any stored run, as it stood at any evaluation."""
    parsers: dict[str, links.Parser] = {"run": links.stored_run, "with": links.stored_run}
    asked = links.take(links.opened(), {**parsers, "t": links.evaluation})
    left, right = st.columns(2)
    with left:
        first = inputs.choose_run("Run", "replay_first", asked.get("run"))
    with right:
        second = inputs.choose_run("Beside it, in lockstep", "replay_second", asked.get("with"), none=True)
    if first is None:
        st.info("There is no run with an evaluation yet. Launch one on the Run page, then come back.")
        links.link_to_launch()
        return
    links.write({"run": first, **({"with": second} if second else {})}, keep=("t",))
    play(
        [SHARED.data(session.manager().store, run_id) for run_id in (first, second) if run_id], asked.get("t")
    )


def show_embedding() -> None:
    """S, a z and its x, what is clipped and what moves, for a chosen run."""
    asked = links.take(links.opened(), {"run": links.stored_run})
    st.markdown("### The embedding, seen")
    chosen = inputs.choose_run("Run", "embedding_run", asked.get("run"), methods=["dsebo"])
    if chosen is None:
        st.info("There is no run of DSEBO yet. Launch one on the Run page, then come back.")
        links.link_to_launch()
        return
    links.write({"run": chosen})
    store = session.manager().store
    try:
        embedding.show(store, SHARED.data(store, chosen))
    except StoreError as error:
        st.info(plain(str(error)))
