"""The form of a run or of what all runs of an experiment share, grown from the config's own fields.

A form hands over only what was changed: the rest follows from it, as in a file or on a command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dsebo.charts.function import function_picture
from dsebo.config import BARE, FUNCTION, METHODS, RunConfig, flat_config, parse_flat
from dsebo.objectives import kind_of
from dsebo.objectives.fields import ConfigError, FieldSpec
from dsebo.parsing import OF_LAUNCH, launch_fields
from dsebo.text import function_name, method_name, plain, symbol, typeset, value_text
from dsebo.ui.cache import SHARED
from dsebo.ui.inputs import field_input, put
from dsebo.ui.live import live_chart

Changes = dict[str, Any]  # settings by their flat names: those that do not follow from the others

METHOD = next(iter(METHODS))
OWN = "own"
FIRST = ("D", "d_e", "c", "K", "beta", "d_h", "budget")  # what matters, after function and method
SOUGHT = ("alpha", "min_step", "seed", "repeats", "speed")  # of the rest, what is most often looked for
NAMES: dict[str, Callable[[str], str]] = {"function": function_name, "method": method_name}


# --- what was changed ---------------------------------------------------------------------------


def to_config(changes: Mapping[str, Any]) -> RunConfig:
    """The config that a form says; ConfigError, in a sentence, where it does not fit together."""
    return parse_flat({name: value for name, value in changes.items() if name not in OF_LAUNCH})


def complete(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting of a form: what was changed, and what follows from it."""
    names = {name: changes.get(name, usual) for name, usual in (("function", FUNCTION), ("method", METHOD))}
    try:
        return {**flat_config(to_config(changes)), **OF_LAUNCH, **_of_launch(changes)}
    except ConfigError:  # each value is allowed, but not together: the form will say so
        return {**flat_config(parse_flat(names)), **OF_LAUNCH, **changes}


def changed(values: Mapping[str, Any]) -> Changes:
    """Of every setting of a form, function, method and those that do not follow from the others.

    Where they do not fit together, all of them: what is said of them is said of what is seen.
    """
    launch = {name: value for name, value in _of_launch(values).items() if value != OF_LAUNCH[name]}
    try:
        given = to_config(values).given()
    except ConfigError:
        return {**{name: value for name, value in values.items() if name not in OF_LAUNCH}, **launch}
    objective, optimizer = given.pop("objective"), given.pop("optimizer")
    names = {"function": objective.pop("name"), "method": optimizer.pop("method")}
    return {**names, **objective, **optimizer, **given, **launch}


def _of_launch(values: Mapping[str, Any]) -> Changes:
    return {name: values[name] for name in OF_LAUNCH if name in values}


def link_of(changes: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, str]:
    """What a link says: all plain settings, and the others where they were changed."""
    values, own = complete(changes), changed(complete(changes))
    link = {}
    for spec in launch_fields(values["method"], values["function"]):
        quiet = spec.advanced or spec.name in OF_LAUNCH
        value = values.get(spec.name)
        if value is not None and spec.name not in without and (spec.name in own or not quiet):
            link[spec.name] = value_text(value)
    return link


# --- on the page --------------------------------------------------------------------------------


