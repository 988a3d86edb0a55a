"""The address of the Sweep page: the form, and the sweep that is shown."""

from __future__ import annotations

import streamlit as st

from dsebo.experiments.records import SweepRow, get_sweep
from dsebo.store.errors import StoreError
from dsebo.ui import links, session
from dsebo.ui.experiments import sweep_form
from dsebo.ui.experiments.sweep_values import Values, from_link, of_spec, to_link
from objectives.fields import ConfigError

SHOWN = "sweep"
FRAME = ("hide", "embed")  # how the page is framed, which is not the sweep's


def open_sweep_page() -> tuple[SweepRow | None, list[str]]:
    """(the sweep to show, what in the link cannot be used), with the form set as the link says."""
    params = {name: text for name, text in links.opened().items() if name not in FRAME}
    if not params:
        sweep_form.restore()
        return _row(st.session_state.get(SHOWN), [])
    said: list[str] = []
    row, said = _row(params.pop(SHOWN, None), said)
    if row is not None and not params:
        sweep_form.load(of_spec(row.spec))
    else:
        values, more = from_link(params)
        sweep_form.load(values)
        said += more
    show(row.id if row else None)
    return row, said


def _row(sweep_id: str | None, said: list[str]) -> tuple[SweepRow | None, list[str]]:
    """The sweep of that id; where there is none that can be shown, a sentence."""
    if sweep_id is None:
        return None, said
    if links.asked_id(sweep_id) is None:
        return None, [*said, f"The link's sweep = {sweep_id[:40]!r} is not an id of a sweep."]
    try:
        row = get_sweep(session.manager().store, sweep_id)
        row.spec.planned()  # its function or method may be unknown here
    except StoreError as error:
        show(None)
        return None, [*said, str(error)]
    except ConfigError as error:
        show(None)
        return None, [*said, f"Sweep {row.short_id} cannot be shown here: {error}"]
    return row, said


def show(sweep_id: str | None) -> None:
    """The sweep that this browser looks at, also after a visit to another page; None: none."""
    st.session_state[SHOWN] = sweep_id


def write(row: SweepRow | None, values: Values) -> None:
    """Let the address bar say what the page shows."""
    links.write(({SHOWN: row.id[:12]} if row else {}) | to_link(values), keep=FRAME)
