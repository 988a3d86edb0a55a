"""Placeholder."""

import streamlit as st

from dsebo.ui import session

session.require_router("compare")
st.write("compare", dict(st.query_params))
