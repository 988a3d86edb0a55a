"""The form of settings that vary: up to three, each with its values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import Any

import streamlit as st

from dsebo.config import FUNCTION, METHODS, nested_config
from dsebo.experiments.spec import ExperimentSpec, checked_seeds
from dsebo.objectives import names
from dsebo.objectives.fields import ConfigError, FieldSpec, must, not_one_of
from dsebo.paper.presets import PRESETS, Preset
from dsebo.parsing import read_seeds, read_values
from dsebo.text import seeds_text, symbol, value_label, value_text
from dsebo.ui import links
from dsebo.ui.experiments.form import LONGEST_TEXT, NOT_SHARED, Draft, ExperimentForm, say_wrong
from dsebo.ui.form import METHOD, Changes, Form, changed, choose_preset, complete, link_of, refusal_words
from dsebo.ui.inputs import put

# Of each its field and its values, as `beta=4,8`.
AXES = {"vary": "Vary", "also": "And vary", "third": "And vary, too"}
FIRST = next(iter(AXES))
NOTHING = ""
LIST_HELP = "A list such as 4, 8, 12, or from:to:step such as 4:32:4. Allowed: {}."
DEFAULT = next(preset for preset in PRESETS if preset.small)
_PAPER = {"beta": "1,4,8,12,16,24,32", "d_h": "60,80,100,120", "c": "0.1,1,2,3,4,5", "d_e": "10,30,50,70,90"}
_USUAL = {
    **_PAPER,
    "D": "100,1000,10000",
    "budget": "100,200,400",
    "function": "sphere,levy",
    "method": "dsebo,random",
    "d_l": "2,5,10",
}


class VaryForm(ExperimentForm):
    """Settings, each with its values."""

    key, names = "sweep", (*AXES, "seeds", "name")
    form = Form("sweep", without=NOT_SHARED)

    def default(self) -> Draft:  # noqa: D102
        return preset_draft(DEFAULT.key)

    def of_spec(self, spec: ExperimentSpec) -> Draft:  # noqa: D102
        axes = [f"{a.field}={','.join(value_text(value) for value in a.values)}" for a in spec.axes]
        texts = dict(zip(AXES, [*axes, *[NOTHING] * len(AXES)], strict=False))
        return Draft(_base(spec), {**texts, "seeds": seeds_text(spec.seeds), "name": ""})

    def spec(self, draft: Draft) -> ExperimentSpec:  # noqa: D102
        return _checked(json.dumps([draft.changes, dict(draft.texts)], sort_keys=True))

    def parsers(self, params: Mapping[str, str]) -> Mapping[str, links.Parser]:  # noqa: D102
        fields = self.axis_fields(params)
        earlier = [axis_name(params.get(FIRST) or self.default().texts[FIRST])]

        def another_axis(axis: str, text: str) -> str:
            if text and axis_name(text) in earlier:
                raise ConfigError(must(axis, "another setting than those before", axis_name(text)))
            earlier.append(axis_name(text))
            return _axis_of_link(axis, text, fields)

        return {
            FIRST: lambda text: _axis_of_link(FIRST, text, fields),
            **{axis: partial(another_axis, axis) for axis in AXES if axis != FIRST},
            "seeds": _seeds_of_link,
            "name": links.words(100),
        }

    def axis_fields(self, changes: Mapping[str, Any]) -> dict[str, FieldSpec]:
        """What may vary, by name: what the paper varies first, the advanced ones last."""
        method, function = changes.get("method"), changes.get("function")
        method = str(method) if method in METHODS else METHOD
        function = str(function) if function in names() else FUNCTION
        specs = {spec.name: spec for spec in self.form.fields(method, function)}
        first = [name for name in (*_PAPER, "D", "function", "method", "budget") if name in specs]
        rest = sorted((n for n in specs if n not in first), key=lambda n: specs[n].advanced)
        return {name: specs[name] for name in [*first, *rest]}

    def link(self, draft: Draft) -> dict[str, str]:
        """The address that says the same; a setting that varies has no value of its own."""
        varied = [axis_name(draft.texts[axis]) for axis in AXES]
        texts = {name: text for name, text in draft.texts.items() if text}
        return texts | link_of(draft.changes, (*NOT_SHARED, *varied))

    def load_text(self, name: str, draft: Draft) -> None:  # noqa: D102
        if name not in AXES:
            put(self.place(name), draft.texts[name])
            return
        field, _, text = draft.texts[name].partition("=")
        put(self.place(name), field.strip())
        self._load_values(name, field.strip(), text, draft.changes)

    def _load_values(self, axis: str, field: str, text: str, changes: Changes) -> None:
        """Into the text of numbers, or into the choice of names."""
        spec = self.axis_fields(changes).get(field)
        if spec is not None and (choices := known_choices(spec)):
            wanted = [part.strip() for part in text.split(",")]
            put(self.place(f"{axis} names"), [name for name in choices if name in wanted])
        else:
            put(self.place(f"{axis} numbers"), text)

    def text(self, name: str, changes: Changes) -> str:
        """One text; of an axis `beta=4,8,12`, empty where nothing is chosen."""
        value = st.session_state.get(self.place(name), "")
        if name not in AXES:
            return str(value)
        spec = self.axis_fields(changes).get(value)
        if spec is None:
            return NOTHING
        if known_choices(spec):
            return f"{value}={','.join(st.session_state.get(self.place(f'{name} names'), []))}"
        return f"{value}={st.session_state.get(self.place(f'{name} numbers'), '')}"

    def presets(self) -> None:
        """A choice of experiments to start from."""
        titles = {preset.key: preset.title for preset in PRESETS}
        matching = preset_of(self.current())
        choose_preset(
            titles,
            matching.key if matching else None,
            "Own settings",
            "sweep_preset",
            lambda key: self.load(preset_draft(key)),
        )

    def show_varied(self) -> None:  # noqa: D102
        changes = self.form.changes()
        for axis in AXES:
            if not self._axis_inputs(axis, changes):
                break
        self.show_seeds(checked_seeds)

    def show_shared(self) -> None:  # noqa: D102
        changes = self.form.changes()
        varied = [axis_name(self.text(axis, changes)) for axis in AXES]
        if "function" in varied and "c" not in varied:
            st.caption("While c has its usual value, each function takes its own.")
        self.form.show(varied, self._name_input, self.errors(changes))

    def _name_input(self) -> None:
        st.text_input("Name", key=self.place("name"), max_chars=100, placeholder="by what varies")

    def _axis_inputs(self, axis: str, changes: Changes) -> bool:
        """Which setting, and its values: names to choose from, or a text of numbers; whether there is one."""
        others = [st.session_state.get(self.place(other), NOTHING) for other in AXES if other != axis]
        known = self.axis_fields(changes)
        options = [*([] if axis == FIRST else [NOTHING]), *(name for name in known if name not in others)]
        if st.session_state.get(self.place(axis), NOTHING) not in options:  # another method has not got it
            put(self.place(axis), options[0])
            self._axis_chosen(axis, changes)
        field = st.selectbox(
            AXES[axis],
            options,
            key=self.place(axis),
            on_change=partial(self._axis_chosen, axis, changes),
            format_func=lambda name: _axis_label(known[name]) if name else "Nothing else",
        )
        if not field:
            self._drop_after(axis)
            return False
        wrong = False
        if choices := known_choices(known[field]):
            st.multiselect(
                "Values",
                choices,
                key=self.place(f"{axis} names"),
                placeholder="two or more",
                format_func=partial(value_label, field),
                label_visibility="collapsed",
            )
        else:
            st.text_input(
                f"Values of {symbol(field)}",
                key=self.place(f"{axis} numbers"),
                max_chars=LONGEST_TEXT,
                help=LIST_HELP.format(known[field].allowed),
            )
            text = st.session_state[self.place(f"{axis} numbers")]
            wrong = say_wrong(partial(read_values, field), text)
        if not wrong and (sentence := self.errors({field: None}).get(field)):  # readable, but not allowed
            st.markdown(f":red[{refusal_words(sentence)}]")
        return True

    def _drop_after(self, axis: str) -> None:
        """Without a second setting there is no third."""
        for later in list(AXES)[list(AXES).index(axis) + 1 :]:
            put(self.place(later), NOTHING)

    def _axis_chosen(self, axis: str, changes: Changes) -> None:
        """Another setting has other values."""
        field = st.session_state[self.place(axis)]
        text = usual_values(field, self.axis_fields(changes).get(field))
        self._load_values(axis, field, text, changes)


def usual_values(field: str, spec: FieldSpec | None) -> str:
    """Values to begin with, for a field that has just been chosen."""
    if field in _USUAL or spec is None:
        return _USUAL.get(field, "")
    if spec.kind == "bool":
        return "false,true"
    if spec.kind == "choice":
        return ",".join(spec.choices[:3])
    if not spec.default:
        return "0,1,2"
    default = spec.default
    if spec.kind == "int":
        return ",".join(str(v) for v in dict.fromkeys((max(1, default // 2), default, default * 2)))
    return ",".join(f"{v:g}" for v in (default / 10, default, min(default * 10, spec.high or 1e9)))


def known_choices(spec: FieldSpec) -> tuple[str, ...]:
    """The values of a field that has names; empty for numbers."""
    return ("false", "true") if spec.kind == "bool" else spec.choices


def axis_name(text: str) -> str:
    """`beta` of `beta=4,8`."""
    return text.partition("=")[0].strip()


def _axis_label(spec: FieldSpec) -> str:
    """`β · Expansion scale`; plain text, as a list shows it."""
    sign = symbol(spec.name)
    return spec.label if sign == spec.name and len(sign) > 1 else f"{sign} · {spec.label}"


def _axis_of_link(name: str, text: str, fields: Mapping[str, FieldSpec]) -> str:
    """An axis whose field there is and whose values can be read; whether they fit is seen later."""
    field, equals, values = text.partition("=")
    if field not in fields or not equals or len(values) > LONGEST_TEXT:
        raise ConfigError(must(name, "a setting and its values, such as beta=4,8,12", text[:40]))
    read_values(field, values)
    choices = known_choices(fields[field])
    if unknown := [value for value in values.split(",") if choices and value.strip() not in choices]:
        raise ConfigError(not_one_of(field, choices, unknown[0][:40]))
    return text


def _seeds_of_link(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ConfigError(must("seeds", f"at most {LONGEST_TEXT} characters", len(text)))
    read_seeds(text)
    return text


def preset_of(draft: Draft) -> Preset | None:
    """The preset that says the same, whatever it is called."""
    unnamed = draft.but(name="")
    return next((preset for preset in PRESETS if preset_draft(preset.key) == unnamed), None)


@cache
def preset_draft(key: str) -> Draft:
    """The form of a preset."""
    return VARY.of_spec(next(preset for preset in PRESETS if preset.key == key).spec)


@lru_cache(maxsize=64)
def _checked(text: str) -> ExperimentSpec:
    """By its text: a page asks again at every click, and each cell is checked."""
    changes, texts = json.loads(text)
    axes = [texts[axis] for axis in AXES if texts.get(axis)]
    preset = preset_of(Draft(changes, texts))
    name = texts["name"] or (preset.spec.name if preset else "")
    return ExperimentSpec.from_flags(nested_config(changes), axes, texts["seeds"], name)


def _base(spec: ExperimentSpec) -> Changes:
    """What all runs of an experiment share, as a form has it; an axis of methods takes its first."""
    base = dict(spec.base)
    objective, optimizer = dict(base.pop("objective", {})), dict(base.pop("optimizer", {}))
    kind_and_name = {"function": objective.pop("name", FUNCTION), "method": optimizer.pop("method", METHOD)}
    objective.pop("kind", None)
    return changed(complete({**kind_and_name, **objective, **optimizer, **base}))


VARY = VaryForm()
