"""Race: several methods on one function, from the same seeds, together."""

import streamlit as st

from dsebo.ui import links
from dsebo.ui.experiments import setup, view
from dsebo.ui.experiments.form import RACE

links.require_router("race")
shown = view.opened(RACE)
with st.sidebar:
    draft = RACE.show()
if not shown:
    st.markdown("### Race: the same function, the same seeds, different methods")
    st.markdown(
        "Choose who takes part. All start from the same seeds and have the same budget. The centre "
        "of the box always stands there as a line: one evaluation, no search."
    )

race = st.container()
with st.expander("Another race") if shown else st.container():
    spec = setup.choose_entrants(draft)
draft = RACE.remember(RACE.current())
if spec is not None and (started := setup.start(spec)):
    view.show(RACE, started)
    st.rerun()
view.write(RACE, shown, draft)
if shown:
    with race:
        view.watch(RACE, shown, "New race")
