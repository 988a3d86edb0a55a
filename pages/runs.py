"""Placeholder."""

import streamlit as st

from dsebo.ui import session

session.require_router("runs")
st.write("runs", dict(st.query_params))
