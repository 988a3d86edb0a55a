"""Before a race: who takes part, what each will cost, and the start."""

from __future__ import annotations

import streamlit as st

from dsebo.config import METHODS
from dsebo.experiments.race import CLIPPED, Entrant, Race, label_of
from dsebo.experiments.standings import launch, refusal
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.text import count, duration, plain, size
from dsebo.ui import session
from dsebo.ui.experiments import race_form
from objectives.fields import ConfigError

COST_HELP = "Beside each: predicted seconds of one core, and memory, of one run."


def setup(values: race_form.Values) -> list[str] | None:
    """The methods, their cost and the button; the ids of the runs, once they are launched."""
    left, middle, right = st.columns(3, gap="large")
    own, methods, bandits, *more = race_form.families().items()
    with left:
        for family in (own, *more):
            _offer(*family, values)
        launched = _start(values)
    with middle:
        _offer(*methods, values)
    with right:
        _offer(*bandits, values)
    return launched


def _offer(family: str, texts: list[str], values: race_form.Values) -> None:
    """A family's entrants, each with its cost beside it."""
    st.markdown(f"**{family}**", help=COST_HELP)
    for text in texts:
        label, cost = _predicted(text, values)
        short = label.removeprefix(f"{family.removesuffix('s')}: ")
        race_form.choose(text, f"{plain(short)} :gray[{cost}]")


def _predicted(text: str, values: race_form.Values) -> tuple[str, str]:
    """(the entrant's name, what a run of it will cost at the chosen D and budget)."""
    entrant = Entrant.parse(text)
    try:
        race = race_form.to_race({**values, "methods": [text], "seeds": "1", "set": ""})
    except ConfigError:  # said below, once it is chosen
        return METHODS[entrant.method].label, "not in this setting"
    config = race.config(entrant)
    cost = session.manager().predict(config)
    words = f"{duration(cost.seconds)}, {size(cost.memory_bytes, 2)}"
    return label_of(config.model_dump(mode="json")), words


def _start(values: race_form.Values) -> list[str] | None:
    """What it comes to, what stands against it, and Launch."""
    try:
        race = race_form.to_race(values)
    except ConfigError as error:
        st.error(plain(str(error)))
        race = None
    refused = _refusals(race) if race else []
    for sentence in refused:
        st.error(plain(sentence))
    if race:
        st.markdown(_sum(race))
    pressed = st.button(
        "Launch",
        type="primary",
        width="stretch",
        icon=":material/rocket_launch:",
        disabled=race is None or bool(refused),
    )
    if race and race.clips:
        st.info(CLIPPED, icon=":material/info:")
    return _launch(race) if pressed and race else None


def _sum(race: Race) -> str:
    """`3 methods from 3 seeds: 9 runs, about 40 s of one core.`"""
    predict = session.manager().predict
    seconds = sum(predict(race.config(e)).seconds for e in race.entrants) * len(race.seeds)
    runs = len(race.entrants) * len(race.seeds)
    who = f"{count(len(race.entrants), 'method')} from {count(len(race.seeds), 'seed')}"
    return f"{who}: {count(runs, 'run')}, about {duration(seconds)} of one core."


def _refusals(race: Race) -> list[str]:
    """What is over the limits, with the figure: methods one by one, else all of them together."""
    manager, owner = session.manager(), session.owner()
    found = []
    for entrant in race.entrants:
        config = race.config(entrant)
        if why := refusal(manager, [config], owner):
            found.append(f"{label_of(config.model_dump(mode='json'))}: {why}")
    whole = "" if found else refusal(manager, [config for _, config in race.configs()], owner)
    return found or ([f"All runs together: {whole}"] if whole else [])


def _launch(race: Race) -> list[str] | None:
    try:
        return launch(session.manager(), race, session.owner())
    except (ConfigError, LimitExceeded, StoreError) as error:
        st.error(plain(str(error)))
        return None
