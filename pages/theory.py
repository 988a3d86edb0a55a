"""Theory: the two bounds of the paper's section 5, with numbers."""

import streamlit as st

from dsebo.ui import links
from dsebo.ui.learn import theory_view

links.require_router("theory")
st.markdown("### The theorem, with numbers")
st.markdown(
    "Section 5 bounds the simple regret by two parts. The **approximation error** ε(d) is what a "
    "d-dimensional subspace cannot reach; the **optimization error** is what T evaluations in it "
    "leave. A small subspace has much of the first, a large one much of the second."
)
theory_view.formulas()
theory_view.show_example(theory_view.controls())
st.markdown(theory_view.HIDDEN)
theory_view.show_run()
