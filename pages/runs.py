"""Runs: the table of all runs, and what can be done with a selection."""

import streamlit as st

from dsebo.text import count
from dsebo.ui import session
from dsebo.ui.experiments import runs_table
from dsebo.ui.experiments.compare_view import downloads

session.require_router("runs")
session.remember_owner()
manager = session.manager()
store = manager.store

with st.container(horizontal=True, vertical_alignment="center", key="head"):
    st.markdown("#### Runs")
    runs_table.upload(store)
    deleted = st.toggle("Deleted ones")
wanted = runs_table.filters(runs_table.tags_of(store, deleted))
columns = store.run_columns(runs_table.COLUMNS, deleted=deleted, limit=runs_table.MOST, **wanted)

if not columns["id"]:
    if any(wanted.values()):
        st.info("No run passes these filters.")
    elif deleted:
        st.info("Nothing has been deleted.")
    else:
        st.info("No run yet. Launch one, or import a bundle.")
        st.page_link("pages/run.py", label="Launch a run", icon=":material/play_circle:")
    st.stop()

chosen = runs_table.show(store, columns, deleted)
total = store.count_runs(deleted=deleted, **wanted)
st.caption(
    f"{count(total, 'run')}{', the newest are shown' if total > len(columns['id']) else ''}. "
    "Select rows at the left edge; a click on a column sorts."
)
if not chosen:
    st.stop()
st.markdown(f"**{count(len(chosen), 'run')} selected**")
with st.container(horizontal=True, key="actions"):
    if deleted:
        if st.button("Restore", icon=":material/restore_from_trash:"):
            runs_table.each(chosen, manager.restore, "restored")
    else:
        if st.button("Open", disabled=len(chosen) != 1, type="primary"):
            st.switch_page("pages/run.py", query_params={"run": chosen[0].id})
        if st.button("Replay", disabled=len(chosen) > 2):
            asked = dict(zip(("run", "with"), (row.id for row in chosen), strict=False))
            st.switch_page("pages/replay.py", query_params=asked)
        if st.button("Compare"):
            ids = ",".join(row.id for row in chosen)
            st.switch_page("pages/compare.py", query_params={"runs": ids})
        runs_table.rename(chosen)
        runs_table.tag(chosen)
        if st.button("Delete", icon=":material/delete:"):
            runs_table.each(chosen, manager.delete, "deleted; Restore brings them back")
downloads(store, [row.id for row in chosen])
