"""What a race is to be: its form, and its link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dsebo.config import BARE
from dsebo.experiments.entrants import FAMILIES, Entrant, entrant_of
from dsebo.experiments.spec import ExperimentSpec, race_seeds
from dsebo.parsing import read_settings
from dsebo.store.rows import RunRow
from dsebo.text import function_name, seeds_text
from dsebo.ui import inputs
from dsebo.ui import values as settings
from objectives.fields import ConfigError, FieldSpec

Values = dict[str, Any]  # methods (texts), seeds and set (text), and the function's settings
OF_RACE = ("methods", "seeds", "set")
_PART_OF_NONE = ("method", "seed", "repeats", "speed")
_DEFAULT = {"methods": ["dsebo", "turbo", "random"], "seeds": "1-3", "set": ""}


def function_fields() -> list[FieldSpec]:
    """The settings that all entrants share."""
    return [spec for spec in settings.fields(BARE) if spec.name not in _PART_OF_NONE]


def defaults() -> Values:
    """The race of an untouched form."""
    usual = settings.complete({"method": BARE, "budget": 200})
    return {**_DEFAULT, **{spec.name: usual[spec.name] for spec in function_fields()}}


def from_link(params: Mapping[str, str]) -> tuple[Values, list[str]]:
    """(what a link says, a sentence for each part of it that cannot be used)."""
    of_function = {name: text for name, text in params.items() if name not in OF_RACE}
    found, said = settings.from_url({"budget": "200", **of_function, "method": BARE})
    values: Values = {spec.name: found[spec.name] for spec in function_fields()}
    values["methods"] = _known(params, said)
    values["seeds"] = _checked(params, "seeds", race_seeds, said)
    values["set"] = _checked(params, "set", read_settings, said)
    return values, said


def _known(params: Mapping[str, str], said: list[str]) -> list[str]:
    """The link's methods, as far as there are such."""
    if "methods" not in params:
        return list(_DEFAULT["methods"])
    found = []
    for text in params["methods"].split(",")[:60]:
        try:
            found.append(Entrant.parse(text).text)
        except ConfigError as error:
            said.append(f"The link's {error}")
    return list(dict.fromkeys(found))


def _checked(params: Mapping[str, str], name: str, parse: Any, said: list[str]) -> str:
    if name not in params:
        return str(_DEFAULT[name])
    try:
        parse(params[name])
    except ConfigError as error:
        said.append(f"The link's {name}: {error}")
        return str(_DEFAULT[name])
    return params[name]


def from_rows(rows: Sequence[RunRow]) -> Values:
    """The race that these runs are, to be varied from there."""
    first = rows[0].config
    of = first["objective"]
    flat = {**defaults(), **of, "function": of["name"], "budget": first["budget"]}
    entrants = dict.fromkeys(entrant_of(row.config).text for row in rows)
    seeds = dict.fromkeys(row.seed for row in rows)
    values: Values = {spec.name: flat[spec.name] for spec in function_fields()}
    return {**values, "methods": list(entrants), "seeds": seeds_text(list(seeds)), "set": ""}


def to_link(values: Values) -> dict[str, str]:
    """The address that says the same."""
    of_function = {spec.name: values[spec.name] for spec in function_fields()}
    link = settings.to_url({**of_function, "method": BARE})
    del link["method"]
    said = {"methods": ",".join(values["methods"]), "seeds": values["seeds"], **link}
    return said | ({"set": values["set"]} if values["set"] else {})


def to_race(values: Values) -> ExperimentSpec:
    """The race of these values; a ConfigError, in a sentence, where they do not fit together."""
    shared = {spec.name: values[spec.name] for spec in function_fields()}
    return ExperimentSpec.race(values["methods"], {**shared, **read_settings(values["set"])}, values["seeds"])


# --- on the page ----------------------------------------------------------------------------


def load(values: Values) -> None:
    """Make the form say this."""
    st.session_state["race_form"] = values
    for spec in function_fields():
        st.session_state[_key(spec.name)] = values[spec.name]
    for name in ("seeds", "set"):
        st.session_state[_key(name)] = values[name]
    known = {entrant.text for family in FAMILIES.values() for entrant in family}
    st.session_state["race_more"] = [text for text in values["methods"] if text not in known]
    for text in _offered():
        st.session_state[_with(text)] = text in values["methods"]


def restore() -> None:
    """After another page, which makes Streamlit forget widgets, put the values back."""
    if _key("D") not in st.session_state:
        load(st.session_state.get("race_form") or defaults())


def current() -> Values:
    """What the form says now."""
    kept: Values = st.session_state["race_form"]
    names = [*(spec.name for spec in function_fields()), "seeds", "set"]
    values = {name: st.session_state.get(_key(name), kept[name]) for name in names}
    values["methods"] = [text for text in _offered() if st.session_state.get(_with(text))]
    return values


def remember(values: Values) -> None:
    """Keep what the form says, also for a visit to another page."""
    st.session_state["race_form"] = values


def show_function() -> None:
    """The function, the budget and the seeds."""
    specs = function_fields()
    function = specs[0]
    inputs.field_input(function, _key(function.name), function_name, _function_changed)
    _pairs([spec for spec in specs[1:] if not spec.advanced])
    st.text_input(
        "Seeds",
        key=_key("seeds"),
        max_chars=200,
        help="The same for every method: 1-3 or 1,4,9. At most 100.",
    )
    with st.expander("More settings"):
        _pairs([spec for spec in specs if spec.advanced])
        st.text_input(
            "Settings of methods",
            key=_key("set"),
            max_chars=300,
            placeholder="beta=8, d=50",
            help="Each goes to every chosen method that has it. `dsebo methods` lists them.",
        )


def _function_changed() -> None:
    """c is in the function's units: a new function brings its own."""
    for name, value in settings.of_function(st.session_state[_key("function")]).items():
        st.session_state[_key(name)] = value


def _pairs(specs: Sequence[FieldSpec]) -> None:
    for index in range(0, len(specs), 2):
        for column, spec in zip(st.columns(2), specs[index : index + 2], strict=False):
            with column:
                inputs.field_input(spec, _key(spec.name))


def choose(text: str, label: str, disabled: bool = False) -> None:
    """A box to tick for one entrant."""
    st.checkbox(label, key=_with(text), disabled=disabled)


def families() -> dict[str, list[str]]:
    """The entrants that are offered, by family; those that only the link knew come last."""
    found = {name: [entrant.text for entrant in family] for name, family in FAMILIES.items()}
    more = st.session_state.get("race_more", [])
    return found | ({"From the link": more} if more else {})


def _offered() -> list[str]:
    return [text for family in families().values() for text in family]


def _key(name: str) -> str:
    return f"race_{name}"


def _with(text: str) -> str:
    return f"race with {text}"