class Form:
    """The settings of a run on a page. Of each form there is one in a session, by its key."""

    def __init__(self, key: str, usual: Changes | None = None, without: Sequence[str] = ()) -> None:
        """A form that begins with `usual`, and without some of the settings."""
        self.key, self.usual, self.without = key, usual or {}, without

    def fields(self, method: str, function: str) -> list[FieldSpec]:
        """The settings that it has, in the order in which they are shown."""
        return [spec for spec in launch_fields(method, function) if spec.name not in self.without]

    def load(self, changes: Mapping[str, Any]) -> None:
        """Make the form say this."""
        values = complete(changes)
        st.session_state[self._kept] = self._own(changed(values))
        for spec in self.fields(values["method"], values["function"]):
            put(self.place(spec.name), values.get(spec.name, spec.default))

    def whole(self, changes: Mapping[str, Any]) -> Changes:
        """What an untouched form says, with these changes."""
        return self._own(changed(complete({**self.usual, **changes})))

    def _own(self, changes: Changes) -> Changes:
        return {n: value for n, value in changes.items() if n not in self.without or n == "method"}

    def restore(self) -> None:
        """After another page, which makes Streamlit forget widgets, put the values back."""
        if self.place("function") not in st.session_state:
            self.load(st.session_state.get(self._kept) or self.whole({}))

    def changes(self) -> Changes:
        """What the form says now."""
        kept = complete(st.session_state.get(self._kept) or self.whole({}))
        function, method = (st.session_state.get(self.place(n), kept[n]) for n in ("function", "method"))
        same = (function, method) == (kept["function"], kept["method"])
        usual = kept if same else complete({"function": function, "method": method})
        values = {
            spec.name: st.session_state.get(self.place(spec.name), usual.get(spec.name, spec.default))
            for spec in self.fields(method, function)
        }
        return self._own(changed({**{n: usual[n] for n in self.without if n in usual}, **values}))

    def show(
        self,
        hidden: Sequence[str] = (),
        more: Callable[[], None] | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> Changes:
        """Draw the form; what it says.

        `hidden` settings have no value of their own now; `more` draws what else stands among the seldom
        changed ones; `errors` are said under their fields.
        """
        now = self.changes()
        specs = [spec for spec in self.fields(now["method"], now["function"]) if spec.name not in hidden]
        names, rest = specs[:2], specs[2:]
        known = [spec for spec in rest if spec.name in FIRST]
        if now["method"] != METHOD:  # a method's own settings: there are few
            known += [spec for spec in rest if not spec.advanced and spec not in known]
        folded = sorted((spec for spec in rest if spec not in known), key=_sought)
        self._pairs(names, errors)
        if "seed" not in self.without and kind_of(now["function"]) == "embedded":
            c = float(complete(now).get("c") or 0.0)
            picture = SHARED.figure(
                ("function", now["function"], c), lambda: function_picture(now["function"], c)
            )
            live_chart(picture, key="function_picture")
        self._pairs(known, errors)
        wrong = any(spec.name in (errors or {}) for spec in folded)
        sought = [typeset(spec.symbol) or spec.label for spec in folded if spec.name in SOUGHT[:3]]
        more_of_it = f"More: {', '.join(sought)} and others" if sought else "More settings"
        with st.expander(more_of_it, expanded=wrong):
            if more is not None:
                more()
            self._pairs(folded, errors)
        changes = self.changes()
        st.session_state[self._kept] = changes
        return changes

    def place(self, name: str) -> str:
        """Where a setting's value is in the session."""
        return f"{self.key}_{name}"

    @property
    def _kept(self) -> str:
        return f"{self.key} form"

    def _pairs(self, specs: Sequence[FieldSpec], errors: Mapping[str, str] | None) -> None:
        for index in range(0, len(specs), 2):
            pair = specs[index : index + 2]
            wrong = any(spec.name in (errors or {}) for spec in pair)
            places = st.columns(2, vertical_alignment="top" if wrong else "bottom")  # a label may be long
            for column, spec in zip(places, pair, strict=False):
                brings = spec.name in ("function", "method", "variant")
                with column:
                    field_input(
                        spec,
                        self.place(spec.name),
                        NAMES.get(spec.name, str.capitalize),
                        partial(self._chosen, spec.name) if brings else None,
                    )
                    if sentence := (errors or {}).get(spec.name):
                        st.caption(f":red[{refusal_words(sentence)}]")

    def _chosen(self, name: str) -> None:
        """A choice that other settings follow: those that are its own begin with their defaults."""
        now = {**complete(st.session_state[self._kept]), name: st.session_state[self.place(name)]}
        fields = launch_fields(now["method"], now["function"])
        if name == "function":  # c is in the function's units
            before = launch_fields(now["method"], st.session_state[self._kept]["function"])
            stay = {spec.name for spec in fields if spec in before} - {"c"}
        elif name == "method":
            stay = {spec.name for spec in launch_fields(BARE, now["function"])}
        else:  # the authors' variant has a model of its own, behind the plain settings
            stay = {spec.name for spec in fields if not spec.advanced}
        kept = st.session_state[self._kept]
        self.load({**{n: value for n, value in kept.items() if n in stay}, name: now[name]})


def _sought(spec: FieldSpec) -> int:
    return SOUGHT.index(spec.name) if spec.name in SOUGHT else len(SOUGHT)


def field_errors(error: str, names: Iterable[str]) -> dict[str, str]:
    """Of what does not fit together, the sentence of each field."""
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    matches = re.finditer(rf"\b({known}) must (?:be|have) .*?\(got [^)]*\)\.", error)
    return {match[1]: match[0] for match in matches}


def refusal_words(refusal: str) -> str:
    """Why a form cannot be launched, in its own terms: symbols as its labels have them, empty fields."""
    named = re.sub(r"\b(\w+)(?= must (?:be|have) )", lambda name: symbol(name[1]), refusal)
    words = typeset(named.replace("(got None)", "(it is empty)"))
    return plain(re.sub(r"\d{5,}", lambda digits: f"{int(digits[0]):,}".replace(",", "\u00a0"), words))


def choose_preset(titles: Mapping[str, str], matching: str | None, own: str, key: str, load: Any) -> None:
    """A choice of what to start from; it shows which one the form now says."""

    def chosen() -> None:
        if st.session_state[key] in titles:
            load(st.session_state[key])

    st.session_state[key] = matching or OWN
    st.selectbox(
        "Start from",
        [OWN, *titles],
        format_func=lambda name: titles.get(name, own),
        key=key,
        on_change=chosen,
    )
