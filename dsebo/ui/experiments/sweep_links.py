"""The address of the Sweep page: the form, and the sweep that is shown."""

from __future__ import annotations

import streamlit as st

from dsebo.experiments.records import ExperimentRow, get_experiment
from dsebo.store.errors import StoreError
from dsebo.ui import links, session
from dsebo.ui.experiments import sweep_form
from dsebo.ui.experiments.sweep_values import Values, from_link, of_spec, to_link
from objectives.fields import ConfigError

SHOWN = "sweep"


def open_sweep_page() -> ExperimentRow | None:
    """The sweep to show, with the form set as the link says."""
    params = links.opened()
    if not params:
        sweep_form.restore()
        params = {SHOWN: st.session_state.get(SHOWN) or ""}
        return links.take(params, {SHOWN: _row}).get(SHOWN)
    row = links.take(params, {SHOWN: _row}).get(SHOWN)
    if row is not None and not params:
        sweep_form.load(of_spec(row.spec))
    else:
        values, unusable = from_link(params)
        sweep_form.load(values)
        links.say(unusable)
    show(row.id if row else None)
    return row


def _row(sweep_id: str) -> ExperimentRow | None:
    """The sweep of that id; a StoreError, in a sentence, where there is none that can be shown."""
    if not sweep_id:
        return None
    if not links.is_id(sweep_id):
        raise ValueError("an id of a sweep")
    show(None)
    row = get_experiment(session.manager().store, sweep_id)
    try:
        row.spec.planned()  # its function or method may be unknown here
    except ConfigError as error:
        raise StoreError(f"Sweep {row.short_id} cannot be shown here: {error}") from None
    show(row.id)
    return row


def show(sweep_id: str | None) -> None:
    """The sweep that this browser looks at, also after a visit to another page; None: none."""
    st.session_state[SHOWN] = sweep_id


def write(row: ExperimentRow | None, values: Values) -> None:
    """Let the address bar say what the page shows."""
    links.write(({SHOWN: row.id[:12]} if row else {}) | to_link(values))
