"""Sweep: one or two settings varied over many seeds, and what is seen of it."""

import streamlit as st

from dsebo.ui import links
from dsebo.ui.experiments import setup, view
from dsebo.ui.experiments.form import VARY

links.require_router("sweep")
shown = view.opened(VARY)
with st.sidebar:
    VARY.presets()
    before = st.container()
    pressed = st.button("Start", type="primary", width="stretch", icon=":material/play_arrow:")
    draft = VARY.show()
    with before:
        spec = setup.checked(VARY, draft)
        plan = setup.show_plan(spec) if spec else None

if not shown:
    pressed = setup.welcome(plan) or pressed
if pressed and spec is not None and (started := setup.start(spec)):
    view.show(VARY, started)
    st.rerun()
view.write(VARY, shown, draft)
if shown:
    view.watch(VARY, shown, "All sweeps")
elif chosen := setup.earlier():
    view.show(VARY, chosen)
    st.rerun()
