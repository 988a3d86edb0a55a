"""Compare: runs or groups of runs, overlaid, in a table, and as files."""

import streamlit as st

from dsebo.charts.groups import common_scale, figure_of_groups, groups_of
from dsebo.text import plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.experiments.compare_view import (
    choose_grouping,
    choose_runs,
    choose_split,
    downloads,
    show_table,
)
from dsebo.ui.live import live_chart, load_plotly
from dsebo.ui.run import floors

session.require_router("compare")
load_plotly()
store = session.manager().store
asked, said = links.open_compare(store)
for sentence in said:
    st.warning(plain(sentence))

ids = choose_runs(store, asked.runs)
if not ids:
    st.info("Choose two or more runs above, or launch one with several repeats.")
    links.write({})
    st.stop()
runs = [SHARED.data(store, run_id) for run_id in ids]
look = choose_grouping(runs, asked, common_scale([run.row for run in runs]))
if look.floor:
    floors.explain(runs)
    runs = [floors.with_floor(run) for run in runs]
groups = groups_of(runs, look.by)
links.write(look.link(ids))
split = choose_split(groups) if look.floor else None
live_chart(figure_of_groups(groups, look.kind, look.scale, look.singles, split), key="compare")
show_table(groups)
downloads(store, ids)
