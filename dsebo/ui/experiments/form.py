"""The form of an experiment: what all its runs share, what varies, and the seeds.

There are two ways to fill it: settings that vary (a sweep) and methods that take part (a race). What
was changed of the base is the base form's; the rest is kept as texts, as a link has them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any

import streamlit as st

from dsebo.config import BARE, FUNCTION, METHODS, flat_config, nested_config, predict
from dsebo.experiments.entrants import FAMILIES, Entrant, label_of
from dsebo.experiments.spec import ExperimentSpec, race_seeds
from dsebo.paper.presets import PRESETS, Preset
from dsebo.parsing import read_link, read_seeds, read_settings, read_values
from dsebo.text import duration, method_name, plain, seeds_text, size, symbol, value_label, value_text
from dsebo.ui import links
from dsebo.ui.form import METHOD, Changes, Form, changed, choose_preset, complete, field_errors, link_of
from objectives import names
from objectives.fields import ConfigError, FieldSpec, must, not_one_of

LONGEST_TEXT = 300
NOT_SHARED = ("seed", "repeats", "speed")
FIRST, SECOND = "vary", "also"  # the two axes; of each its field and its values, as `beta=4,8`
NOTHING = ""
LIST_HELP = "A list such as 4, 8, 12, or from:to:step such as 4:32:4. Allowed: {}."
COST_HELP = "Beside each: predicted seconds of one core, and memory, of one run."
SEEDS_HELP = "The same for every value, so that they can be compared seed by seed: 1-10 or 1,3,5."


@dataclass(frozen=True)
class Draft:
    """What a form says of an experiment."""

    changes: Changes
    texts: Mapping[str, str]

    def but(self, changes: Changes | None = None, **texts: str) -> Draft:
        """The same with some of it different."""
        return replace(self, changes=self.changes | (changes or {}), texts={**self.texts, **texts})


class ExperimentForm(ABC):
    """What both ways to fill it have in common. `key` is also the page's name."""

    key: str
    form: Form
    names: tuple[str, ...]  # of the texts

    @abstractmethod
    def default(self) -> Draft:
        """An untouched form."""

    @abstractmethod
    def spec(self, draft: Draft) -> ExperimentSpec:
        """Its experiment; a ConfigError, in a sentence, where it does not fit together."""

    @abstractmethod
    def of_spec(self, spec: ExperimentSpec) -> Draft:
        """The form that says this experiment: what is changed from there is another."""

    @abstractmethod
    def parsers(self, params: Mapping[str, str]) -> Mapping[str, links.Parser]:
        """Of each text of a link."""

    @abstractmethod
    def link(self, draft: Draft) -> dict[str, str]:
        """The address that says the same."""

    @abstractmethod
    def load_text(self, name: str, draft: Draft) -> None:
        """Put one text into its inputs."""

    @abstractmethod
    def text(self, name: str, changes: Changes) -> str:
        """One text as its inputs say it."""

    @abstractmethod
    def show_varied(self) -> None:
        """Draw what differs between the runs."""

    @abstractmethod
    def show_shared(self) -> None:
        """Draw what is the same for all of them."""

    def errors(self, changes: Changes) -> dict[str, str]:
        """Of what does not fit together, the sentence of each field."""
        try:
            self.spec(self.current())
        except ConfigError as error:
            return field_errors(str(error), [name for name in changes if name not in NOT_SHARED])
        return {}

    def show_seeds(self) -> None:
        """Draw the seeds, which every value or method gets."""
        st.text_input("Seeds", key=self.place("seeds"), max_chars=LONGEST_TEXT, help=SEEDS_HELP)
        _say_wrong(read_seeds, st.session_state[self.place("seeds")])

    def from_link(self, params: Mapping[str, str]) -> tuple[Draft, list[str]]:
        """(what a link says, a sentence for each part of it that cannot be used)."""
        rest, usual = dict(params), self.default()
        texts, refused = links.parse(rest, self.parsers(params))
        changes, more = read_link(rest)
        return Draft(self.form.whole(changes), {**usual.texts, **texts}), refused + more

    def load(self, draft: Draft) -> None:
        """Make the form say this."""
        self.form.load(draft.changes)
        for name in self.names:
            self.load_text(name, draft)
        self.remember(draft)

    def restore(self) -> None:
        """After another page, which makes Streamlit forget widgets, put the values back."""
        if self.place("seeds") not in st.session_state:
            self.load(st.session_state.get(f"{self.key} draft") or self.default())

    def current(self) -> Draft:
        """What the form says now."""
        changes = self.form.changes()
        return Draft(changes, {name: self.text(name, changes).strip() for name in self.names})

    def remember(self, draft: Draft) -> Draft:
        """Keep what the form says, also for a visit to another page."""
        st.session_state[f"{self.key} draft"] = draft
        return draft

    def place(self, name: str) -> str:
        """Where an input's value is in the session."""
        return self.form.place(name)


