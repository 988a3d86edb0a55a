"""Replay: any stored run, as it stood at any evaluation."""

import streamlit as st

from dsebo.ui import inputs, links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.run.player import play

links.require_router("replay")
asked = links.take(links.opened(), {"run": links.stored_run, "with": links.stored_run, "t": links.evaluation})
left, right = st.columns(2)
with left:
    first = inputs.choose_run("Run", "replay_first", asked.get("run"))
with right:
    second = inputs.choose_run("Beside it, in lockstep", "replay_second", asked.get("with"), none=True)

if first is None:
    st.info("There is no run with an evaluation yet. Launch one on the Run page, then come back.")
    links.link_to_launch()
else:
    links.write({"run": first, **({"with": second} if second else {})}, keep=("t",))
    runs = [SHARED.data(session.manager().store, run_id) for run_id in (first, second) if run_id]
    play(runs, asked.get("t"))
