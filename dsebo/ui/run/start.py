"""Before there is a run: what this is, the settings to start from, and what a setting means."""

from __future__ import annotations

import streamlit as st

from dsebo.analysis.facts import Facts, facts
from dsebo.config import Prediction, RunConfig
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.text import duration, number, plain, size
from dsebo.ui import form, links, session
from dsebo.ui.presets import PRESETS
from dsebo.ui.values import Settings, from_config, from_url, to_config, to_url
from objectives.fields import ConfigError


def opened_run() -> str | None:
    """The run to show, with the form set as the link says: a run, a setting, or both."""
    params = links.opened()
    if not params:
        form.restore()
        return st.session_state.get("run")
    asked = links.take(params, {"run": links.an_id, "at": links.evaluation})
    settings, unusable = from_url(params)
    links.say(unusable)
    run_id = asked.get("run")
    if run_id is not None and not params:
        settings = _settings_of(run_id) or settings
    form.load(settings)
    remember_run(run_id)
    return run_id


def _settings_of(run_id: str) -> Settings | None:
    """A run's own setting, to be varied from there; None where there is no such run."""
    try:
        row = session.manager().store.get_run(run_id)
    except StoreError:  # the page says so where the run would be
        return None
    return from_config(RunConfig.parse(row.config), speed=row.speed)


def remember_run(run_id: str | None) -> None:
    """The run that this browser looks at, also after a visit to another page."""
    st.session_state["run"] = run_id


def link(run_id: str | None, settings: Settings) -> dict[str, str]:
    """The address that shows the same."""
    return ({"run": run_id} if run_id else {}) | to_url(settings)


def launch(settings: Settings) -> str | None:
    """Start the form's run; the id of the (first) run, or None after saying why not."""
    try:
        ids = session.manager().launch(
            to_config(settings).seeds(settings["repeats"]), speed=settings["speed"], owner=session.owner()
        )
    except (ConfigError, LimitExceeded, StoreError) as error:
        st.error(plain(str(error)))
        return None
    return ids[0]


def checked(settings: Settings) -> RunConfig | None:
    """The form's config; where it does not fit together, a sentence says what is allowed."""
    try:
        config = to_config(settings)
    except ConfigError as error:
        st.error(plain(str(error)))
        return None
    for warning in config.warnings():
        st.warning(plain(warning))
    return config


def show_facts(config: RunConfig) -> None:
    """What follows from a setting, as one edits it."""
    found = facts(config)
    cost = session.manager().predict(config)
    rows = [(name, value) for name, value in _lines(found, cost) if value]
    st.markdown("##### What follows from it")
    body = "\n".join(f"| {name} | {value} |" for name, value in rows)
    st.markdown(f"| | |\n|:--|--:|\n{body}")
    if found.minimum_note:
        st.caption(plain(found.minimum_note))


def _lines(found: Facts, cost: Prediction) -> list[tuple[str, str]]:
    """(name, value) of each fact; an empty value is left out."""

    def shown(value: float | None) -> str:
        return "" if value is None else number(value)

    patience = ""
    if found.first_patience is not None:
        patience = f"{found.first_patience}, at most {found.most_patience}"
    return [
        ("First step $\\Delta d$", shown(found.first_step)),
        ("Patience $T$ at the start", patience),
        ("Largest tail $(D - d_e)\\max(x - c)^2/K$", shown(found.largest_tail)),
        ("Effective part reaches up to", shown(found.effective_reach)),
        ("$F$ at the centre", shown(found.at_centre)),
        ("$F^*$, the minimum", shown(found.minimum)),
        ("Size of $S$", "" if found.matrix_bytes is None else size(found.matrix_bytes)),
        ("Predicted time", f"about {duration(cost.seconds)}"),
        ("Predicted memory", size(cost.memory_bytes)),
    ]


def welcome() -> bool:
    """The first screen: one sentence, and eight ways to begin. Whether Launch was pressed here."""
    st.markdown("## See Bayesian optimization find its own dimension")
    st.markdown(
        "A function has a thousand variables, but only a few matter, and nobody says how many. "
        "DSEBO searches a small random subspace and enlarges it whenever progress stalls. "
        "Choose a setting and press **Launch**."
    )
    with st.container(key="launch-small"):
        pressed = st.button("Launch", key="launch small", type="primary", width="stretch")
    columns = st.columns(2)
    for index, preset in enumerate(PRESETS):
        with (
            columns[index % 2],
            st.container(
                border=True,
                key=f"card-{preset.key}",
                horizontal=True,
                vertical_alignment="center",
                wrap=False,
            ),
        ):
            st.markdown(f"**{plain(preset.title)}**  \n{plain(preset.look_for)}")
            st.button("Choose", key=f"preset {preset.key}", on_click=form.load, args=(preset.settings(),))
    return pressed
