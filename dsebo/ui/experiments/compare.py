"""Chosen runs beside each other: what is seen, their curves, and in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dsebo.analysis.curves import EVERYTHING, BandKind, given_settings
from dsebo.charts.compare import common_scale, figure_of_groups, groups_of, table_of
from dsebo.charts.parallel import FROM_AXES, parallel_figure
from dsebo.charts.scales import SCALES, Scale
from dsebo.config import differing, flat_config
from dsebo.experiments.findings import ranking
from dsebo.experiments.paired import too_few
from dsebo.runs.data import RunData
from dsebo.store.rows import RunFilter, RunRow
from dsebo.store.store import Store
from dsebo.text import count, fork_words, joined, plain, symbol, typeset, value_label
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.controls import runs_controls
from dsebo.ui.experiments import race, table
from dsebo.ui.inputs import BANDS, choose_band, choose_scale
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look as Seen
from dsebo.ui.refresh import keep_watching, pace
from dsebo.ui.run import floors

SLOWEST_START = 1.0  # seconds between two refreshes of several runs, at least
PER_RUN = 0.02  # more of them for each run that is drawn
LEAST_LINES = 4  # runs from which an axis for each setting tells something
PARAMETERS: dict[str, links.Parser] = {
    "by": links.words(40),
    "band": links.one_of(list(BANDS)),
    "scale": links.one_of(SCALES),
    "singles": links.one_of(("yes", "no")),
}
ASKED = "asked look"  # in the session: how a link wants the comparison to look

Groups = Mapping[str, Sequence[RunData]]


@dataclass(frozen=True)
class Look:
    """How the chosen runs are shown."""

    by: str
    kind: BandKind
    scale: Scale
    singles: bool
    floor: bool = False

    def link(self, ids: Sequence[str]) -> dict[str, str]:
        """The address that shows the same."""
        link = {"runs": ",".join(run_id[:12] for run_id in ids), "band": self.kind, "scale": self.scale}
        link |= {"singles": "yes"} if self.singles else {}
        return link | ({"by": self.by} if self.by != EVERYTHING else {})


def to_begin_with(rows: Sequence[RunRow]) -> list[str]:
    """Of the newest finished runs, the most that are of one function: those compare well."""
    finished = [row for row in rows if row.state == "finished"][:50]
    alike: dict[str, list[str]] = {}
    for row in finished:
        alike.setdefault(json.dumps(row.config["objective"]), []).append(row.id)
    return max(alike.values(), key=len, default=[])[:12]


def show(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """The comparison of these runs, refreshed until they end; the link that shows the same."""
    drawn = list(ids)[: links.MOST_RUNS]
    if len(drawn) < len(ids):
        st.warning(f"{len(drawn)} of {len(ids)} chosen runs are drawn: the rest is too much for one picture.")
    runs = [SHARED.data(store, run_id) for run_id in drawn]
    _say_split(store, [run.row for run in runs])
    with st.container(horizontal=True, vertical_alignment="bottom", key="compare head"):
        look = _choose_look(runs, st.session_state.get(ASKED, {}))
        runs_controls([run.row for run in runs])
    keep_watching(lambda: _look_at(drawn), lambda seen: _draw(look, seen))
    return look.link(drawn)


def _look_at(ids: Sequence[str]) -> Seen[list[RunData]]:
    store = session.manager().store
    runs = [SHARED.data(store, run_id) for run_id in ids]
    states = tuple(sorted({run.row.state for run in runs}))
    every = pace(f"compared {ids[0]}", "running" not in states, max(SLOWEST_START, PER_RUN * len(ids)))
    return Seen(runs, states, None if all(run.ended for run in runs) else every)


def _say_split(store: Store, rows: Sequence[RunRow]) -> None:
    """That only some runs of a group are drawn, and the way to all of them."""
    parts: dict[str, int] = {}
    for row in rows:
        if row.group:
            parts[row.group] = parts.get(row.group, 0) + 1
    whole = {group: store.run_columns(["id"], RunFilter(group=group))["id"] for group in parts}
    split = [group for group, drawn in parts.items() if drawn < len(whole[group])]
    if not split:
        return
    drawn, total = sum(parts[group] for group in split), sum(len(whole[group]) for group in split)
    groups_named = "this group" if len(split) == 1 else f"{len(split)} groups"
    with st.container(horizontal=True, vertical_alignment="center", key="split"):
        st.markdown(f"{drawn} of {total} runs of {groups_named} are drawn.", width="content")
        if st.button(f"Draw all {total}"):
            others = [row.id for row in rows if row.group not in split]
            table.choose([*(run for group in split for run in whole[group]), *others])
            st.rerun()


def _choose_look(runs: Sequence[RunData], asked: Mapping[str, Any]) -> Look:
    """Grouping, bands and axis, in one line."""
    scale = common_scale([run.row for run in runs])
    flat = [flat_config(run.row.config) for run in runs]
    options = [EVERYTHING, *(name for name in differing(flat) if name != "seed")]
    place = options.index(asked["by"]) if asked.get("by") in options else 0
    by = st.selectbox("Group by", options, index=place, width=220, key=f"compare by {place}")
    kind = choose_band("compare band", asked.get("band", "mean"), "Bands")
    axis = choose_scale(f"compare scale {scale}", asked.get("scale", scale), "Value axis")
    singles = st.toggle("Single runs", value=asked.get("singles") == "yes", key="compare singles")
    return Look(by or EVERYTHING, kind, axis, singles, floors.switch())


# --- what is drawn ------------------------------------------------------------------------------


def _draw(look: Look, runs: list[RunData]) -> None:
    """In the order of all results: a sentence, standings or settings, curves, tables."""
    if look.floor:
        floors.explain(runs)
        runs = [floors.with_floor(run) for run in runs]
    groups, twice = one_per_seed(groups_of(runs, look.by))
    _sentence(groups, twice)
    several = race.is_race(runs)
    if several:
        race.show_standings(race.lanes_of([run for group in groups.values() for run in group]))
    else:
        _settings(runs)
    split = _choose_split(groups) if look.floor else None
    live_chart(figure_of_groups(groups, look.kind, look.scale, look.singles, split), key="compare")
    if len(runs) == 2:
        _difference(runs[0], runs[1])
    _numbers(groups)
    if several:
        race.time_and_arms(runs)


def one_per_seed(groups: Groups) -> tuple[dict[str, list[RunData]], list[str]]:
    """(each group with one run for each seed of a setting, the names of those that are there again)."""
    kept: dict[str, list[RunData]] = {}
    twice: list[str] = []
    for label, runs in groups.items():
        best: dict[tuple[str, int], RunData] = {}
        for run in sorted(runs, key=lambda run: (run.row.state == "finished", run.t), reverse=True):
            same = (run.row.config_json, run.row.budget)
            if same in best:
                group = f"{label}, " if len(groups) > 1 else ""
                twice.append(f"{group}seed {run.row.seed}")
            best.setdefault(same, run)
        chosen = {run.row.id for run in best.values()}
        kept[label] = [run for run in runs if run.row.id in chosen]
    return kept, twice


def _sentence(groups: Groups, twice: Sequence[str]) -> None:
    """What everyone sees, then how sure that is."""
    ends = {
        label: [run.best for run in runs if run.best is not None and run.row.state == "finished"]
        for label, runs in groups.items()
    }
    means = {label: float(np.mean(values)) for label, values in ends.items() if values}
    words = []
    functions = {run.row.function for runs in groups.values() for run in runs}
    if len(means) > 1 and len(functions) > 1:
        words.append("Each function has values of its own, so they are not compared with one another.")
    elif len(means) > 1:
        words.append(ranking(means, "mean" if max(map(len, ends.values())) > 1 else "final value"))
        shared = set.intersection(*({run.row.seed for run in groups[label]} for label in means))
        words.append(too_few(len(shared), len(means)) if shared else "They share no seed.")
    if twice:
        again = joined(list(dict.fromkeys(twice))[:3])
        words.append(f"{count(len(twice), 'run')} left out, as the same run is there twice: {again}.")
    if any(words):
        with st.container(key="findings"):
            st.markdown("  \n".join(plain(sentence) for sentence in words if sentence))


def _settings(runs: Sequence[RunData]) -> None:
    """Runs that differ in more than two settings: a line each."""
    done = [run for run in runs if run.best is not None]
    flat = [flat_config(run.row.config) for run in done]
    shared = [name for name in differing(flat) if all(name in own for own in flat)]  # not one method's own
    given = given_settings(run.row.config for run in done) | {"method"}
    names = [name for name in shared if name in given and name not in ("seed", "embedding_seed")]
    if len(names) >= FROM_AXES and len(done) >= LEAST_LINES:
        st.markdown("#### All settings at a glance", help="Drag along an axis to keep only some lines.")
        best = [float(run.best or 0.0) for run in done]
        live_chart(parallel_figure(flat, names, best), key="parallel")


def _difference(one: RunData, other: RunData) -> None:
    """The settings in which two runs differ, and where they were forked."""
    st.markdown("#### Their difference")
    rows = differences(one.row.config, other.row.config)
    if not rows:
        st.caption("Their settings are the same.")
        return
    table = pd.DataFrame(rows, columns=["Setting", *map(typeset, _apart(one.row, other.row))])
    st.dataframe(table, hide_index=True)


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """(what differs between two configs, the one's, the other's)."""
    flat = [flat_config(one), flat_config(other)]
    rows = [
        (symbol(name), *("–" if own.get(name) is None else value_label(name, own[name]) for own in flat))
        for name in differing(flat)
    ]
    forks = [fork_words(config) or "–" for config in (one, other)]
    return [*rows, *([("fork", *forks)] if forks[0] != forks[1] else [])]


def _apart(one: RunRow, other: RunRow) -> tuple[str, str]:
    if one.name != other.name:
        return one.name, other.name
    return f"{one.name} ({one.short_id})", f"{other.name} ({other.short_id})"


def _choose_split(groups: Groups) -> str | None:
    """The group whose two errors are coloured: one at a time, as areas cover one another."""
    if len(groups) < 2:
        return None
    return st.selectbox("Colour the two errors of", list(groups), width=520)


def _numbers(groups: Groups) -> None:
    """The groups in numbers, beside what the paper prints."""
    st.markdown("#### In numbers")
    everything = st.toggle("All of the paper's methods", help="Where the setting is the paper's.")
    numbers = table_of(groups, everything)
    four = partial(st.column_config.NumberColumn, format="%.4g")
    st.dataframe(
        numbers,
        hide_index=True,
        placeholder="–",
        column_config={
            "group": "Group",
            "runs": "Runs",
            "source": "Made by",
            "mean": four("Mean"),
            "std": four("Std"),
            "best": four("Best"),
            "seconds": st.column_config.NumberColumn("Seconds", format="%.3g"),
        },
    )
