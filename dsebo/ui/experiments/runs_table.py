"""The table of runs: filters, the frame it shows, and what can be done with a selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pandas as pd
import streamlit as st

from dsebo.experiments.resuming import left_at_work, resume_all
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunFilter, RunRow
from dsebo.store.schema import BUNDLED, IMPORTED, RUN, STATES
from dsebo.store.store import Store
from dsebo.text import function_name, method_name, plain
from dsebo.transfer import ImportDesk
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.controls import act_on_each
from objectives import names

MOST = 5000  # rows; more are reached by a filter
UPLOADS = ["json", "zip"]
_DESK = ImportDesk()  # one for all browsers of this server
SOURCES = {RUN: "computed", BUNDLED: "bundled", IMPORTED: "imported"}
RESUME_ALL = "Resume all {} that were at work"
COLUMNS = (
    "id",
    "name",
    "state",
    "function",
    "method",
    "best",
    "d",
    "n_done",
    "budget",
    "seconds",
    "seed",
    "tags",
    "created",
    "source",
    "error",
)


def resume_all_button() -> None:
    """One button for all of the reader's own that was at work when its process ended; none, no button."""
    manager, owner = session.manager(), session.owner()
    left = left_at_work(manager.store, owner)
    if not left or not st.button(RESUME_ALL.format(len(left)), icon=":material/play_arrow:", type="primary"):
        return
    resumed, refused = resume_all(manager, owner)
    if resumed:
        st.toast(f"{len(resumed)} of {len(left)} go on.")
    for sentence in refused[:3]:
        st.toast(plain(sentence), icon=":material/error:")
    SHARED.stale()
    st.rerun()


def filters(tags: Sequence[str], deleted: bool) -> RunFilter:
    """What the reader wants to see, as the store takes it."""
    search, states, functions, tagged = st.columns([1.6, 1.3, 1.3, 1.3])
    return RunFilter(
        deleted=deleted,
        search=search.text_input("Search", placeholder="name, tag or id", max_chars=100),
        states=tuple(states.multiselect("State", STATES, placeholder="all")),
        functions=tuple(
            functions.multiselect("Function", names(), format_func=function_name, placeholder="all")
        ),
        tags=tuple(tagged.multiselect("Tag", tags, placeholder="all")),
    )


def tags_of(store: Store, deleted: bool) -> list[str]:
    """Every tag in use."""
    texts = set(store.run_columns(["tags"], RunFilter(deleted=deleted), limit=MOST)["tags"])
    return sorted({tag for text in texts for tag in orjson.loads(text)})


def frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """One line a run; numbers as numbers, so that a click on a column sorts them."""
    functions = {name: function_name(name) for name in set(columns["function"])}
    methods = {name: method_name(name) for name in set(columns["method"])}
    tags = {text: orjson.loads(text) for text in set(columns["tags"])}
    table = pd.DataFrame(
        {
            "Name": columns["name"],
            "State": columns["state"],
            "Function": [functions[name] for name in columns["function"]],
            "Method": [methods[name] for name in columns["method"]],
            "Best": columns["best"],
            "Final d": columns["d"],
            "Done": columns["n_done"],
            "Budget": columns["budget"],
            "Seconds": columns["seconds"],
            "Seed": columns["seed"],
            "Tags": [tags[text] for text in columns["tags"]],
            "Created": pd.to_datetime(columns["created"], unit="s", errors="coerce"),
            "Source": [SOURCES.get(name, name) for name in columns["source"]],
            "Id": [run_id[:8] for run_id in columns["id"]],
        }
    )
    if any(columns["error"]):  # why runs ended that nobody had told to
        table.insert(2, "Reason", columns["error"])
    return table


def show(store: Store, columns: dict[str, list[Any]], deleted: bool) -> list[RunRow]:
    """The table; the runs that are selected."""
    ids = columns["id"]
    shown = st.dataframe(
        frame(columns),
        hide_index=True,
        placeholder="–",
        height=min(560, 40 + 36 * max(1, len(ids))),
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
    chosen = [ids[index] for index in shown["selection"]["rows"] if 0 <= index < len(ids)]
    found = store.list_runs(RunFilter(ids=chosen, deleted=deleted)) if chosen else []  # all may be selected
    rows = {row.id: row for row in found}
    return [rows[run_id] for run_id in chosen if run_id in rows]


def _act(rows: Sequence[RunRow], do: Callable[[str, str], None], done: str) -> None:
    # A table of another key: the browser would keep its selection though it has been acted on.
    st.session_state["acted"] = st.session_state.get("acted", 0) + 1
    act_on_each(rows, do, done)


def actions(chosen: Sequence[RunRow], deleted: bool) -> None:
    """What can be done with the selected runs."""
    manager = session.manager()
    with st.container(horizontal=True, key="actions"):
        if deleted:
            if st.button("Restore", icon=":material/restore_from_trash:"):
                _act(chosen, manager.restore, "restored")
            return
        if st.button("Open", disabled=len(chosen) != 1, type="primary"):
            links.go("run", run=chosen[0].id)
        if st.button("Replay", disabled=len(chosen) > 2):
            links.go(
                "run", show="replay", **dict(zip(("run", "with"), (row.id for row in chosen), strict=False))
            )
        if st.button("Compare"):
            links.go("experiments", show="compare", runs=",".join(row.id for row in chosen))
        _rename(chosen)
        _tag(chosen)
        if st.button("Delete", icon=":material/delete:"):
            _act(chosen, manager.delete, "deleted; Restore brings them back")


def _rename(rows: Sequence[RunRow]) -> None:
    """Another name for the one selected run."""
    with st.popover("Rename", disabled=len(rows) != 1):
        name = st.text_input("New name", value=rows[0].name if rows else "", max_chars=200)
        if st.button("Rename", key="rename now", type="primary"):
            manager = session.manager()
            _act(rows, lambda run_id, owner: manager.rename(run_id, name, owner), "renamed")


def _tag(rows: Sequence[RunRow]) -> None:
    """Tags for all selected runs."""
    with st.popover("Tag", disabled=not rows):
        common = ", ".join(rows[0].tags) if rows else ""
        text = st.text_input("Tags, with commas between", value=common, max_chars=300)
        if st.button("Set tags", type="primary"):
            tags = [part.strip() for part in text.split(",") if part.strip()]
            manager = session.manager()
            _act(rows, lambda run_id, owner: manager.tag(run_id, tags, owner), "tagged")


def upload(store: Store) -> None:
    """Import by upload. What is uploaded is parsed, never executed."""
    settings = session.manager().settings
    with st.popover("Import", icon=":material/upload:"):
        file = st.file_uploader(
            "A JSON bundle, or a zip of the authors' CSV pairs",
            type=UPLOADS,
            key=f"upload {st.session_state.get('uploads', 0)}",
            max_upload_size=settings.import_limits.upload_mb,
        )
        if refusal := st.session_state.pop("upload refused", ""):
            st.error(plain(refusal))
        if file is None or not st.button("Import it", type="primary"):
            return
        try:
            data = file.getvalue()
            saved = _DESK.take(store, settings, data, file.name, session.owner())
            st.toast(f"{saved.words}.")
        except StoreError as error:
            st.session_state["upload refused"] = str(error)
        # An uploader of another key: the server forgets the file, whatever came of it.
        st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
        st.rerun()
