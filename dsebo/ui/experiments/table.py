"""The table of all that has been run: a line for each experiment, race, lesson and launch, and their runs.

A line of several runs can be chosen as a whole, or opened to choose among them. What is chosen is kept by
its ids, not by its place: lines come and go while runs are at work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pandas as pd
import streamlit as st

from dsebo.experiments.progress import thin_curves
from dsebo.experiments.records import ExperimentRow, get_experiment, list_experiments
from dsebo.lessons import load_lessons
from dsebo.lessons.glossary import help_of
from dsebo.objectives import names
from dsebo.objectives.fields import ConfigError
from dsebo.store.errors import NotFound
from dsebo.store.rows import RunFilter
from dsebo.store.schema import BUNDLED, ENDED, IMPORTED, RUN, STATES
from dsebo.store.store import Store
from dsebo.text import count, function_name, joined, method_name, seeds_text, symbol, typeset, value_label
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.learn.lesson_view import TAG as LESSON

MOST = 5000  # runs; more are reached by a filter
MOST_EXPERIMENTS = 500
MOST_PICTURES = 300  # lines with a curve
POINTS = 40  # of a curve
ROWS_SHOWN, ROWS_BESIDE = 11, 4  # of the table without scrolling; fewer where something is drawn below it
SOURCES = {RUN: "computed", BUNDLED: "bundled", IMPORTED: "imported"}
COLUMNS = (
    *("id", "name", "group", "state", "function", "method", "best", "d", "n_done", "budget", "seconds"),
    *("seed", "tags", "note", "created", "source", "error", "config"),
)
SETTINGS = ("D", "d_e", "c", "K", "beta", "d_h", "d_l", "d", "alpha", "min_step", "variant")
FIRST = ("Name", "Runs", "State", "Best", "Curve", "Varies", "Method")
# The usual columns stand side by side at 1280 px: their widths come to 1210.
NARROW = {symbol(name): 42 for name in ("d_e", "c", "beta", "d_h")} | {"D": 50, "K": 60}
OPENED, CHOSEN, CLICKED = "opened groups", "chosen lines", "group clicked"  # in the session


@dataclass(frozen=True)
class Line:
    """One line: a run, or runs that belong together."""

    key: str  # of a run its id
    name: str
    places: tuple[int, ...]  # of its runs in the columns
    created: float
    experiment: ExperimentRow | None = None
    is_group: bool = False
    inside: bool = False  # a run of a group that is open


@dataclass(frozen=True)
class Chosen:
    """What is chosen in the table, or by a link."""

    experiments: list[ExperimentRow] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)  # of groups that are no experiments, and single ones
    groups: list[str] = field(default_factory=list)  # keys of the chosen lines that are groups

    def __bool__(self) -> bool:
        return bool(self.experiments or self.runs)


# --- which runs ---------------------------------------------------------------------------------


def filters(store: Store, deleted: bool) -> RunFilter:
    """What the reader wants to see, as the store takes it."""
    search = st.text_input(
        "Search",
        placeholder="Search name, tag, note or id",
        max_chars=100,
        label_visibility="collapsed",
        width=260,
        key="search runs",
    )
    with st.popover("Filter", icon=":material/filter_list:"):
        states = st.multiselect("State", STATES, placeholder="all")
        functions = st.multiselect("Function", names(), format_func=function_name, placeholder="all")
        tags = st.multiselect("Tag", _tags(store, deleted), placeholder="all")
    return RunFilter(
        deleted=deleted, search=search, states=tuple(states), functions=tuple(functions), tags=tuple(tags)
    )


def _tags(store: Store, deleted: bool) -> list[str]:
    """Every tag in use."""
    texts = set(store.run_columns(["tags"], RunFilter(deleted=deleted), limit=MOST)["tags"])
    return sorted({tag for text in texts for tag in orjson.loads(text)})


def lines_of(
    columns: Mapping[str, list[Any]], experiments: Sequence[ExperimentRow], opened: Sequence[str] = ()
) -> list[Line]:
    """Groups and single runs, the newest first; the runs of an open group below it."""
    known = {row.id: row for row in experiments}
    titles = [lesson.title for lesson in load_lessons(session.manager().settings.lessons)[0].values()]
    groups: dict[str, list[int]] = {row.id: [] for row in experiments}
    for place, group in enumerate(columns["group"]):
        groups.setdefault(_group_key(columns, place, group, titles), []).append(place)
    closed = []
    for key, places in groups.items():
        row = known.get(key)
        created = max([*(columns["created"][place] for place in places), *([row.created] if row else [])])
        if row is None and len(places) == 1:
            closed.append(_run_line(columns, places[0]))
        else:
            name = row.name if row else key.removeprefix("lesson ") if key.startswith("lesson ") else ""
            name = name or columns["name"][places[0]]
            closed.append(Line(key, name, tuple(places), created, row, is_group=True))
    lines = []
    for line in sorted(closed, key=lambda line: line.created, reverse=True):
        lines.append(line)
        if line.is_group and line.key in opened:
            lines += [_run_line(columns, place, inside=True) for place in line.places]
    return lines


def _group_key(columns: Mapping[str, list[Any]], place: int, group: str, titles: Sequence[str]) -> str:
    """An experiment's or a launch's id; of a lesson's run its lesson; a run without a group is alone."""
    if f'"{LESSON}"' in columns["tags"][place]:
        name = columns["name"][place]
        return f"lesson {next((title for title in titles if name.startswith(title)), name)}"
    return group or columns["id"][place]


