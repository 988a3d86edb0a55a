"""The embedding of a run at a chosen evaluation, in pictures and words."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dsebo.analysis.embedding_use import Moves, moves, share, shown_coordinates
from dsebo.charts.embedding import clipped_figure, matrix_figure, moved_figure, shared_figure
from dsebo.runs.data import RunData
from dsebo.store.restoring import EmbeddedRun, embedded_run
from dsebo.store.store import Store
from dsebo.text import count, number
from dsebo.threads import one_thread
from dsebo.ui.live import live_chart


@st.cache_resource(max_entries=4, show_spinner="Lifting every point …")
def measured(_store: Store, address: str, run_id: str, n_done: int) -> tuple[EmbeddedRun, Moves]:
    """A run's embedding and what it did, kept while nothing new has come."""
    run = embedded_run(_store, run_id)
    with one_thread():
        return run, moves(run.embedding, run.points)


def show(store: Store, data: RunData, t: int) -> None:
    """The four pictures at evaluation t."""
    known = data.t if data.ended or not data.changes else data.changes[-1]["t"]
    run, moved = measured(store, str(store.engine.url), data.row.id, known)
    z, moved_by = run.at(t)
    larger = [c["d_to"] for c in data.changes if c["event"] == "expanded" and c["d_to"] > len(z)]
    shared = share(run.embedding, z, larger[0] if larger else run.embedding.d_h, moved_by)
    shown = shown_coordinates(run.embedding.D, run.effective)
    effective = min(len(run.effective), len(shown) // 2)
    st.markdown(_words(run, moved, shared.difference, t, len(shared.padded)))
    left, right = st.columns(2, gap="large")
    with left:
        S = np.asarray(run.embedding.S[shown])
        live_chart(matrix_figure(S, len(z), effective), key="matrix")
        live_chart(clipped_figure(moved.clipped, run.embedding.D, t), key="clipped")
    with right:
        live_chart(shared_figure(shared, shown, effective), key="shared")
        live_chart(moved_figure(moved, shown, effective), key="moved")
    D, marked = run.embedding.D, " Vermillion: effective ones." if run.effective.size else ""
    which = "All" if len(shown) >= D else f"{len(shown)} of {D}"
    st.caption(f"{which} coordinates are shown{'' if len(shown) >= D else ', evenly chosen'}.{marked}")


def _words(run: EmbeddedRun, moved: Moves, difference: float, t: int, d: int) -> str:
    """What the pictures show, with this evaluation's numbers."""
    (z, moved_by), D = run.at(t), run.embedding.D
    blocks = int(np.count_nonzero(moved_by))
    besides = (
        f" Besides, {count(blocks, 'block')} of variables {'is' if blocks == 1 else 'are'} moved."
        if blocks
        else ""
    )
    share_of = 100 * int(moved.clipped[t - 1]) / D
    effective, reach = run.effective, moved.reach
    others = np.delete(reach, effective)
    beside = f" and the others {number(float(others.mean()), 2)}" if others.size else ""
    covered = (
        f"Over the run an effective coordinate covered {number(float(reach[effective].mean()), 2)} on "
        f"average{beside}: the embedding moves them all, as it does not know which ones matter."
        if effective.size
        else f"Over the run a coordinate covered {number(float(reach.mean()), 2)} on average; which of "
        "them matter is not known of this function."
    )
    return (
        f"At evaluation {t} the search is in {count(len(z), 'dimension')}: x = S z uses the first "
        f"{count(len(z), 'column')} of S. Padded with zeros to {d} dimensions, z′ gives the same x "
        f"(largest difference {number(difference, 2)}), so no value is lost when the subspace "
        f"grows.{besides} {count(int(moved.clipped[t - 1]), 'coordinate')} of x ({share_of:.1f} %) "
        f"{'is' if moved.clipped[t - 1] == 1 else 'are'} clipped at the box. {covered}"
    )
