"""Sweep: one or two settings varied over many seeds, and what is seen of it."""

import streamlit as st

from dsebo.ui.experiments import sweep_form, sweep_links, sweep_setup
from dsebo.ui.experiments.sweep_view import watch_sweep

row = sweep_links.open_sweep_page()

with st.sidebar:
    sweep_form.presets()
    before = st.container()
    pressed = st.button("Start", type="primary", width="stretch", icon=":material/play_arrow:")
    values = sweep_form.show()
    with before:
        spec = sweep_setup.checked(values)
        plan = sweep_setup.show_plan(spec) if spec else None

if row is None:
    pressed = sweep_setup.welcome(plan) or pressed
if pressed and spec is not None and (started := sweep_setup.start(spec)):
    sweep_links.show(started)
    st.rerun()
sweep_links.write(row, values)
if row is not None:
    watch_sweep(row)
elif opened := sweep_setup.earlier():
    sweep_links.show(opened)
    st.rerun()
