"""Links: what the address bar says of a page, and back. Whatever comes from it is checked."""

from __future__ import annotations

import re

import streamlit as st

from dsebo.config import RunConfig
from dsebo.runs import StoreError
from dsebo.ui import form, session
from dsebo.ui.settings import Settings, from_config, from_url, to_url

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


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
