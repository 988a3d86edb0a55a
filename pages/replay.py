"""Replay: any stored run, as it stood at any evaluation."""

import streamlit as st

from dsebo.text import plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.live import load_plotly
from dsebo.ui.pick import choose_run
from dsebo.ui.run.player import play

session.require_router("replay")
load_plotly()
store = session.manager().store
asked, said = links.open_replay(store)
for sentence in said:
    st.warning(plain(sentence))

left, right = st.columns(2)
with left:
    first = choose_run(store, "Run", "replay_first", asked.first)
with right:
    second = choose_run(store, "Beside it, in lockstep", "replay_second", asked.second, none=True)

if first is None:
    st.info("There is no run with an evaluation yet. Launch one on the Run page, then come back.")
    st.page_link("pages/run.py", label="Launch a run", icon=":material/play_circle:")
    st.stop()
links.write({"run": first, **({"with": second} if second else {})}, keep=("t",))
play([SHARED.data(store, run_id) for run_id in (first, second) if run_id], asked.t)
