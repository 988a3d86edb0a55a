"""Run: choose a setting, launch it, watch it, understand it."""

import streamlit as st

from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import form, links
from dsebo.ui.run import start
from dsebo.ui.run.watch import watch

run_id = start.opened_run()
with st.sidebar:
    form.presets()
    pressed = st.button("Launch", type="primary", width="stretch", icon=":material/rocket_launch:")
    settings = form.show()
    config = start.checked(settings)

if run_id is None:
    pressed = start.welcome() or pressed
if pressed and config is not None and (launched := start.launch(settings)):
    start.remember_run(launched)
    st.rerun()
links.write(start.link(run_id, settings))
if run_id is not None:
    try:
        watch(run_id)
    except StoreError as error:
        st.error(plain(str(error)))
if config is not None:
    with st.sidebar:
        start.show_facts(config)
