"""What a link to Experiments asks for: an experiment, runs, a form; also links to Race, Sweep and Compare."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from dsebo.experiments.records import get_experiment
from dsebo.experiments.spec import MAX_RACE_RUNS
from dsebo.store.rows import RunFilter, RunRow
from dsebo.ui import links, session
from dsebo.ui.experiments import compare, setup, table, view
from dsebo.ui.experiments.form import Draft
from dsebo.ui.experiments.race_form import RACE
from dsebo.ui.experiments.setup import FORMS
from dsebo.ui.experiments.table import Chosen
from dsebo.ui.experiments.vary_form import VARY

EXPERIMENT = "experiment"
GROUPS = "groups"  # of runs: what a link to a race of 0.1.0 has in place of an experiment
OLD = (VARY.key, RACE.key)  # what 0.1.0 called an experiment; `show` names the form by the same words
WRITTEN = "form of the link"  # in the session: the form that this page has put into the address
_GROUP = re.compile(r"[0-9a-f]{1,64}")


def take() -> None:
    """Choose, look and open the form as the address says, where someone else wrote it."""
    shown = st.query_params.get("show", "")
    params = links.opened()
    if not params and shown == st.session_state.get(WRITTEN, ""):
        return
    parsers: dict[str, Any] = dict.fromkeys((EXPERIMENT, *OLD), _stored)
    asked = links.take(params, {**parsers, GROUPS: _grouped, "runs": links.stored_runs, **compare.PARAMETERS})
    st.session_state[compare.ASKED] = {name: asked[name] for name in compare.PARAMETERS if name in asked}
    experiment = next((asked[name] for name in (EXPERIMENT, *OLD) if asked.get(name)), "")
    ids = [experiment] if experiment else asked.get(GROUPS) or asked.get("runs") or []
    if shown == "compare" and not ids:
        ids = compare.to_begin_with(session.manager().store.list_runs(RunFilter(), limit=200))
    table.choose(ids)
    key = shown if shown in FORMS else RACE.key if "methods" in params else VARY.key
    if params or (shown in FORMS and not ids):
        draft, unusable = FORMS[key].from_link(params)
        FORMS[key].load(draft)
        links.say(unusable)
        setup.open_form(key)
    else:
        setup.open_form("")


def _stored(text: str) -> str:
    """The id of an experiment that can be shown."""
    if not links.is_id(text):
        raise ValueError("an id of an experiment")
    return view.known_here(get_experiment(session.manager().store, text)).id


def _grouped(text: str) -> list[str]:
    """The runs of these groups that are of one function and budget."""
    store, groups = session.manager().store, [part for part in text.split(",") if part]
    rows: list[RunRow] = []
    missing = 0
    for group in list(dict.fromkeys(groups))[:MAX_RACE_RUNS]:
        known = store.list_runs(RunFilter(group=group), descending=False) if _GROUP.fullmatch(group) else []
        missing += not known
        rows += known
    if missing:
        links.say([f"{missing} of the link's {len(groups)} groups of runs are not in this store."])
    if imported := sum(row.imported for row in rows):
        links.say([f"Of these runs {imported} came from files: nobody here computed them."])
    alike = [row for row in rows if _task(row) == _task(rows[0])][:MAX_RACE_RUNS]
    if len(alike) < len(rows):
        links.say(["The link's runs are not all of one function: only those of the first are shown."])
    return [row.id for row in alike]


def _task(row: RunRow) -> tuple[object, object]:
    return row.config["objective"], row.config["budget"]


def write(chosen: Chosen, compared: dict[str, str], draft: Draft | None) -> None:
    """Let the address bar say what the page shows."""
    shown = {EXPERIMENT: chosen.experiments[0].id[:12]} if len(chosen.experiments) == 1 else {}
    form = FORMS[setup.kind()].link(draft) if draft is not None else {}
    kind = setup.kind() if draft is not None else ""
    if st.query_params.get("show", "") != kind:
        st.query_params.from_dict({**st.query_params, "show": kind} if kind else _without_show())
    st.session_state[WRITTEN] = kind
    links.write({**(compared or shown), **form})


def _without_show() -> dict[str, str]:
    return {name: text for name, text in st.query_params.items() if name != "show"}
