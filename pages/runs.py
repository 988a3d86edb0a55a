"""Runs: the table of all runs, and what can be done with a selection."""

import streamlit as st

from dsebo.store.rows import RunFilter
from dsebo.text import count
from dsebo.ui import links, session
from dsebo.ui.experiments import runs_table
from dsebo.ui.experiments.compare import downloads

links.require_router("runs")
store = session.manager().store

with st.container(horizontal=True, vertical_alignment="center", key="head"):
    st.markdown("#### Runs")
    runs_table.upload(store)
    deleted = st.toggle("Deleted ones")
    runs_table.resume_all_button()
wanted = runs_table.filters(runs_table.tags_of(store, deleted), deleted)
columns = store.run_columns(runs_table.COLUMNS, wanted, limit=runs_table.MOST)

if columns["id"]:
    chosen = runs_table.show(store, columns, deleted)
    total = store.count_runs(wanted)
    st.caption(
        f"{count(total, 'run')}{', the newest are shown' if total > len(columns['id']) else ''}. "
        "Select rows at the left edge; a click on a column sorts."
    )
    if chosen:
        st.markdown(f"**{count(len(chosen), 'run')} selected**")
        runs_table.actions(chosen, deleted)
        downloads(store, [row.id for row in chosen])
elif wanted != RunFilter(deleted=deleted):
    st.info("No run passes these filters.")
elif deleted:
    st.info("Nothing has been deleted.")
else:
    st.info("No run yet. Launch one, or import a bundle.")
    links.link_to_launch()
