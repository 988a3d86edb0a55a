"""The form of a sweep: what varies, the seeds, and what all runs share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dsebo.config import BARE
from dsebo.experiments.presets import PRESETS
from dsebo.text import function_name, method_name, symbol, value_label
from dsebo.ui import inputs
from dsebo.ui import values as settings
from dsebo.ui.experiments.sweep_values import (
    DEFAULT,
    FIRST,
    LONGEST_TEXT,
    SECOND,
    Values,
    axis_fields,
    axis_name,
    fixed_fields,
    known_choices,
    of_preset,
    preset_of,
    usual_values,
)
from objectives.fields import FieldSpec

OWN, NOTHING = "own", ""
BY_KEY = {preset.key: preset for preset in PRESETS}
LIST_HELP = "A list such as 4, 8, 12, or from:to:step such as 4:32:4. Allowed: {}."
SEEDS_HELP = "The same for every value, so that they can be compared seed by seed: 1-10 or 1,3,5."


def load(values: Values) -> None:
    """Make the form say this."""
    st.session_state["sweep_form"] = dict(values)
    for spec in fixed_fields(values["method"]):
        st.session_state[_key(spec.name)] = values[spec.name]
    for name in ("seeds", "name"):
        st.session_state[_key(name)] = values[name]
    for axis in (FIRST, SECOND):
        field, _, text = values[axis].partition("=")
        st.session_state[_key(axis)] = field.strip()
        _load_axis_values(axis, field.strip(), text, values["method"])


def _load_axis_values(axis: str, field: str, text: str, method: str) -> None:
    """Into the text of numbers, or into the choice of names."""
    spec = axis_fields(method).get(field)
    if spec is not None and (choices := known_choices(field, spec)):
        wanted = [part.strip() for part in text.split(",")]
        st.session_state[_key(f"{axis} names")] = [name for name in choices if name in wanted]
    else:
        st.session_state[_key(f"{axis} numbers")] = text


def restore() -> None:
    """After another page, which makes Streamlit forget widgets, put the values back."""
    if _key("seeds") not in st.session_state:
        load(st.session_state.get("sweep_form") or of_preset(DEFAULT.key))


def current() -> Values:
    """What the form says now."""
    kept: Values = st.session_state["sweep_form"]
    method = st.session_state.get(_key("method"), kept["method"])
    usual = kept if kept["method"] == method else settings.defaults(method, kept["function"])
    values = {
        spec.name: st.session_state.get(_key(spec.name), usual.get(spec.name, spec.default))
        for spec in fixed_fields(method)
    }
    for name in ("seeds", "name"):
        values[name] = str(st.session_state.get(_key(name), kept[name])).strip()
    return values | {axis: _axis(axis, method) for axis in (FIRST, SECOND)}


def _axis(axis: str, method: str) -> str:
    """`beta=4,8,12`; empty where nothing is chosen."""
    field = st.session_state.get(_key(axis), NOTHING)
    spec = axis_fields(method).get(field)
    if spec is None:
        return NOTHING
    if known_choices(field, spec):
        return f"{field}={','.join(st.session_state.get(_key(f'{axis} names'), []))}"
    return f"{field}={st.session_state.get(_key(f'{axis} numbers'), '')}"


def remember(values: Values) -> None:
    """Keep what the form says, also for a visit to another page."""
    st.session_state["sweep_form"] = values


def presets() -> None:
    """A choice of sweeps to start from; it shows which one the form now says."""
    matching = preset_of(current())
    st.session_state["sweep_preset"] = matching.key if matching else OWN
    st.selectbox(
        "Start from",
        [OWN, *BY_KEY],
        format_func=lambda key: BY_KEY[key].title if key in BY_KEY else "Own sweep",
        key="sweep_preset",
        on_change=_preset_chosen,
    )


def _preset_chosen() -> None:
    key = st.session_state["sweep_preset"]
    if key in BY_KEY:
        load(of_preset(key))


def show() -> Values:
    """Draw the form; what it says."""
    method = current()["method"]
    _axis_inputs(FIRST, "Vary", method)
    _axis_inputs(SECOND, "And vary", method)
    st.text_input("Seeds", key=_key("seeds"), max_chars=LONGEST_TEXT, help=SEEDS_HELP)
    swept = [axis_name(_axis(axis, method)) for axis in (FIRST, SECOND)]
    fixed = [spec for spec in fixed_fields(method) if spec.name not in swept]
    st.markdown("**The same for all runs**")
    _pairs([spec for spec in fixed if not spec.advanced])
    if "function" in swept and "c" not in swept:
        st.caption("While c has its usual value, each function takes its own.")
    with st.expander("More settings"):
        st.text_input("Name", key=_key("name"), max_chars=100, placeholder="by what varies")
        _pairs([spec for spec in fixed if spec.advanced])
    said = current()
    remember(said)
    return said


def _axis_inputs(axis: str, title: str, method: str) -> None:
    """Which setting, and its values: names to choose from, or a text of numbers."""
    other = st.session_state.get(_key(SECOND if axis == FIRST else FIRST), NOTHING)
    known = axis_fields(method)
    options = [name for name in known if name != other]
    if axis == SECOND:
        options = [NOTHING, *options]
    if st.session_state.get(_key(axis), NOTHING) not in options:  # another method has not got it
        st.session_state[_key(axis)] = options[0]
        _axis_chosen(axis, method)
    field = st.selectbox(
        title,
        options,
        key=_key(axis),
        on_change=partial(_axis_chosen, axis, method),
        format_func=lambda name: _axis_label(known[name]) if name else "Nothing else",
    )
    if not field:
        return
    if choices := known_choices(field, known[field]):
        st.multiselect(
            "Values",
            choices,
            key=_key(f"{axis} names"),
            placeholder="two or more",
            format_func=partial(value_label, field),
            label_visibility="collapsed",
        )
    else:
        st.text_input(
            f"Values of {symbol(field)}",
            key=_key(f"{axis} numbers"),
            max_chars=LONGEST_TEXT,
            help=LIST_HELP.format(known[field].allowed),
        )


def _axis_label(spec: FieldSpec) -> str:
    """`β · Expansion scale`; plain text, as a list shows it."""
    mark = symbol(spec.name)
    return spec.label if mark == spec.name and len(mark) > 1 else f"{mark} · {spec.label}"


def _axis_chosen(axis: str, method: str) -> None:
    """Another setting has other values."""
    field = st.session_state[_key(axis)]
    text = usual_values(field, axis_fields(method).get(field))
    _load_axis_values(axis, field, text, method)


def _pairs(specs: Sequence[FieldSpec]) -> None:
    named = {"function": (function_name, _function_changed), "method": (method_name, _refill)}
    for index in range(0, len(specs), 2):
        for column, spec in zip(st.columns(2), specs[index : index + 2], strict=False):
            shown, changed = named.get(spec.name, (str.capitalize, None))
            if spec.name == "variant":
                changed = _refill
            with column:
                inputs.field_input(spec, _key(spec.name), shown, changed)


def _function_changed() -> None:
    """c is in the function's units: a new function brings its own."""
    for name, value in settings.of_function(st.session_state[_key("function")]).items():
        st.session_state[_key(name)] = value


def _refill() -> None:
    """Another method, or the authors' variant, has other settings; plain ones stay."""
    now = current()
    shared = {spec.name for spec in fixed_fields(BARE)} | {"method"}
    plain = {spec.name for spec in fixed_fields(now["method"]) if not spec.advanced}
    same = st.session_state["sweep_form"]["method"] == now["method"]
    kept = {name: now[name] for name in (plain if same else shared) if name in now}
    load({**settings.complete(kept), **{n: now[n] for n in (FIRST, SECOND, "seeds", "name")}})


def _key(name: str) -> str:
    return f"sweep_{name}"
