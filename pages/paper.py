"""Paper: its five tables beside this software's own runs, and how it is read."""

import streamlit as st

from dsebo.paper.comparison import tasks
from dsebo.ui import links
from dsebo.ui.paper import view as paper_view

links.require_router("paper")
st.markdown("### The paper's tables, beside this software")
st.markdown(
    "Each row is printed in the paper: the mean of 10 repeats of 500 evaluations. Beside it stands "
    "what this software gives for exactly the same setting. What has not been run says so."
)
table, task = paper_view.choose_table()
found = paper_view.finals(tasks(1))
paper_view.show_task(table, task)
paper_view.show_curves(table, task)
paper_view.show_summary(found)
paper_view.show_readings()
