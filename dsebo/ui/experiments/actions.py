"""What can be done with what is chosen in the table: a bar above it, each button off until it can be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsebo.experiments.child import start_child
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.records import ExperimentRow, delete_experiment, restore_experiment
from dsebo.experiments.resuming import left_at_work, resume_all
from dsebo.runs.commands import MAX_NOTE
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunFilter, RunRow
from dsebo.store.store import Store
from dsebo.text import count, joined, plain
from dsebo.transfer import FORMATS, Format, ImportDesk
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.experiments import table
from dsebo.ui.experiments.table import Chosen

UPLOADS = ["json", "zip"]
RESUME_ALL = "Resume what was at work ({})"
NOTHING = "Choose a line of the table first."
ONE_RUN = "Choose one run."
UNDO = "undo"  # in the session: what was just deleted
_DESK = ImportDesk()  # one for all browsers of this server


def bar(store: Store, chosen: Chosen, deleted: bool) -> None:
    """The buttons, and how much is chosen."""
    rows = store.list_runs(RunFilter(ids=chosen.runs, deleted=deleted)) if chosen.runs else []
    with st.container(horizontal=True, vertical_alignment="center", key="actions"):
        if deleted:
            _button("Restore", "restore_from_trash", "" if rows else NOTHING, lambda: _restore(rows))
            return
        alone = len(rows) == 1 and not chosen.experiments
        _button("Open in Run", "play_circle", "" if alone else ONE_RUN, lambda: _open(rows[0]))
        _button(
            "Show its runs",
            "unfold_more",
            "" if chosen.groups else "Choose a line of several runs.",
            lambda: table.toggle(chosen.groups),
        )
        _export(store, chosen, rows)
        _resume(chosen, rows)
        _extend(chosen, rows)
        _edit(chosen, rows)
        why = "" if chosen else NOTHING
        _button("Delete", "delete", why, lambda: _delete(chosen, rows))
        if chosen:
            st.markdown(f"**{_words(chosen)}**", width="content")
            _button("Choose nothing", "close", "", lambda: table.choose([]))


def _words(chosen: Chosen) -> str:
    things = (chosen.experiments, "experiment"), (chosen.runs, "run")
    return f"{joined([count(len(some), thing) for some, thing in things if some])} chosen"


def _button(label: str, icon: str, why: str, do: Callable[[], None]) -> None:
    """Off, with the reason, where it cannot be used."""
    if st.button(
        label, icon=f":material/{icon}:", disabled=bool(why), help=why or None, key=f"action {label}"
    ):
        do()
        st.rerun()


def _open(row: RunRow) -> None:
    links.go("run", run=row.id)


# --- files --------------------------------------------------------------------------------------


def _export(store: Store, chosen: Chosen, rows: Sequence[RunRow]) -> None:
    """Files of the chosen experiment, or of the chosen runs."""
    experiment = chosen.experiments[0] if len(chosen.experiments) == 1 and not rows else None
    ids = [row.id for row in rows]
    for row in chosen.experiments if experiment is None else ():
        ids += list(SHARED.frame(store, row)["run_id"].dropna())
    with st.popover(
        "Export", icon=":material/download:", disabled=not chosen, help=None if chosen else NOTHING
    ):
        for form in FORMATS.values() if chosen else ():
            if experiment is not None and form.experiment is not None:
                download(form, partial(form.experiment, store, experiment), experiment.short_id)
            elif experiment is None and form.runs is not None:
                download(form, partial(form.runs, store, ids), f"{len(ids)}-runs")


def download(form: Format, make: Callable[[], bytes], of: str) -> None:
    """A button for a file of that format, which is made when asked for."""
    st.download_button(
        form.label,
        make,
        f"dsebo-{of}-{form.file}",
        form.media_type,
        on_click="ignore",
        icon=":material/download:",
        key=f"download {form.key}",
    )


def upload(store: Store) -> None:
    """Import by upload. What is uploaded is parsed, never executed."""
    settings = session.manager().settings
    with st.popover("Import", icon=":material/upload:"):
        file = st.file_uploader(
            "A JSON bundle, or a zip of the authors' CSV pairs",
            type=UPLOADS,
            key=f"upload {st.session_state.get('uploads', 0)}",
            max_upload_size=settings.import_limits.upload_mb,
        )
        if refusal := st.session_state.pop("upload refused", ""):
            st.error(plain(refusal))
        if file is None or not st.button("Import it", type="primary"):
            return
        try:
            saved = _DESK.take(store, settings, file.getvalue(), file.name, session.owner())
            st.toast(f"{saved.words}.")
            table.choose(saved.ids)
        except StoreError as error:
            st.session_state["upload refused"] = str(error)
        _give_memory_back()  # whatever came of it
        st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
        st.rerun()


def _give_memory_back() -> None:
    """Streamlit would keep what was uploaded as long as the browser's session."""
    if (context := get_script_run_ctx()) is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)


# --- runs that go on ----------------------------------------------------------------------------


def resume_all_button() -> None:
    """One button for all of the reader's own that was at work when its process ended; none, no button."""
    manager, owner = session.manager(), session.owner()
    left = left_at_work(manager.store, owner)
    if not left or not st.button(RESUME_ALL.format(len(left)), icon=":material/play_arrow:", type="primary"):
        return
    resumed, refused = resume_all(manager, owner)
    if resumed:
        st.toast(f"{len(resumed)} of {len(left)} go on.")
    _say(refused)
    SHARED.stale()
    st.rerun()


