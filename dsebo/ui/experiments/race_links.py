"""The address of a race: its settings before the start, its groups of runs after it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from dsebo.experiments.spec import MAX_RACE_RUNS
from dsebo.store.rows import RunFilter, RunRow
from dsebo.store.store import Store
from dsebo.ui import links
from dsebo.ui.experiments import race_form

_GROUP = re.compile(r"[0-9a-f]{1,64}")


def open_race(store: Store) -> list[RunRow]:
    """The runs of the race to show, with the form set as the link says."""
    params = links.opened()
    if not params:
        race_form.restore()
        return rows_of(store, st.session_state.get("race_groups", []))[0]
    groups = [part for part in params.pop("groups", "").split(",") if part]
    rows, unusable = rows_of(store, groups)
    st.session_state["race_groups"] = groups_of(rows)
    if rows and not params:
        race_form.load(race_form.from_rows(rows))
    else:
        values, more = race_form.from_link(params)
        race_form.load(values)
        unusable += more
    links.say(unusable)
    return rows


def rows_of(store: Store, groups: Sequence[str]) -> tuple[list[RunRow], list[str]]:
    """(the runs of these groups that are of one function and budget, what is wrong with them)."""
    said: list[str] = []
    rows: list[RunRow] = []
    missing = 0
    for group in list(dict.fromkeys(groups))[:MAX_RACE_RUNS]:
        found = store.list_runs(RunFilter(group=group), descending=False) if _GROUP.fullmatch(group) else []
        missing += not found
        rows += found
    if missing:
        said.append(f"{missing} of the link's {len(groups)} groups of runs are not in this store.")
    alike = [row for row in rows if _task(row) == _task(rows[0])][:MAX_RACE_RUNS]
    if len(alike) < len(rows):
        said.append("The link's runs are not all of one function: only those of the first are shown.")
    return alike, said


def _task(row: RunRow) -> tuple[object, object]:
    return row.config["objective"], row.config["budget"]


def groups_of(rows: Sequence[RunRow]) -> list[str]:
    """The groups that these runs were launched in."""
    return list(dict.fromkeys(row.group for row in rows))
