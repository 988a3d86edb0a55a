"""The form of a race: the methods that take part, each with what a run of it costs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dsebo.config import BARE, flat_config, predict
from dsebo.experiments.entrants import FAMILIES, Entrant, label_of
from dsebo.experiments.spec import ExperimentSpec, race_seeds
from dsebo.objectives.fields import ConfigError
from dsebo.parsing import read_settings
from dsebo.text import duration, method_name, plain, seeds_text, size, value_text
from dsebo.ui import links
from dsebo.ui.experiments.form import LONGEST_TEXT, NOT_SHARED, Draft, ExperimentForm
from dsebo.ui.form import Changes, Form, link_of
from dsebo.ui.inputs import put

COST_HELP = "Beside each: predicted seconds of one core, and memory, of one run."


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
            put(self.place(name), draft.texts[name])
            return
        wanted = draft.texts["methods"].split(",") if draft.texts["methods"] else []
        known = {entrant.text for family in FAMILIES.values() for entrant in family}
        put("race_more", [text for text in wanted if text not in known])
        for text in self._offered():
            put(_with(text), text in wanted)

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
        self.show_seeds(race_seeds)
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


RACE = RaceForm()
