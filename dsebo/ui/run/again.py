"""From a stored run to another: forked at a convergence, or run again with one setting changed.

The old run stays behind the new one as its ghost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dsebo.analysis.conclusions import advice
from dsebo.config import RunConfig, flat_config, parse_flat
from dsebo.objectives.fields import ConfigError, FieldSpec
from dsebo.parsing import OF_LAUNCH, launch_fields
from dsebo.runs.data import CHANGES, RunData
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import RunRow
from dsebo.text import part, symbol
from dsebo.ui import links, session
from dsebo.ui.form import refusal_words
from dsebo.ui.inputs import field_input, put, segmented

STEP, NONE, BETA, ALPHA = "Another Δd", "No expansion", "Another β", "Another α"
FIRST = ("beta", "d_h", "alpha", "c", "d_e", "seed", "budget")  # what one most often wants to change


def fork(data: RunData) -> None:
    """Go on from a convergence with another decision or setting."""
    if data.row.method != "dsebo":
        return
    changes = {change["t"]: change for change in data.changes if change["t"] < data.row.budget}
    help = "Go on from a convergence with another decision. The history up to there is shared, exactly."
    with st.popover("Fork here", icon=":material/call_split:", help=help, disabled=not changes):
        if not changes:
            return
        chosen = st.session_state.get(f"chosen {data.row.id}")
        grown = [t for t, change in changes.items() if change["event"] == "expanded"]
        usual = chosen if chosen in changes else (grown or list(changes))[-1]  # the last stalls leave nothing
        at = st.selectbox(
            "At evaluation",
            list(changes),
            index=list(changes).index(usual),
            format_func=lambda t: f"{t}: d = {changes[t]['d_from']}, Δd = {changes[t]['delta_after']}",
            key=f"fork at {data.row.id} {usual}",
        )
        event, place = changes[at], f"{data.row.id} {at}"
        what = segmented("What differs", [STEP, NONE, BETA, ALPHA], f"fork {place}", STEP)
        decide, changed = _asked(what, event, RunConfig.parse(data.config_at(at)), place)
        if st.button("Fork", type="primary", icon=":material/call_split:", key="do fork"):
            manager = session.manager()
            _start(
                lambda: manager.fork(
                    data.row.id,
                    at,
                    decide=decide,
                    changes=changed,
                    owner=session.owner(),
                    speed=data.row.speed,
                )
            )


def _asked(
    what: str, event: dict[str, Any], config: RunConfig, place: str
) -> tuple[int | None, dict[str, Any]]:
    """(the step, the settings) that a fork goes on with."""
    if what == NONE:
        return 0, {}
    values = flat_config(config)
    if what == STEP:
        most = max(1, int(values["d_h"]) - int(event["d_from"]))
        usual = min(most, max(1, 2 * int(event["delta_after"] or 1)))
        return int(st.number_input("Δd", 1, most, usual, key=f"fork step {place}")), {}
    name = "beta" if what == BETA else "alpha"
    value = _new_value(_spec(config, name), values[name], f"fork {name} {place}")
    return None, {} if value is None else {name: value}


def run_again(row: RunRow) -> None:
    """The same run with one setting changed."""
    config = row.parsed
    specs = {spec.name: spec for spec in launch_fields(row.method, config.objective.name)}
    names = [*(name for name in FIRST if name in specs), *(name for name in specs if name not in FIRST)]
    names = [name for name in names if name not in (*OF_LAUNCH, "function", "method")]
    with st.popover("Run again with …", icon=":material/replay:", help="This run stays behind it, in grey."):
        name = st.selectbox(
            "Setting",
            names,
            format_func=lambda setting: f"{symbol(setting)}: {specs[setting].label}",
            key="again setting",
        )
        value = _new_value(specs[name], flat_config(config)[name], f"again {name} {row.id}")
        if st.button("Run it", type="primary", icon=":material/play_arrow:", key="do again"):
            _launch(row, {name: value})


def advice_of(data: RunData, change: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
    """(`Try min_step = 1`, the setting) that a convergence which changed nothing asks for; else empty."""
    if change.get("event") not in CHANGES or data.row.method != "dsebo":
        return "", {}
    config = data.config_at(change["t"])
    settings = advice(change, config["optimizer"], RunConfig.parse(config).objective.D)
    return "".join(f"Try {part(name, value)}" for name, value in settings.items()), settings


def take_advice(data: RunData, t: str | int | None) -> None:
    """Run it again with what the convergence at evaluation t asks for, where a browser says so (as text)."""
    change = next((change for change in data.changes if str(change["t"]) == t), None)
    if change is not None and (settings := advice_of(data, change)[1]):
        _launch(data.row, settings)


def _launch(row: RunRow, changes: Mapping[str, Any]) -> None:
    """The same run with these settings, this one behind it."""
    settings = {**flat_config(row.parsed), **changes}
    _start(
        lambda: session.manager().launch(
            parse_flat(settings), owner=session.owner(), speed=row.speed, ghost=row.id
        )[0]
    )


def _spec(config: RunConfig, name: str) -> FieldSpec:
    fields = launch_fields(config.optimizer.method, config.objective.name)
    return next(spec for spec in fields if spec.name == name)


def _new_value(spec: FieldSpec, now: Any, key: str) -> Any:
    if key not in st.session_state:
        put(key, now)  # the page is often drawn again before the reader opens what it stands in
    field_input(spec, key)
    return st.session_state[key]


def _start(start: Callable[[], str]) -> None:
    """Start it and show it; where it is refused, say why."""
    try:
        run_id = start()
    except (StoreError, ConfigError, LimitExceeded) as error:
        st.error(refusal_words(str(error)))
        return
    links.go("run", run=run_id)
