"""The form of an experiment: what all its runs share, what varies, and the seeds.

There are two ways to fill it: settings that vary (a sweep) and methods that take part (a race). What
was changed of the base is the base form's; the rest is kept as texts, as a link has them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dsebo.experiments.spec import ExperimentSpec
from dsebo.objectives.fields import ConfigError
from dsebo.parsing import read_link
from dsebo.ui import links
from dsebo.ui.form import Changes, Form, field_errors, refusal_words

LONGEST_TEXT = 300
NOT_SHARED = ("seed", "repeats", "speed")
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

    def show_seeds(self, read: Callable[[str], Any]) -> None:
        """Draw the seeds, which every value or method gets; `read` refuses a text in a sentence."""
        st.text_input("Seeds", key=self.place("seeds"), max_chars=LONGEST_TEXT, help=SEEDS_HELP)
        say_wrong(read, st.session_state[self.place("seeds")])

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


def say_wrong(read: Callable[[str], Any], text: str) -> bool:
    """Below an input: why its text cannot be read; whether that had to be said."""
    try:
        read(text)
    except ConfigError as error:
        st.markdown(f":red[{refusal_words(str(error))}]")
        return True
    return False