# --- settings that vary -------------------------------------------------------------------------

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
    """One or two settings, each with its values."""

    key, names = "sweep", (FIRST, SECOND, "seeds", "name")
    form = Form("sweep", without=NOT_SHARED)

    def default(self) -> Draft:  # noqa: D102
        return preset_draft(DEFAULT.key)

    def of_spec(self, spec: ExperimentSpec) -> Draft:  # noqa: D102
        axes = [f"{a.field}={','.join(value_text(value) for value in a.values)}" for a in spec.axes]
        texts = dict(zip((FIRST, SECOND), [*axes, ""], strict=False))
        return Draft(_base(spec), {**texts, "seeds": seeds_text(spec.seeds), "name": ""})

    def spec(self, draft: Draft) -> ExperimentSpec:  # noqa: D102
        return _checked(json.dumps([draft.changes, dict(draft.texts)], sort_keys=True))

    def parsers(self, params: Mapping[str, str]) -> Mapping[str, links.Parser]:  # noqa: D102
        fields = self.axis_fields(params)
        first = params.get(FIRST) or self.default().texts[FIRST]

        def another_axis(text: str) -> str:
            if text and axis_name(text) == axis_name(first):
                raise ConfigError(must(SECOND, "another setting than the first", axis_name(text)))
            return _axis_of_link(SECOND, text, fields)

        return {
            FIRST: lambda text: _axis_of_link(FIRST, text, fields),
            SECOND: another_axis,
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
        varied = [axis_name(draft.texts[axis]) for axis in (FIRST, SECOND)]
        texts = {name: text for name, text in draft.texts.items() if text}
        return texts | link_of(draft.changes, (*NOT_SHARED, *varied))

    def load_text(self, name: str, draft: Draft) -> None:  # noqa: D102
        if name not in (FIRST, SECOND):
            st.session_state[self.place(name)] = draft.texts[name]
            return
        field, _, text = draft.texts[name].partition("=")
        st.session_state[self.place(name)] = field.strip()
        self._load_values(name, field.strip(), text, draft.changes)

    def _load_values(self, axis: str, field: str, text: str, changes: Changes) -> None:
        """Into the text of numbers, or into the choice of names."""
        spec = self.axis_fields(changes).get(field)
        if spec is not None and (choices := known_choices(spec)):
            wanted = [part.strip() for part in text.split(",")]
            st.session_state[self.place(f"{axis} names")] = [name for name in choices if name in wanted]
        else:
            st.session_state[self.place(f"{axis} numbers")] = text

    def text(self, name: str, changes: Changes) -> str:
        """One text; of an axis `beta=4,8,12`, empty where nothing is chosen."""
        value = st.session_state.get(self.place(name), "")
        spec = self.axis_fields(changes).get(value) if name in (FIRST, SECOND) else None
        if name not in (FIRST, SECOND):
            return str(value)
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
        self._axis_inputs(FIRST, "Vary", changes)
        self._axis_inputs(SECOND, "And vary", changes)
        self.show_seeds()

    def show_shared(self) -> None:  # noqa: D102
        changes = self.form.changes()
        varied = [axis_name(self.text(axis, changes)) for axis in (FIRST, SECOND)]
        if "function" in varied and "c" not in varied:
            st.caption("While c has its usual value, each function takes its own.")
        self.form.show(varied, self._name_input, self.errors(changes))

    def _name_input(self) -> None:
        st.text_input("Name", key=self.place("name"), max_chars=100, placeholder="by what varies")

    def _axis_inputs(self, axis: str, title: str, changes: Changes) -> None:
        """Which setting, and its values: names to choose from, or a text of numbers."""
        other = st.session_state.get(self.place(SECOND if axis == FIRST else FIRST), NOTHING)
        known = self.axis_fields(changes)
        options = [*([NOTHING] if axis == SECOND else []), *(name for name in known if name != other)]
        if st.session_state.get(self.place(axis), NOTHING) not in options:  # another method has not got it
            st.session_state[self.place(axis)] = options[0]
            self._axis_chosen(axis, changes)
        field = st.selectbox(
            title,
            options,
            key=self.place(axis),
            on_change=partial(self._axis_chosen, axis, changes),
            format_func=lambda name: _axis_label(known[name]) if name else "Nothing else",
        )
        if not field:
            return
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
            _say_wrong(partial(read_values, field), st.session_state[self.place(f"{axis} numbers")])

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
    axes = [texts[axis] for axis in (FIRST, SECOND) if texts[axis]]
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


# --- methods that take part ---------------------------------------------------------------------


class RaceForm(ExperimentForm):
    """Methods on one function; each may carry settings of its own, as `rembo:scale=dsebo`."""

    key, names = "race", ("methods", "seeds", "set")
    form = Form("race", {"method": BARE, "budget": 200}, (*NOT_SHARED, "method"))

    def default(self) -> Draft:  # noqa: D102
        return Draft(self.form.whole({}), {"methods": "dsebo,turbo,random", "seeds": "1-3", "set": ""})

    def of_spec(self, spec: ExperimentSpec) -> Draft:  # noqa: D102
        methods = ",".join(str(value) for value in spec.axes[0].values)
        own = spec.base.get("optimizer", {})
        settings = ", ".join(f"{name}={value_text(v)}" for name, v in own.items() if name != "method")
        config = spec.first_configs()[0]
        shared = {spec.name for spec in self.form.fields(BARE, config.function)}
        changes = {name: value for name, value in flat_config(config).items() if name in shared}
        texts = {"methods": methods, "seeds": seeds_text(spec.seeds), "set": settings}
        return Draft(self.form.whole(changes), texts)

    def spec(self, draft: Draft) -> ExperimentSpec:  # noqa: D102
        shared = {name: value for name, value in draft.changes.items() if name != "method"}
        settings = {**shared, **read_settings(draft.texts["set"])}
        return ExperimentSpec.race(draft.texts["methods"], settings, draft.texts["seeds"])

    def parsers(self, params: Mapping[str, str]) -> Mapping[str, links.Parser]:  # noqa: D102
        def checked(read: Any, text: str) -> str:
            read(text)
            return text

        return {
            "methods": _entrants_of_link,
            "seeds": partial(checked, race_seeds),
            "set": partial(checked, read_settings),
        }

    def link(self, draft: Draft) -> dict[str, str]:  # noqa: D102
        texts = {name: text for name, text in draft.texts.items() if text or name != "set"}
        return texts | link_of(draft.changes, self.form.without)

    def load_text(self, name: str, draft: Draft) -> None:  # noqa: D102
        if name != "methods":
            st.session_state[self.place(name)] = draft.texts[name]
            return
        wanted = draft.texts["methods"].split(",") if draft.texts["methods"] else []
        known = {entrant.text for family in FAMILIES.values() for entrant in family}
        st.session_state["race_more"] = [text for text in wanted if text not in known]
        for text in self._offered():
            st.session_state[_with(text)] = text in wanted

    def text(self, name: str, changes: Changes) -> str:  # noqa: D102
        if name == "methods":
            return ",".join(text for text in self._offered() if st.session_state.get(_with(text)))
        return str(st.session_state.get(self.place(name), ""))

    def show_varied(self) -> None:
        """The methods, each with what a run of it costs."""
        draft = self.current()
        own, methods, bandits, *more = self.families().items()
        left, right = st.columns(2)
        with left:
            for family in (own, methods):
                self._offer(*family, draft)
        with right:
            for family in (bandits, *more):
                self._offer(*family, draft)

    def _offer(self, family: str, texts: list[str], draft: Draft) -> None:
        """A family's entrants, each with its cost beside it."""
        st.markdown(f"**{family}**", help=COST_HELP)
        for text in texts:
            label, cost = self._predicted(text, draft)
            short = label.removeprefix(f"{family.removesuffix('s')}: ")
            st.checkbox(f"{plain(short)} :gray[{cost}]", key=_with(text))

    def _predicted(self, text: str, draft: Draft) -> tuple[str, str]:
        """(the entrant's name, what a run of it will cost at the chosen D and budget)."""
        try:
            race = self.spec(draft.but(methods=text, seeds="1", set=""))
        except ConfigError:  # said at Launch, once it is chosen
            return method_name(text), "not in this setting"
        config = race.first_configs()[0]
        cost = predict(config)
        words = f"{duration(cost.seconds)}, {size(cost.memory_bytes, 2)}"
        return label_of(config.model_dump(mode="json")), words

    def show_shared(self) -> None:  # noqa: D102
        self.show_seeds()
        self.form.show(more=self._settings_input, errors=self.errors(self.form.changes()))

    def _settings_input(self) -> None:
        st.text_input(
            "Settings of methods",
            key=self.place("set"),
            max_chars=LONGEST_TEXT,
            placeholder="beta=8, d=50",
            help="Each goes to every chosen method that has it. `dsebo methods` lists them.",
        )

    def families(self) -> dict[str, list[str]]:
        """The entrants that are offered, by family; those that only the link knew come last."""
        more = st.session_state.get("race_more", [])
        offered = {name: [entrant.text for entrant in family] for name, family in FAMILIES.items()}
        return offered | ({"From the link": more} if more else {})

    def _offered(self) -> list[str]:
        return [text for family in self.families().values() for text in family]


def _entrants_of_link(text: str) -> str:
    """The link's methods, as far as there are such."""
    entrants, refused = [], []
    for part in text.split(",")[:60] if text else []:
        try:
            entrants.append(Entrant.parse(part).text)
        except ConfigError as error:
            refused.append(f"The link's methods: {error}")
    links.say(refused)
    return ",".join(dict.fromkeys(entrants))


def _with(text: str) -> str:
    return f"race with {text}"


def _say_wrong(read: Callable[[str], Any], text: str) -> None:
    """Below an input: why its text cannot be read."""
    try:
        read(text)
    except ConfigError as error:
        st.markdown(f":red[{plain(str(error))}]")


VARY, RACE = VaryForm(), RaceForm()
FORMS: dict[str, ExperimentForm] = {form.key: form for form in (VARY, RACE)}
KINDS = {VARY.key: "Vary a setting", RACE.key: "Race methods"}
