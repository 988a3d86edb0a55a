"""The form of a run, grown from the config's own description of its fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dsebo.charts.function import function_picture
from dsebo.config import BARE
from dsebo.text import function_name, method_name
from dsebo.ui import values as form
from dsebo.ui.live import live_chart
from dsebo.ui.presets import BY_KEY, PRESETS
from dsebo.ui.values import Settings
from objectives import kind_of
from objectives.fields import FieldSpec

OWN = "own"
EMPTY = {"speed": "full", "embedding_seed": "as the seed"}  # what no number means
LATEX = {"β": r"\beta", "α": r"\alpha", "κ": r"\kappa", "Δd_min": r"\Delta d_{\min}"}


def load(settings: Settings) -> None:
    """Make the form say this."""
    st.session_state["form"] = dict(settings)
    for spec in form.fields(settings["method"], settings["function"]):
        st.session_state[_key(spec.name)] = settings.get(spec.name, spec.default)


def current() -> Settings:
    """What the form says now."""
    kept: Settings = st.session_state.get("form") or form.defaults()
    method = st.session_state.get(_key("method"), kept["method"])
    function = st.session_state.get(_key("function"), kept["function"])
    usual = kept if kept["method"] == method else form.defaults(method, function)
    values = {}
    for spec in form.fields(method, function):
        value = st.session_state.get(_key(spec.name), usual.get(spec.name, spec.default))
        values[spec.name] = value
    return values


def restore() -> None:
    """After another page, which makes Streamlit forget widgets, put the values back."""
    if _key("function") not in st.session_state:
        load(st.session_state.get("form") or form.defaults())


def show() -> Settings:
    """Draw the form; what it says."""
    now = current()
    specs = form.fields(now["method"], now["function"])
    plain = [s for s in specs if not s.advanced and s.name not in ("function", "method")]
    left, right = st.columns(2)
    with left:
        _choice(specs[0], _key(specs[0].name), function_name, _function_changed)
    with right:
        _choice(specs[1], _key(specs[1].name), method_name, _method_changed)
    if kind_of(now["function"]) == "embedded":  # else there is no picture of it in two variables
        live_chart(function_picture(now["function"], float(now["c"] or 0.0)), key="function_picture")
    _pairs(plain)
    with st.expander("More settings"):
        _pairs([spec for spec in specs if spec.advanced])
    said = current()
    st.session_state["form"] = said
    return said


def presets() -> None:
    """A choice of settings to start from; it shows which one the form now says."""
    now = current()
    matching = [preset.key for preset in PRESETS if form.same(preset.settings(), now)]
    st.session_state["preset"] = matching[0] if matching else OWN
    st.selectbox(
        "Start from",
        [OWN, *BY_KEY],
        format_func=lambda key: BY_KEY[key].title if key in BY_KEY else "Own setting",
        key="preset",
        on_change=_preset_chosen,
    )


def _preset_chosen() -> None:
    key = st.session_state["preset"]
    if key in BY_KEY:
        load(BY_KEY[key].settings())


def _function_changed() -> None:
    """A new function brings settings of its own: c, which is in its units, or all of another kind."""
    now = current()
    load({**now, **form.of_function(now["function"])})


def _method_changed() -> None:
    """Another method has other settings; those that it shares stay."""
    _refill([spec.name for spec in form.fields(BARE, current()["function"])])


def _variant_changed() -> None:
    """The authors' variant has a model of its own, behind the plain settings."""
    now = current()
    _refill([spec.name for spec in form.fields(now["method"], now["function"]) if not spec.advanced])


def _refill(names: Sequence[str]) -> None:
    """Keep these settings and let the others follow from them."""
    now = current()
    load(form.complete({name: now[name] for name in [*names, "method"] if name in now}))


def _pairs(specs: Sequence[FieldSpec]) -> None:
    for index in range(0, len(specs), 2):
        for column, spec in zip(st.columns(2), specs[index : index + 2], strict=False):
            with column:
                _input(spec)


def _input(spec: FieldSpec) -> None:
    field_input(spec, _key(spec.name), changed=_variant_changed if spec.name == "variant" else None)


def field_input(
    spec: FieldSpec,
    key: str,
    shown: Callable[[str], str] = str.capitalize,
    changed: Callable[[], None] | None = None,
) -> None:
    """The input of one setting, whose value is kept in the session under `key`.

    Args:
        spec: The setting.
        key: Where its value is.
        shown: How the values of a choice are called.
        changed: Called after another choice.
    """
    if spec.kind == "choice":
        _choice(spec, key, shown, changed)
    elif spec.kind == "bool":
        st.toggle(_label(spec), key=key, help=_help(spec))
    else:
        _number(spec, key)


def _number(spec: FieldSpec, key: str) -> None:
    whole = spec.kind == "int"
    high = min(form.LARGEST_INPUT, spec.high if spec.high is not None else form.LARGEST_INPUT)
    low = spec.low if spec.low is not None else -form.LARGEST_INPUT
    smallest = math.ulp(0.0) if spec.low_open else 0.0
    limits: dict[str, Any] = {
        "min_value": int(low) if whole else float(low + smallest),
        "max_value": int(high) if whole else float(high),
        "step": 1 if whole else _step(spec),
        "format": "%d" if whole else "%g",
        "value": None if spec.optional else "min",
        "placeholder": EMPTY.get(spec.name, "none") if spec.optional else None,
    }
    st.number_input(_label(spec), key=key, help=_help(spec), **limits)


def _step(spec: FieldSpec) -> float:
    """What one click on + adds: a tenth of the usual order of magnitude."""
    size = abs(float(spec.default or 1.0)) or 1.0
    return float(10.0 ** (math.floor(math.log10(size)) - 1)) if size != 12 else 1.0


def _choice(spec: FieldSpec, key: str, shown: Any, changed: Any = None) -> None:
    st.selectbox(_label(spec), spec.choices, format_func=shown, key=key, help=_help(spec), on_change=changed)


def _label(spec: FieldSpec) -> str:
    """The paper's symbol, then the plain word."""
    symbol = LATEX.get(spec.symbol, spec.symbol)
    if not symbol or (symbol.isalpha() and len(symbol) > 1):
        return spec.label
    return f"${symbol}$ {spec.label[0].lower()}{spec.label[1:]}"


def _help(spec: FieldSpec) -> str:
    return f"{spec.help} {spec.allowed[0].upper()}{spec.allowed[1:]}."


def _key(name: str) -> str:
    return f"set_{name}"
