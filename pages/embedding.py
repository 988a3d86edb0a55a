"""Embedding: S, a z and its x, what is clipped and what moves, for a chosen run."""

import streamlit as st

from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.live import load_plotly
from dsebo.ui.run import embedding as embedding_page

session.require_router("embedding")
load_plotly()
store = session.manager().store
said: list[str] = []
asked = links.known_run(store, links.opened().get("run"), said)
for sentence in said:
    st.warning(plain(sentence))

st.markdown("### The embedding, seen")
chosen = embedding_page.choose(store, asked)
if chosen is None:
    st.info("There is no run of DSEBO yet. Launch one on the Run page, then come back.")
    st.page_link("pages/run.py", label="Launch a run", icon=":material/play_circle:")
    st.stop()
links.write({"run": chosen})
try:
    embedding_page.show(store, SHARED.data(store, chosen))
except StoreError as error:
    st.info(plain(str(error)))