def _resume(chosen: Chosen, rows: Sequence[RunRow]) -> None:
    resting = [row for row in rows if row.state in ("paused", "interrupted", "stalled", "cancelled")]
    stopped = [row for row in chosen.experiments if not row.at_work and row.state != "finished"]
    why = "" if resting or stopped else "Choose something that was paused, interrupted or cancelled."

    def go_on() -> None:
        manager, owner = session.manager(), session.owner()
        _each(resting, lambda row: manager.resume(row.id, owner), "go on")
        _each(stopped, lambda row: _start_again(row, owner), "go on")

    _button("Resume chosen", "play_arrow", why, go_on)


def _start_again(row: ExperimentRow, owner: str) -> None:
    manager = session.manager()
    _check_owner(row)
    start_child(manager.store, row.id, experiment_check(manager.settings, owner, row.spec))


def _extend(chosen: Chosen, rows: Sequence[RunRow]) -> None:
    done = [row for row in rows if row.state == "finished"]
    why = None if done else "Choose finished runs."
    with st.popover("Extend", icon=":material/add:", disabled=not done, help=why):
        more = st.number_input("More evaluations", 1, 10_000, 100, key="more for each")
        if st.button("Extend them", type="primary"):
            manager, owner = session.manager(), session.owner()
            _each(done, lambda row: manager.extend(row.id, int(more), owner), "extended")
            st.rerun()


# --- names, tags, notes -------------------------------------------------------------------------


def _edit(chosen: Chosen, rows: Sequence[RunRow]) -> None:
    """A name for one run; tags and a note for all."""
    manager, owner = session.manager(), session.owner()
    key = " ".join(row.short_id for row in rows[:5])
    why = None if rows else "Choose runs."
    with st.popover("Edit", icon=":material/edit:", disabled=not rows, help=why):
        if len(rows) == 1:
            name = st.text_input("Name", rows[0].name, max_chars=200, key=f"edit name {key}")
        tags = st.text_input(
            "Tags, with commas between",
            ", ".join(rows[0].tags) if rows else "",
            max_chars=300,
            key=f"edit tags {key}",
        )
        note = st.text_area(
            "Note", (rows[0].note or "") if rows else "", max_chars=MAX_NOTE, key=f"edit note {key}"
        )
        if not st.button("Save", type="primary", key="save edit"):
            return

        def save(row: RunRow) -> None:
            if len(rows) == 1 and name != row.name:
                manager.rename(row.id, name, owner)
            manager.tag(row.id, [part.strip() for part in tags.split(",") if part.strip()], owner)
            manager.annotate(row.id, note, owner)

        _each(rows, save, "saved")
        st.rerun()


# --- off the list, and back ---------------------------------------------------------------------


def _delete(chosen: Chosen, rows: Sequence[RunRow]) -> None:
    """Experiments lose their name and settings, not their runs; Undo brings all of it back."""
    manager, owner = session.manager(), session.owner()
    gone = _each(rows, lambda row: manager.delete(row.id, owner))
    lost = _each(chosen.experiments, lambda row: forget(manager.store, row))
    if gone or lost:
        st.session_state[UNDO] = (gone, lost)
    table.choose([])


def forget(store: Store, row: ExperimentRow) -> None:
    """Delete an experiment, if it is the reader's."""
    _check_owner(row)
    delete_experiment(store, row.id)


def _check_owner(row: ExperimentRow) -> None:
    if not session.manager().may_control(row, session.owner()):
        raise StoreError(f"Experiment {row.short_id} belongs to someone else.")


def undo_line() -> None:
    """What was just deleted, and the way back."""
    gone, lost = st.session_state.get(UNDO, ([], []))
    if not gone and not lost:
        return
    things = [count(len(some), thing) for some, thing in ((lost, "experiment"), (gone, "run")) if some]
    with st.container(horizontal=True, vertical_alignment="center", key="undo"):
        st.markdown(f"{joined(things)} deleted.", width="content")
        if st.button("Undo", icon=":material/undo:"):
            manager, owner = session.manager(), session.owner()
            _each(gone, lambda run_id: manager.restore(run_id, owner))
            _each(lost, lambda experiment_id: restore_experiment(manager.store, experiment_id))
            del st.session_state[UNDO]
            table.choose([*lost, *gone])
            st.rerun()
        if st.button("Leave it", key="leave deleted"):
            del st.session_state[UNDO]
            st.rerun()


def _restore(rows: Sequence[RunRow]) -> None:
    manager, owner = session.manager(), session.owner()
    _each(rows, lambda row: manager.restore(row.id, owner), "restored")
    table.choose([])


def _each(things: Sequence[object], do: Callable[..., None], done: str = "") -> list[str]:
    """Do it to every one; what is refused is said, the rest is done. The ids of those."""
    ids, refused = [], []
    for thing in things:
        try:
            do(thing)
            ids.append(str(getattr(thing, "id", thing)))
        except (StoreError, OSError) as error:  # one may just have ended by itself
            refused.append(str(error))
    if done and ids:
        st.toast(f"{len(ids)} {done}.")
    _say(refused)
    SHARED.stale()
    return ids


def _say(refused: Sequence[str]) -> None:
    for sentence in refused[:3]:
        st.toast(plain(sentence), icon=":material/error:")
