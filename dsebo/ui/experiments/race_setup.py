"""Before a race: who takes part, what each will cost, and the start."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dsebo.config import RunConfig, predict
from dsebo.experiments.entrants import CLIPPED, are_clipped, label_of
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.limits import check_limits
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import owner_hash
from dsebo.text import count, duration, method_name, plain, size
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
    try:
        race = race_form.to_race({**values, "methods": [text], "seeds": "1", "set": ""})
    except ConfigError:  # said below, once it is chosen
        return method_name(text), "not in this setting"
    config = race.first_configs()[0]
    cost = predict(config)
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
    if race and are_clipped(race.first_configs()):
        st.info(CLIPPED, icon=":material/info:")
    return _launch(race) if pressed and race else None


def _sum(race: ExperimentSpec) -> str:
    """`3 methods from 3 seeds: 9 runs, about 40 s of one core.`"""
    configs = race.first_configs()
    seconds = sum(predict(config).seconds for config in configs) * len(race.seeds)
    who = f"{count(len(configs), 'method')} from {count(len(race.seeds), 'seed')}"
    return f"{who}: {count(race.total, 'run')}, about {duration(seconds)} of one core."


def _refusals(race: ExperimentSpec) -> list[str]:
    """What is over the limits, with the figure: methods one by one, else all of them together."""
    refused = [
        f"{label_of(config.model_dump(mode='json'))}: {why}"
        for config in race.first_configs()
        if (why := _refusal([config]))
    ]
    whole = "" if refused else _refusal([planned.config for planned in race.planned()])
    return refused or ([f"All runs together: {whole}"] if whole else [])


def _refusal(configs: Sequence[RunConfig]) -> str:
    """Why these runs would be over the limits, with the figure; empty where they are not."""
    manager = session.manager()
    asked = [(config, config.budget, 0) for config in configs]
    try:
        with manager.store.read() as connection:
            check_limits(connection, manager.settings, owner_hash(session.owner()), asked)
    except LimitExceeded as error:
        return str(error)
    return ""


def _launch(race: ExperimentSpec) -> list[str] | None:
    """All of its runs, or none if that is over a limit; the ids."""
    planned = race.planned()
    configs, names = [run.config for run in planned], [race.run_name(run) for run in planned]
    try:
        return session.manager().launch(configs, name=names, tags=["race"], owner=session.owner())
    except (ConfigError, LimitExceeded, StoreError) as error:
        st.error(plain(str(error)))
        return None