def _run_line(columns: Mapping[str, list[Any]], place: int, inside: bool = False) -> Line:
    run_id, name, created = (columns[name][place] for name in ("id", "name", "created"))
    return Line(run_id, name, (place,), created, inside=inside)


# --- its columns --------------------------------------------------------------------------------


def frame(
    lines: Sequence[Line], columns: Mapping[str, list[Any]], curves: Mapping[str, list[float]]
) -> pd.DataFrame:
    """One row a line; numbers as numbers, so that a click on a column sorts them."""
    flat = [_settings(text) for text in columns["config"]]
    opened = set(st.session_state.get(OPENED, ()))
    rows = []
    for line in lines:
        best = _best(line, columns)
        at = {name: [columns[name][place] for place in line.places] for name in columns}
        own = [flat[place] for place in line.places] or _planned(line)
        varied = _varied(line)
        rows.append(
            {
                "Name": typeset(f"└ {line.name}" if line.inside else line.name),
                "Runs": f"{'▾' if line.key in opened else '▸'} {_total(line)}" if line.is_group else None,
                "State": _state(line, at["state"]),
                "Best": None if best is None else columns["best"][best],
                "Curve": None if best is None else curves.get(columns["id"][best]),
                "Varies": _varies(line, own),
                "Function": _shared_name(
                    varied.get("function") or [settings["name"] for settings in own],
                    function_name,
                    "function",
                ),
                "Method": _shared_name(
                    varied.get("method") or [settings["method"] for settings in own], method_name, "method"
                ),
                **{
                    symbol(name): _shared(varied.get(name) or [settings.get(name) for settings in own])
                    for name in SETTINGS
                },
                "Final d": _shared(at["d"]),
                "Done": sum(at["n_done"]),
                "Budget": _shared(at["budget"]),
                "Seconds": sum(at["seconds"]),
                "Seed": _shared(at["seed"]),
                "Tags": sorted({tag for text in set(at["tags"]) for tag in orjson.loads(text)}),
                "Note": next((note for note in at["note"] if note), None),
                "Created": line.created,
                "Source": _shared([SOURCES.get(name, name) for name in at["source"]]),
                "Reason": next((error for error in at["error"] if error), None),
                "Id": line.key[:8] if not line.is_group or line.experiment else None,
            }
        )
    table = pd.DataFrame(rows)
    table["Created"] = pd.to_datetime(table["Created"], unit="s", errors="coerce")
    return table


def _settings(config: str) -> dict[str, Any]:
    whole = orjson.loads(config)
    return {**whole["objective"], **whole["optimizer"]}


def _planned(line: Line) -> list[dict[str, Any]]:
    """Of an experiment that has no run yet: what its first one will be, if that can be run here."""
    try:
        configs = line.experiment.spec.first_configs()[:1] if line.experiment else []
    except ConfigError:
        return []
    return [{**config.objective.model_dump(), **config.optimizer.model_dump()} for config in configs]


def _varied(line: Line) -> dict[str, Sequence[Any]]:
    """What an experiment varies, by name: of its runs some may not have begun."""
    axes = line.experiment.spec.axes if line.experiment else ()
    return {axis.field: axis.values for axis in axes if len(axis.values) > 1}


def _total(line: Line) -> int:
    return line.experiment.spec.total if line.experiment else len(line.places)


