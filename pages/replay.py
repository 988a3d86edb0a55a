"""Placeholder."""

import streamlit as st

from dsebo.ui import session

session.require_router("replay")
st.write("replay", dict(st.query_params))
