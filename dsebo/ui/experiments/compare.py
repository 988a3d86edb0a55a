"""The Compare page's parts: which runs, how grouped, the table, the files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from dsebo.analysis.curves import EVERYTHING, BandKind
from dsebo.charts.compare import table_of
from dsebo.charts.scales import SCALES, Scale
from dsebo.config import differing, flat_config
from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.store.store import Store
from dsebo.transfer import FORMATS, Format
from dsebo.ui import links
from dsebo.ui.inputs import BANDS, choose_band, choose_scale, run_label, stored_runs
from dsebo.ui.run import floors

PARAMETERS: dict[str, links.Parser] = {
    "runs": links.stored_runs,
    "by": links.words(40),
    "band": links.one_of(list(BANDS)),
    "scale": links.one_of(SCALES),
    "singles": links.one_of(("yes", "no")),
}


@dataclass(frozen=True)
class Look:
    """How the chosen runs are shown."""

    by: str
    kind: BandKind
    scale: Scale
    singles: bool
    floor: bool = False

    def link(self, ids: Sequence[str]) -> dict[str, str]:
        """The address that shows the same."""
        link = {"runs": ",".join(run_id[:12] for run_id in ids), "band": self.kind, "scale": self.scale}
        link |= {"singles": "yes"} if self.singles else {}
        return link | ({"by": self.by} if self.by != EVERYTHING else {})


def choose_runs(asked: Sequence[str]) -> list[str]:
    """The ids of the runs to compare."""
    rows = stored_runs(asked=asked)
    if asked:
        st.session_state["compare_runs"] = list(asked)
    elif "compare_runs" not in st.session_state:
        kept = st.session_state.get("compared")
        st.session_state["compare_runs"] = kept or to_begin_with(list(rows.values()))
    st.session_state["compare_runs"] = [r for r in st.session_state["compare_runs"] if r in rows]
    chosen: list[str] = st.multiselect(
        "Runs",
        list(rows),
        format_func=lambda run_id: run_label(rows[run_id]),
        key="compare_runs",
        max_selections=links.MOST_RUNS,
        placeholder="Choose runs",
    )
    st.session_state["compared"] = chosen
    return chosen


def to_begin_with(rows: Sequence[RunRow]) -> list[str]:
    """Of the newest finished runs, the most that are of one function: those compare well."""
    finished = [row for row in rows if row.state == "finished"][:50]
    alike: dict[str, list[str]] = {}
    for row in finished:
        alike.setdefault(json.dumps(row.config["objective"]), []).append(row.id)
    return max(alike.values(), key=len, default=[])[:12]


def choose_look(runs: Sequence[RunData], asked: Mapping[str, Any], scale: Scale) -> Look:
    """Grouping, bands and axis, in one line."""
    flat = [flat_config(run.row.config) for run in runs]
    options = [EVERYTHING, *(name for name in differing(flat) if name != "seed")]
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        place = options.index(asked["by"]) if asked.get("by") in options else 0
        by = st.selectbox("Group by", options, index=place, width=250, key="compare by")
        kind = choose_band("compare band", asked.get("band", "mean"), "Bands")
        axis = choose_scale(f"compare scale {scale}", asked.get("scale", scale), "Value axis")
        singles = st.toggle("Single runs", value=asked.get("singles") == "yes", key="compare singles")
        floor = floors.switch()
    return Look(by or EVERYTHING, kind, axis, singles, floor)


def choose_split(groups: Mapping[str, Sequence[RunData]]) -> str | None:
    """The group whose two errors are coloured: one at a time, as areas cover one another."""
    if len(groups) < 2:
        return None
    return st.selectbox("Colour the two errors of", list(groups), width=520)


def show_table(groups: Mapping[str, Sequence[RunData]]) -> None:
    """The groups in numbers, beside what the paper prints."""
    st.markdown("#### In numbers")
    everything = st.toggle("All of the paper's methods", help="Where the setting is the paper's.")
    table = table_of(groups, everything)
    four = partial(st.column_config.NumberColumn, format="%.4g")
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        column_config={
            "group": "Group",
            "runs": "Runs",
            "source": "Made by",
            "mean": four("Mean"),
            "std": four("Std"),
            "best": four("Best"),
            "seconds": st.column_config.NumberColumn("Seconds", format="%.3g"),
        },
    )


def downloads(store: Store, ids: Sequence[str]) -> None:
    """The compared runs as files; they are made when asked for."""
    with st.container(horizontal=True, key="downloads"):
        for form in FORMATS.values():
            if form.runs is not None:
                download(form, partial(form.runs, store, ids), f"{len(ids)}-runs")


def download(form: Format, make: Callable[[], bytes], of: str) -> None:
    """A button for a file of that format, which is made when asked for."""
    st.download_button(
        form.label,
        make,
        f"dsebo-{of}-{form.file}",
        form.media_type,
        on_click="ignore",
        icon=":material/download:",
        key=f"download {form.key}",
    )
