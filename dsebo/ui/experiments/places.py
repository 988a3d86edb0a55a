"""What Experiments shows: the table of runs, a comparison, a race, a sweep."""

from __future__ import annotations

import streamlit as st

from dsebo.charts.compare import common_scale, figure_of_groups, groups_of
from dsebo.store.rows import RunFilter
from dsebo.text import count
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.experiments import compare, runs_table, setup, view
from dsebo.ui.experiments.form import RACE, VARY
from dsebo.ui.live import live_chart
from dsebo.ui.run import floors

VIEWS = {"runs": "Runs", "compare": "Compare", "race": "Race", "sweep": "Sweep"}


def show_runs() -> None:
    """The table of all runs, and what can be done with a selection."""
    store = session.manager().store
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.markdown("#### Runs")
        runs_table.upload(store)
        deleted = st.toggle("Deleted ones")
        runs_table.resume_all_button()
    wanted = runs_table.filters(runs_table.tags_of(store, deleted), deleted)
    columns = store.run_columns(runs_table.COLUMNS, wanted, limit=runs_table.MOST)
    if columns["id"]:
        chosen = runs_table.show(store, columns, deleted)
        total = store.count_runs(wanted)
        st.caption(
            f"{count(total, 'run')}{', the newest are shown' if total > len(columns['id']) else ''}. "
            "Select rows at the left edge; a click on a column sorts."
        )
        if chosen:
            st.markdown(f"**{count(len(chosen), 'run')} selected**")
            runs_table.actions(chosen, deleted)
            compare.downloads(store, [row.id for row in chosen])
    elif wanted != RunFilter(deleted=deleted):
        st.info("No run passes these filters.")
    elif deleted:
        st.info("Nothing has been deleted.")
    else:
        st.info("No run yet. Launch one, or import a bundle.")
        links.link_to_launch()


def show_compare() -> None:
    """Runs or groups of runs, overlaid, in a table, and as files."""
    store = session.manager().store
    asked = links.take(links.opened(), compare.PARAMETERS)
    ids = compare.choose_runs(asked.get("runs", []))
    if not ids:
        st.info("Choose two or more runs above, or launch one with several repeats.")
        links.write({})
        return
    runs = [SHARED.data(store, run_id) for run_id in ids]
    look = compare.choose_look(runs, asked, common_scale([run.row for run in runs]))
    if look.floor:
        floors.explain(runs)
        runs = [floors.with_floor(run) for run in runs]
    groups = groups_of(runs, look.by)
    links.write(look.link(ids))
    split = compare.choose_split(groups) if look.floor else None
    live_chart(figure_of_groups(groups, look.kind, look.scale, look.singles, split), key="compare")
    compare.show_table(groups)
    compare.downloads(store, ids)


def show_race() -> None:
    """Several methods on one function, from the same seeds, together."""
    shown = view.opened(RACE)
    with st.sidebar:
        draft = RACE.show()
    if not shown:
        st.markdown("### Race: the same function, the same seeds, different methods")
        st.markdown(
            "Choose who takes part. All start from the same seeds and have the same budget. The centre "
            "of the box always stands there as a line: one evaluation, no search."
        )
    race = st.container()
    with st.expander("Another race") if shown else st.container():
        spec = setup.choose_entrants(draft)
    draft = RACE.remember(RACE.current())
    if spec is not None and (started := setup.start(spec)):
        view.show(RACE, started)
        st.rerun()
    view.write(RACE, shown, draft)
    if shown:
        with race:
            view.watch(RACE, shown, "New race")


def show_sweep() -> None:
    """One or two settings varied over many seeds, and what is seen of it."""
    shown = view.opened(VARY)
    with st.sidebar:
        VARY.presets()
        before = st.container()
        pressed = st.button("Start", type="primary", width="stretch", icon=":material/play_arrow:")
        draft = VARY.show()
        with before:
            spec = setup.checked(VARY, draft)
            plan = setup.show_plan(spec) if spec else None
    if not shown:
        pressed = setup.welcome(plan) or pressed
    if pressed and spec is not None and (started := setup.start(spec)):
        view.show(VARY, started)
        st.rerun()
    view.write(VARY, shown, draft)
    if shown:
        view.watch(VARY, shown, "All sweeps")
    elif chosen := setup.earlier():
        view.show(VARY, chosen)
        st.rerun()


SHOWS = {"runs": show_runs, "compare": show_compare, "race": show_race, "sweep": show_sweep}
