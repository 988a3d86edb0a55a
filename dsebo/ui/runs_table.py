"""The table of runs: filters, the frame it shows, and what can be done with a selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dsebo.runs import STATES, RunRow, Store, StoreError
from dsebo.runs.transfer import import_bytes
from dsebo.ui import session
from dsebo.ui.words import count, function_name, method_name, plain
from objectives import names

MOST = 5000  # rows; more are reached by a filter
UPLOADS = ["json", "zip"]


def filters(tags: Sequence[str]) -> dict[str, Any]:
    """What the reader wants to see, as the store takes it."""
    search, states, functions, tagged = st.columns([1.6, 1.3, 1.3, 1.3])
    wanted: dict[str, Any] = {
        "search": search.text_input("Search", placeholder="name, tag or id", max_chars=100),
        "states": states.multiselect("State", STATES, placeholder="all"),
        "functions": functions.multiselect(
            "Function", names(), format_func=function_name, placeholder="all"
        ),
        "tags": tagged.multiselect("Tag", tags, placeholder="all"),
    }
    return wanted


def frame(rows: Sequence[RunRow]) -> pd.DataFrame:
    """One line a run; numbers as numbers, so that a click on a column sorts them."""
    return pd.DataFrame(
        {
            "Name": [row.name for row in rows],
            "State": [row.state for row in rows],
            "Function": [function_name(row.function) for row in rows],
            "Method": [method_name(row.method) for row in rows],
            "Best": [row.best for row in rows],
            "Final d": [row.d for row in rows],
            "Done": [row.n_done for row in rows],
            "Budget": [row.budget for row in rows],
            "Seconds": [row.seconds for row in rows],
            "Seed": [row.seed for row in rows],
            "Tags": [list(row.tags) for row in rows],
            "Created": pd.to_datetime([row.created for row in rows], unit="s"),
            "Id": [row.short_id for row in rows],
        }
    )


def show(rows: Sequence[RunRow]) -> list[RunRow]:
    """The table; the rows that are selected."""
    shown = st.dataframe(
        frame(rows),
        hide_index=True,
        placeholder="–",
        height=min(560, 40 + 36 * max(1, len(rows))),
        key=f"runs_table {st.session_state.get('acted', 0)}",
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "Name": st.column_config.TextColumn(width=300),
            "Best": st.column_config.NumberColumn(format="%.4g"),
            "Seconds": st.column_config.NumberColumn(format="%.3g"),
            "Tags": st.column_config.ListColumn(width="small"),
            "Created": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        },
    )
    chosen = shown["selection"]["rows"]
    return [rows[index] for index in chosen if 0 <= index < len(rows)]


def each(rows: Sequence[RunRow], action: Callable[[str, str], None], done: str) -> None:
    """Do it to every selected run; what is refused is said, the rest is done."""
    owner, refused = session.owner(), []
    for row in rows:
        try:
            action(row.id, owner)
        except StoreError as error:
            refused.append(str(error))
    if len(refused) < len(rows):
        st.toast(f"{count(len(rows) - len(refused), 'run')} {done}.")
    for sentence in refused[:3]:
        st.toast(plain(sentence), icon=":material/error:")
    # A table of another key: the browser would keep its selection though it has been acted on.
    st.session_state["acted"] = st.session_state.get("acted", 0) + 1
    st.rerun()


def rename(rows: Sequence[RunRow]) -> None:
    """Another name for the one selected run."""
    with st.popover("Rename", disabled=len(rows) != 1):
        name = st.text_input("New name", value=rows[0].name if rows else "", max_chars=200)
        if st.button("Rename", key="rename now", type="primary"):
            manager = session.manager()
            each(rows, lambda run_id, owner: manager.rename(run_id, name, owner), "renamed")


def tag(rows: Sequence[RunRow]) -> None:
    """Tags for all selected runs."""
    with st.popover("Tag", disabled=not rows):
        common = ", ".join(rows[0].tags) if rows else ""
        text = st.text_input("Tags, with commas between", value=common, max_chars=300)
        if st.button("Set tags", type="primary"):
            tags = [part.strip() for part in text.split(",") if part.strip()]
            manager = session.manager()
            each(rows, lambda run_id, owner: manager.tag(run_id, tags, owner), "tagged")


def upload(store: Store) -> None:
    """Import by upload. What is uploaded is parsed, never executed."""
    with st.popover("Import", icon=":material/upload:"):
        file = st.file_uploader(
            "A JSON bundle, or a zip of the authors' CSV pairs",
            type=UPLOADS,
            key=f"upload {st.session_state.get('uploads', 0)}",
        )
        if file is None or not st.button("Import it", type="primary"):
            return
        try:
            ids = import_bytes(store, file.getvalue(), file.name, session.owner())
        except StoreError as error:
            st.error(plain(str(error)))
            return
        st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
        st.toast(f"{count(len(ids), 'run')} imported.")
        st.rerun()
