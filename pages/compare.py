"""Compare: runs or groups of runs, overlaid, in a table, and as files."""

import streamlit as st

from dsebo.charts.compare import common_scale, figure_of_groups, groups_of
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.experiments import compare
from dsebo.ui.live import live_chart
from dsebo.ui.run import floors

links.require_router("compare")
store = session.manager().store
asked = links.take(links.opened(), compare.PARAMETERS)
ids = compare.choose_runs(asked.get("runs", []))
if not ids:
    st.info("Choose two or more runs above, or launch one with several repeats.")
    links.write({})
else:
    runs = [SHARED.data(store, run_id) for run_id in ids]
    look = compare.choose_look(runs, asked, common_scale([run.row for run in runs]))
    if look.floor:
        floors.explain(runs)
        runs = [floors.with_floor(run) for run in runs]
    groups = groups_of(runs, look.by)
    links.write(look.link(ids))
    split = compare.choose_split(groups) if look.floor else None
    live_chart(figure_of_groups(groups, look.kind, look.scale, look.singles, split), key="compare")
    compare.show_table(groups)
    compare.downloads(store, ids)
