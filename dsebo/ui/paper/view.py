"""The Paper page's parts: which table, its rows beside ours, what is missing, how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dsebo.charts.curves import Curves
from dsebo.charts.experiment import race_figure
from dsebo.charts.scales import References, default_scale
from dsebo.charts.theme import styles_of
from dsebo.config import predict
from dsebo.paper.bundled import bundled_paper_runs, bundled_peer_runs
from dsebo.paper.comparison import (
    TITLES,
    FinalRun,
    bundled_finals,
    command,
    other_references,
    overview,
    peer_finals,
    printed_rows,
    references,
    rows_of,
    sentences,
    stored_finals,
    tasks,
    verdict,
)
from dsebo.paper.readings import READINGS, Reading
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.text import number, plain, seeds_text, typeset, value_text
from dsebo.ui import links, session
from dsebo.ui.form import link_of
from dsebo.ui.live import live_chart
from dsebo.ui.paper.table import Line, lines_of, shown_table, wish
from dsebo.ui.refresh import Look, keep_watching

TAG = "paper"
EVERY = 4.0  # seconds between two looks while something is under way
COLUMNS = {
    "Paper": "Mean ± standard deviation of 10 repeats, as printed.",
    "Here": "Mean ± standard deviation of this software's runs of exactly this setting.",
    "Apart": "How many printed standard deviations ours lies above (+) or below (−) theirs.",
    "Runs": "Bundled runs came with the software; yours are stored. A seed counts once.",
    "Paper, s": "Mean seconds of a run, as printed; on the authors' machine.",
    "Here, s": "Mean seconds of a run here.",
}


def show() -> None:
    """The verdict, then the tables; in tabs of their own what could be reproduced, and the readings."""
    st.markdown("### The paper's tables, beside this software")
    known = finals([*tasks(1), *tasks(2)])
    first, *rest = (plain(sentence) for sentence in overview(known))
    st.markdown(" ".join([f"**{first}**", *rest]))
    tables, reproduced, readings = st.tabs(["Tables", "What could be reproduced", "How the paper is read"])
    with tables:
        table, task = choose_table()
        show_task(table, task)
        show_curves(table, task)
    with reproduced:
        show_summary(known)
    with readings:
        show_readings()


def choose_table() -> tuple[int, str]:
    """(the table, the task) that the reader or the link wants."""
    _begin_with(_asked())
    table: int = (
        st.segmented_control(
            "Table", list(TITLES), format_func=lambda n: f"Table {n}", required=True, key="paper_table"
        )
        or 1
    )
    st.markdown(f"#### {TITLES[table]}")
    options, key = tasks(table), _task_key(table)
    st.session_state.setdefault(key, "Sphere" if "Sphere" in options else options[0])
    task: str = (
        st.segmented_control("Task", options, required=True, key=key, label_visibility="collapsed")
        or options[0]
    )
    links.write({"table": str(table), "task": task})
    st.session_state["paper kept"] = (table, task)  # Streamlit forgets a widget on another page
    return table, task


def _begin_with(asked: tuple[int, str] | None) -> None:
    """What the link asks for; without one, where the reader was."""
    if asked is None and "paper_table" in st.session_state:
        return
    table, task = asked or st.session_state.get("paper kept", (1, "Sphere"))
    st.session_state["paper_table"] = table
    st.session_state[_task_key(table)] = task


def _task_key(table: int) -> str:
    return f"paper_task {table}"


def _asked() -> tuple[int, str] | None:
    """What a link wants, as far as there is such a table and task."""
    params = links.opened()
    given = "table" in params
    asked = links.take(params, {"table": links.one_of([str(number) for number in TITLES])})
    if given != ("table" in asked):  # a table that there is not has no task either
        return None
    table = int(asked.get("table", 1))
    asked |= links.take(params, {"task": links.one_of(tasks(table))})
    return (table, asked.get("task", tasks(table)[0])) if asked else None


def finals(wanted: Sequence[str]) -> list[FinalRun]:
    """The bundled runs, and the stored ones of these tasks."""
    store = session.manager().store
    bundled = [*bundled_finals(bundled_paper_runs()), *peer_finals(bundled_peer_runs())]
    return [*bundled, *stored_finals(store, wanted)]


def show_task(table: int, task: str) -> None:
    """The rows; looked at again while some are being run."""

    def look() -> Look[list[Line]]:
        lines = lines_of(rows_of(table, task), finals([task]))
        under_way = any(line.own.under_way for line in lines)
        return Look(lines, under_way, EVERY if under_way else None)

    keep_watching(look, lambda lines: _show(table, task, lines))


def _show(table: int, task: str, lines: Sequence[Line]) -> None:
    st.markdown(f"**{plain(verdict(lines[0].row, lines[0].own))}**")
    _head(lines[0])
    frame = shown_table(lines)
    right = partial(st.column_config.TextColumn, alignment="right")
    columns = {name: right(help=words, width=_width([name, *frame[name]])) for name, words in COLUMNS.items()}
    st.dataframe(frame, hide_index=True, height="content", key=f"paper {table} {task}", column_config=columns)
    _run_missing([line for line in lines if line.runnable])


def _width(texts: Sequence[str]) -> int:
    """Pixels that hold the longest of them: a phone shows the first columns whole."""
    return round(20 + 6.7 * max(len(text) for text in texts))


def _head(line: Line) -> None:
    """What is hard about this task, and what is not; where it is only like the paper's, that it is."""
    (centre, minimum), others = references(line.row), other_references(line.row)
    known = [f"{name} **{number(value)}**" for name, value in others.items()]
    known += [f"the minimum F* is **{number(minimum)}**"] if minimum is not None else []
    words = ", ".join([f"One evaluation of the centre of the box gives **{number(centre)}**", *known])
    st.markdown(f"D = {line.row.D}. {words}. Lower is better.")
    if line.row.only_like:
        st.info(
            f"Here the task is {line.row.only_like}: the paper's own material cannot be had. The two columns "
            "are of different tasks and are not compared."
        )
    if why := line.row.config.unavailable():
        st.info(plain(why))


