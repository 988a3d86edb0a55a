"""A choice among the stored runs."""

from __future__ import annotations

import streamlit as st

from dsebo.store.rows import RunRow
from dsebo.store.store import Store
from dsebo.text import number

MOST = 1000  # runs in a list to choose from; others are reached by a link or the Runs page


def label(row: RunRow) -> str:
    """A run in one line: what tells it from its neighbours. Plain text, never markup."""
    return f"{row.name} · seed {row.seed} · best {number(row.best)} · {row.short_id}"


def stored_runs(store: Store) -> list[RunRow]:
    """The newest runs that have something to show."""
    return [row for row in store.list_runs(limit=MOST) if row.n_done > 0]


def choose_run(store: Store, title: str, key: str, asked: str | None, none: bool = False) -> str | None:
    """The id of the run that the reader chooses; `asked` is the one that a link names."""
    rows = {row.id: row for row in stored_runs(store)}
    if asked is not None and asked not in rows:
        rows[asked] = store.get_run(asked)
    if not rows:
        return None
    options = ([""] if none else []) + list(rows)
    wanted = asked or st.session_state.get(key, st.session_state.get(f"{key} kept"))
    if wanted in options:
        st.session_state[key] = wanted
    else:
        st.session_state.pop(key, None)
    chosen = st.selectbox(
        title, options, format_func=lambda run_id: label(rows[run_id]) if run_id else "None", key=key
    )
    st.session_state[f"{key} kept"] = chosen  # Streamlit forgets a widget on another page
    return chosen or None