def _best(line: Line, columns: Mapping[str, list[Any]]) -> int | None:
    """The place of its run that came lowest."""
    done = [place for place in line.places if columns["best"][place] is not None]
    return min(done, key=lambda place: columns["best"][place]) if done else None


def _shared(values: Sequence[Any]) -> Any:
    """The value that all have; nothing where they differ."""
    return values[0] if values and all(value == values[0] for value in values) else None


def _shared_name(names: Sequence[str], shown: Any, thing: str) -> str | None:
    different = list(dict.fromkeys(names))
    return shown(different[0]) if len(different) == 1 else count(len(different), thing) if different else None


def _state(line: Line, states: Sequence[str]) -> str:
    """An experiment's own; else that of all, or how many have ended."""
    if line.experiment:
        return line.experiment.state
    if len(set(states)) == 1:
        return states[0]
    active = [state for state in states if state not in ENDED]
    return f"{len(states) - len(active)} of {len(states)} ended"


def _varies(line: Line, settings: Sequence[Mapping[str, Any]]) -> str | None:
    """`β 2, 6`: what an experiment varies, or in what the runs of a group differ."""
    if line.experiment:
        axes = line.experiment.spec.axes
        words = [_listed(axis.field, axis.values) for axis in axes]
        return " × ".join([*words, f"seeds {seeds_text(line.experiment.spec.seeds)}"])
    if not line.is_group:
        return None
    shared = [name for name in ("method", *SETTINGS) if all(name in own for own in settings)]
    different = [name for name in shared if len({str(own[name]) for own in settings}) > 1]
    return joined([symbol(name) for name in different]) if different else "seed"


def _listed(axis: str, values: Sequence[Any]) -> str:
    texts = [value_label(axis, value) for value in values]
    shown = ", ".join(texts) if len(texts) <= 4 else f"{texts[0]} … {texts[-1]}"
    return shown if axis == "method" else f"{symbol(axis)} {shown}"


def choose_columns(table: pd.DataFrame) -> list[str]:
    """The columns that are shown: at first those in which the lines differ."""
    settings = [symbol(name) for name in SETTINGS]
    telling = [name for name in settings[:6] if table[name].nunique() > 1]
    first = [name for name in (*FIRST, "Function") if name in FIRST or table[name].nunique() > 1]
    notes = [name for name in ("Note", "Reason") if table[name].notna().any()]
    usual = [*first, *telling, *notes, "Created"]
    every = [str(name) for name in table if name not in ("Name", "Runs")]
    with st.popover("Columns", icon=":material/view_column:"):
        shown = st.pills(
            "Columns", every, selection_mode="multi", default=usual[2:], key=f"columns {','.join(usual)}"
        )
    return ["Name", "Runs", *(name for name in every if name in shown)]


# --- on the page --------------------------------------------------------------------------------


def show(store: Store, wanted: RunFilter, tools: Any) -> tuple[Chosen, int, int]:
    """The table; what is chosen, how many runs pass the filter, and how many of them are shown.

    `tools`: the place of the choice of columns.
    """
    columns = store.run_columns(COLUMNS, wanted, limit=MOST)
    experiments = [] if wanted.deleted else _passing(store, wanted, columns)
    lines = lines_of(columns, experiments, st.session_state.get(OPENED, ()))
    if lines:
        best = [place for line in lines[:MOST_PICTURES] if (place := _best(line, columns)) is not None]
        table = frame(lines, columns, _pictures(store, columns, best))
        with tools:
            shown = choose_columns(table)
        _draw(lines, table, shown)
    return _chosen(store, lines, columns), store.count_runs(wanted), len(columns["id"])


def _passing(store: Store, wanted: RunFilter, columns: Mapping[str, list[Any]]) -> list[ExperimentRow]:
    """The experiments that have runs among these, or none yet, or the searched words in their name."""
    rows = list_experiments(store, limit=MOST_EXPERIMENTS)
    if wanted == RunFilter():
        return rows
    groups, words = set(columns["group"]), wanted.search.strip().lower()
    others = wanted.states or wanted.functions or wanted.tags
    return [row for row in rows if row.id in groups or (words and words in row.name.lower() and not others)]


def _pictures(
    store: Store, columns: Mapping[str, list[Any]], places: Sequence[int]
) -> Mapping[str, list[float]]:
    """The curves of these runs; those of runs that have ended are read once."""
    wanted = {(columns["id"][place], columns["n_done"][place]) for place in places}
    return SHARED.pictures(wanted, lambda ids: thin_curves(store, ids, POINTS))


