"""Embedding: S, a z and its x, what is clipped and what moves, for a chosen run."""

import streamlit as st

from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import inputs, links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.run import embedding

links.require_router("embedding")
asked = links.take(links.opened(), {"run": links.stored_run})
st.markdown("### The embedding, seen")
chosen = inputs.choose_run("Run", "embedding_run", asked.get("run"), methods=["dsebo"])
if chosen is None:
    st.info("There is no run of DSEBO yet. Launch one on the Run page, then come back.")
    links.link_to_launch()
else:
    links.write({"run": chosen})
    store = session.manager().store
    try:
        embedding.show(store, SHARED.data(store, chosen))
    except StoreError as error:
        st.info(plain(str(error)))
