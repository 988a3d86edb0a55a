"""Experiments: all runs in one table; what is chosen there is drawn below it, and a form starts more."""

import streamlit as st

from dsebo.experiments.records import list_experiments
from dsebo.store.errors import StoreAway, StoreError
from dsebo.store.rows import RunFilter
from dsebo.text import count, plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.experiments import actions, compare, link, setup, table, view

links.require_router("experiments")
store = session.manager().store
link.take()
with st.container(horizontal=True, vertical_alignment="center", key="tools"):
    setup.new_button()
    tools = st.container(horizontal=True, vertical_alignment="center", width="content", key="table-tools")
    with tools:
        deleted = st.session_state.get("deleted ones", False)
        wanted = table.filters(store, deleted)
    actions.upload(store)
    deleted = st.toggle("Deleted ones", key="deleted ones")
    actions.resume_all_button()
draft = setup.show()
actions.undo_line()
bar = st.container()
chosen, total, shown = table.show(store, wanted, tools)
with bar:
    actions.bar(store, chosen, deleted)

if total > shown:
    st.caption(f"{count(total, 'run')}, the newest are shown.")
elif total and not chosen:
    st.caption(f"{count(total, 'run')}. Choose lines at the left edge to draw them; ▸ opens a group.")
elif not total and wanted != RunFilter(deleted=deleted):
    st.info("No run passes these filters.")
elif not total and deleted:
    st.info("Nothing has been deleted.")
elif not total:
    st.info("No run yet. Launch one, or import a bundle.")
    links.link_to_launch()

compared: dict[str, str] = {}
if len(chosen.experiments) == 1 and not chosen.runs and not deleted:
    try:
        view.watch(view.known_here(chosen.experiments[0]))
    except StoreAway:
        raise
    except StoreError as error:
        st.error(plain(str(error)))
elif chosen and not deleted:
    ids = list(chosen.runs)
    for experiment in chosen.experiments:
        ids += [run for run in SHARED.frame(store, experiment)["run_id"].dropna() if run not in ids]
    compared = compare.show(store, ids) if ids else {}
elif not draft and not deleted:
    setup.welcome(list_experiments(store, limit=1))
link.write(chosen, compared, draft)
