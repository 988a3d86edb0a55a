"""Runs: the table of all runs, and what can be done with a selection."""

import streamlit as st

from dsebo.text import count
from dsebo.ui import links, session
from dsebo.ui.experiments import runs_table
from dsebo.ui.experiments.compare_view import downloads

store = session.manager().store

with st.container(horizontal=True, vertical_alignment="center", key="head"):
    st.markdown("#### Runs")
    runs_table.upload(store)
    deleted = st.toggle("Deleted ones")
wanted = runs_table.filters(runs_table.tags_of(store, deleted))
columns = store.run_columns(runs_table.COLUMNS, deleted=deleted, limit=runs_table.MOST, **wanted)

if columns["id"]:
    chosen = runs_table.show(store, columns, deleted)
    total = store.count_runs(deleted=deleted, **wanted)
    st.caption(
        f"{count(total, 'run')}{', the newest are shown' if total > len(columns['id']) else ''}. "
        "Select rows at the left edge; a click on a column sorts."
    )
    if chosen:
        st.markdown(f"**{count(len(chosen), 'run')} selected**")
        runs_table.actions(chosen, deleted)
        downloads(store, [row.id for row in chosen])
elif any(wanted.values()):
    st.info("No run passes these filters.")
elif deleted:
    st.info("Nothing has been deleted.")
else:
    st.info("No run yet. Launch one, or import a bundle.")
    links.link_to_launch()
