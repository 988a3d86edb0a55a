"""Links: what the address bar says of a page, and back. Whatever comes from it is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from dsebo.analysis.curves import BandKind
from dsebo.charts.scales import SCALES, Scale
from dsebo.config import RunConfig
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.ui import form, session
from dsebo.ui.values import Settings, from_config, from_url, to_url

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
MOST_COMPARED = 200


def asked_id(text: str | None) -> str | None:
    """A run's id as a link has it; None where it cannot be one."""
    return text if text and _ID.fullmatch(text) else None


def open_run_page() -> tuple[str | None, list[str]]:
    """(the run to show, what in the link cannot be used), with the form set as the link says."""
    params = dict(st.query_params)
    if params and params != st.session_state.get("run_link"):
        return _follow(params)
    form.restore()
    return st.session_state.get("run"), []


def _follow(params: dict[str, str]) -> tuple[str | None, list[str]]:
    """A link that was opened: a run, a setting, or both."""
    settings, said = from_url(params)
    run_id = asked_id(params.get("run"))
    if "run" in params and run_id is None:
        said.append("The link's run is not an id of a run.")
    if run_id is not None and set(params) <= {"run", "at"}:
        settings = _settings_of(run_id) or settings
    form.load(settings)
    st.session_state["run"] = run_id
    return run_id, said


def _settings_of(run_id: str) -> Settings | None:
    """A run's own setting, to be varied from there; None where there is no such run."""
    try:
        row = session.manager().store.get_run(run_id)
    except StoreError:  # the page says so where the run would be
        return None
    return from_config(RunConfig.parse(row.config), speed=row.speed)


def remember_run(run_id: str | None) -> None:
    """The run that this browser looks at, also after a visit to another page."""
    st.session_state["run"] = run_id


def write_run_page(run_id: str | None, settings: Settings) -> None:
    """Let the address bar say what the page shows."""
    link = ({"run": run_id} if run_id else {}) | to_url(settings)
    if link != dict(st.query_params):
        st.query_params.from_dict(link)
    st.session_state["run_link"] = link


def write(link: Mapping[str, str], keep: Sequence[str] = ()) -> None:
    """Put this into the address bar, with what stays of it."""
    now = dict(st.query_params)
    wanted = {k: now[k] for k in keep if k in now} | dict(link)
    if wanted != now:
        st.query_params.from_dict(wanted)
    st.session_state["written"] = wanted


def opened() -> dict[str, str]:
    """What the address bar says, if someone else wrote it: a link, the back button, a reload."""
    now = dict(st.query_params)
    return {} if now == st.session_state.get("written") else now


def known_run(store: Store, text: str | None, said: list[str]) -> str | None:
    """The full id of a run that a link names; a sentence where there is none."""
    if text is None:
        return None
    run_id = asked_id(text)
    if run_id is None:
        said.append(f"The link's {text[:40]!r} is not an id of a run.")
        return None
    try:
        return store.get_run(run_id).id
    except StoreError as error:
        said.append(str(error))
        return None


@dataclass(frozen=True)
class ReplayLink:
    """What a link of the Replay page asks for."""

    first: str | None = None
    second: str | None = None
    t: int | None = None


def open_replay(store: Store) -> tuple[ReplayLink, list[str]]:
    """(what is asked for, what of it cannot be had)."""
    params, said = opened(), list[str]()
    first = known_run(store, params.get("run"), said)
    second = known_run(store, params.get("with"), said)
    t = params.get("t")
    if t is not None and not re.fullmatch(r"[0-9]{1,7}", t):
        said.append("The link's t is not the number of an evaluation.")
        t = None
    return ReplayLink(first, second, int(t) if t else None), said


@dataclass(frozen=True)
class CompareLink:
    """What a link of the Compare page asks for."""

    runs: tuple[str, ...] = ()
    by: str = ""
    band: BandKind = "mean"
    scale: Scale | None = None
    singles: bool = False


def open_compare(store: Store) -> tuple[CompareLink, list[str]]:
    """(what is asked for, what of it cannot be had)."""
    params, said = opened(), list[str]()
    asked = [part for part in params.get("runs", "").split(",") if part][:MOST_COMPARED]
    found = [known_run(store, part, said) for part in asked]
    scale = params.get("scale")
    return CompareLink(
        runs=tuple(dict.fromkeys(run for run in found if run)),
        by=params.get("by", "")[:40],
        band="median" if params.get("band") == "median" else "mean",
        scale=scale if scale in SCALES else None,
        singles=params.get("singles") == "yes",
    ), said[:3]
