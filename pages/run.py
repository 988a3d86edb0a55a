"""Run: choose a setting, launch it, watch it, understand it."""

import streamlit as st

from dsebo.store.errors import StoreAway, StoreError
from dsebo.text import plain
from dsebo.ui import links
from dsebo.ui.run import start
from dsebo.ui.run.watch import watch

links.require_router("run")
run_id = start.opened_run()
with st.sidebar:
    changes, pressed = start.show_form()
    config = start.checked(changes)

if run_id is None:
    pressed = start.welcome() or pressed
if pressed and config is not None and (launched := start.launch(changes)):
    start.remember_run(launched)
    st.rerun()
links.write(start.link(run_id, changes))
if run_id is not None:
    try:
        watch(run_id)
    except StoreAway:  # the router waits for the database
        raise
    except StoreError as error:
        st.error(plain(str(error)))
if config is not None:
    with st.sidebar:
        start.show_facts(config)
