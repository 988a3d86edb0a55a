"""Race: several methods on one function, from the same seeds, together."""

import streamlit as st

from dsebo.store.rows import RunFilter
from dsebo.ui import links, session
from dsebo.ui.experiments import race_form
from dsebo.ui.experiments.race_links import groups_of, open_race
from dsebo.ui.experiments.race_setup import setup
from dsebo.ui.experiments.race_view import watch_race

store = session.manager().store
rows = open_race(store)

with st.sidebar:
    race_form.show_function()
if not rows:
    st.markdown("### Race: the same function, the same seeds, different methods")
    st.markdown(
        "Choose who takes part. All start from the same seeds and have the same budget. The centre "
        "of the box always stands there as a line: one evaluation, no search."
    )

race = st.container()
values = race_form.current()
with st.expander("Another race") if rows else st.container():
    launched = setup(values)
race_form.remember(values)
if launched:
    st.session_state["race_groups"] = groups_of(store.list_runs(RunFilter(ids=launched), descending=False))
    st.rerun()
links.write(({"groups": ",".join(groups_of(rows))} if rows else {}) | race_form.to_link(values))
if rows:
    with race:
        watch_race([row.id for row in rows])
