"""Run: choose a setting, launch it, watch it, understand it."""

import streamlit as st

from dsebo.store.errors import RunNotFound, StoreError
from dsebo.text import plain
from dsebo.ui import form, links, session
from dsebo.ui.live import load_plotly
from dsebo.ui.run import start
from dsebo.ui.run.watch import watch

session.require_router("run")
load_plotly()
session.remember_owner()
run_id, said = links.open_run_page()

with st.sidebar:
    form.presets()
    pressed = st.button("Launch", type="primary", width="stretch", icon=":material/rocket_launch:")
    settings = form.show()
    config = start.checked(settings)

for sentence in said:
    st.warning(plain(sentence))
if run_id is None:
    pressed = start.welcome() or pressed
if pressed and config is not None and (launched := start.launch(settings)):
    links.remember_run(launched)
    st.rerun()
links.write_run_page(run_id, settings)
if run_id is not None:
    try:
        watch(run_id)
    except (RunNotFound, StoreError) as error:
        st.error(plain(str(error)))
if config is not None:
    with st.sidebar:
        start.show_facts(config)
        session.lecturer_entry()