def _run_missing(lines: Sequence[Line]) -> None:
    """A row with gaps, and two ways to fill them."""
    if not lines:
        return
    st.markdown("##### Run what is missing of a row")
    by_label = {line.row.label: line for line in lines}
    with st.container(horizontal=True, vertical_alignment="bottom", key="paper-missing"):
        label = st.selectbox("Row", list(by_label), key="paper_row", width=240, label_visibility="collapsed")
        line = by_label.get(label or "", lines[0])
        words = wish(line, predict(line.row.config).seconds)
        if st.button(words, type="primary", icon=":material/rocket_launch:"):
            _launch(line)
    st.code(command(line.row, line.own.missing), language=None, wrap_lines=True)


def _launch(line: Line) -> None:
    """Through the manager, as every run of the dashboard."""
    try:
        configs = [line.row.config.with_seed(seed) for seed in line.own.missing]
        session.manager().launch(configs, tags=[TAG], owner=session.owner())
    except (LimitExceeded, StoreError) as error:
        st.error(plain(str(error)))
        return
    st.toast(f"Under way from seeds {seeds_text(line.own.missing)}.")
    st.rerun()


def show_curves(table: int, task: str) -> None:
    """The bundled runs of DSEBO on this task, as curves."""
    row = next(row for row in printed_rows(table, task) if row.method == "DSEBO")
    keys = bundled_finals(bundled_paper_runs())
    pairs = zip(keys, bundled_paper_runs(), strict=True)
    runs = [run for final, run in pairs if final.setting == row.setting]
    if not runs:
        return
    st.markdown("#### DSEBO here: the bundled runs")
    curves = [Curves(run.best_curve(), run.dimension_curve()) for run in runs]
    centre, minimum = references(row)
    lines = References(minimum=minimum, at_centre=centre, paper=row.mean)
    styles = styles_of({"DSEBO": "dsebo"})
    figure = race_figure(
        {"DSEBO": curves}, styles, lines, runs[0].evaluations, "mean", default_scale(minimum)
    )
    live_chart(figure, key="paper_chart")
    versions = ", ".join(sorted({run.version for run in runs}))
    seeds = seeds_text(sorted(run.config["seed"] for run in runs))
    st.caption(f"Version {plain(versions)}, seeds {seeds}; made by python -m dsebo.paper.bundled --again.")


# --- what could be reproduced ---------------------------------------------------------------


def show_summary(runs: Sequence[FinalRun]) -> None:
    """What the runs so far show, counted."""
    points = [
        *(plain(sentence) for sentence in sentences(runs)),
        "Uniform sampling of the box does not give what is printed for random search. Sampling of "
        "[0, 1] only, a corner of it, does on four of the six functions.",
        "The best of 500 random points of ALEBO's polytope, without a model, is lower than what is printed "
        "for it in seven of table 1's twelve rows, and in all twelve where the points lie nearer to the "
        "centre (b = 2 instead of 4). With its model it is far better here on three of the six functions.",
        "The paper does not say which prior, which scaling of the targets and how much exploration "
        "its Gaussian processes had. These matter more than anything else here.",
        "Of the tasks in tables 2 and 5, Lasso-Hard is the paper's to the last digit. LIMO (our own smaller "
        "VAE) and MSLR (a generated set) are only like the paper's, and are not compared with it.",
        "Seconds are of different machines and programs: they show orders of magnitude.",
    ]
    st.markdown("\n".join(f"- {sentence}" for sentence in points))


def show_readings() -> None:
    """Each point where the paper can be read in more than one way, with its switch."""
    st.markdown(
        "The text, the pseudo-code and the authors' code differ in places. Each link opens the Run "
        "page with the setting that shows the other reading."
    )
    for reading in READINGS:
        words, switch = st.columns([3.4, 1], gap="medium", vertical_alignment="center")
        here, other = (plain(typeset(text)) for text in (reading.here, reading.other))
        words.markdown(f"**{plain(reading.point)}**  \n{here}  \n:gray[{other}]")
        if reading.switch:
            with switch.container(gap=None):
                _show_switch(reading)


def _show_switch(reading: Reading) -> None:
    """A link to the Run page, set so, and the fields that it sets."""
    links.page_link("run", "See it", "tune", link_of(dict(reading.switch)))
    named = ", ".join(f"{name} = {value_text(value)}" for name, value in reading.switch.items())
    st.markdown(f":gray[{plain(named)}]")
