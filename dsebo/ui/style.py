"""The page's own style, on top of the theme."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import streamlit as st


@lru_cache(maxsize=1)
def _css() -> str:
    return (files("dsebo.ui") / "live" / "style.css").read_text(encoding="utf-8")


def apply() -> None:
    """Give the page its style."""
    with st.container(key="page-style"):
        st.html(f"<style>{_css()}</style>")


def icon() -> str:
    """The page's icon: a file of ours, as Streamlit fetches named icons from elsewhere."""
    return str(files("dsebo.data") / "favicon.png")