def _draw(lines: Sequence[Line], table: pd.DataFrame, shown: Sequence[str]) -> None:
    keys = [line.key for line in lines]
    if keys != st.session_state.get("table lines"):  # a table of another key, with the same lines chosen
        st.session_state["table lines"] = keys
        st.session_state["table version"] = st.session_state.get("table version", 0) + 1
    chosen = st.session_state.get(CHOSEN, [])
    most = ROWS_BESIDE if chosen else ROWS_SHOWN
    key = f"runs_table {st.session_state['table version']}"
    selected = st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        height=37 + 35 * len(lines) if len(lines) <= most else 40 + 36 * most,  # part of a line: more below
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [i for i, k in enumerate(keys) if k in chosen]}},
        column_order=shown,
        alt="Experiments and runs",
        column_config={
            "Name": st.column_config.TextColumn(width=244),
            "Runs": st.column_config.ButtonColumn(
                "Runs", type="tertiary", width=64, alignment="left", on_click=_toggle, key=CLICKED
            ),
            **{
                name: st.column_config.Column(name, width=NARROW.get(name), help=help_of(name))
                for name in map(symbol, SETTINGS)
            },
            "State": st.column_config.TextColumn(width=78),
            "Best": st.column_config.NumberColumn(width=68, format="%.4g"),
            "Varies": st.column_config.TextColumn(width=126),
            "Curve": st.column_config.LineChartColumn("Best so far", width=90),
            "Function": st.column_config.TextColumn(width=84),
            "Method": st.column_config.TextColumn(width=104),
            "Seconds": st.column_config.NumberColumn(format="%.3g"),
            "Tags": st.column_config.ListColumn(width="small"),
            "Note": st.column_config.TextColumn(width=130),
            "Reason": st.column_config.TextColumn(width=200),
            "Created": st.column_config.DatetimeColumn(width=102, format="D MMM HH:mm"),
        },
    )
    rows = {keys[index]: None for index in selected["selection"]["rows"] if 0 <= index < len(keys)}
    kept = {key: None for key in chosen if key in rows or key not in keys}
    st.session_state[CHOSEN] = list(kept | rows)
    if rows and not chosen:
        st.rerun()  # the table makes room for what is drawn below it


def _toggle() -> None:
    """Open or close the group whose button was pressed."""
    click = st.session_state.get(CLICKED)
    keys = st.session_state.get("table lines", [])
    if click is not None and 0 <= click["row"] < len(keys):
        toggle([keys[click["row"]]])


def toggle(groups: Sequence[str]) -> None:
    """Open these groups; close them where all are open."""
    opened = list(st.session_state.get(OPENED, []))
    if all(key in opened for key in groups):
        st.session_state[OPENED] = [key for key in opened if key not in groups]
    else:
        st.session_state[OPENED] = list(dict.fromkeys([*opened, *groups]))


def choose(keys: Sequence[str]) -> None:
    """Choose these lines in place of others: runs by their ids, experiments by theirs."""
    st.session_state[CHOSEN] = list(keys)
    st.session_state["table lines"] = None  # another table, which shows them as chosen


def _chosen(store: Store, lines: Sequence[Line], columns: Mapping[str, list[Any]]) -> Chosen:
    by_key = {line.key: line for line in lines}
    chosen = Chosen()
    for key in st.session_state.get(CHOSEN, []):
        line = by_key.get(key)
        if line is None:  # a link asks for it, though a filter leaves it out
            _add_unlisted(store, key, chosen)
            continue
        if line.is_group:
            chosen.groups.append(key)
        if line.experiment:
            chosen.experiments.append(line.experiment)
        else:
            chosen.runs.extend(columns["id"][place] for place in line.places)
    unique = list(dict.fromkeys(chosen.runs))
    return Chosen(chosen.experiments, unique, chosen.groups)


def _add_unlisted(store: Store, key: str, chosen: Chosen) -> None:
    """What a filter leaves out of the table; where it is gone, a sentence, and it is no longer chosen."""
    try:
        chosen.experiments.append(get_experiment(store, key))
    except NotFound as error:
        try:
            chosen.runs.append(store.get_run(key).id)
        except NotFound:
            links.say([str(error)])
            st.session_state[CHOSEN] = [other for other in st.session_state[CHOSEN] if other != key]
