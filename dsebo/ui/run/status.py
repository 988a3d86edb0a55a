"""Where a run stands: progress, best value, dimension, patience, and the newest sentence."""

from __future__ import annotations

from typing import Any

from dsebo.charts.explain import Entry
from dsebo.runs.data import RunData
from dsebo.text import count, duration, number
from dsebo.ui.cache import SHARED
from dsebo.ui.live import live_status

PATIENCE = "Evaluations without a gain until this subspace counts as converged."


def status(data: RunData, entries: list[Entry], key: str, progress: bool = True) -> None:
    """One component for all of it: each element of a page is a message to each browser."""
    live_status(
        {
            "progress": {"share": min(1.0, data.t / data.row.budget), "text": progress_words(data)}
            if progress
            else None,
            "numbers": numbers(data),
            "newest": _newest(data, entries),
        },
        key=f"status{key}",
    )


def numbers(data: RunData) -> list[dict[str, Any]]:
    """Label and value of each; patience with the share that is left."""
    found: list[dict[str, Any]] = [{"label": "Best value", "value": number(data.best)}]
    if data.d is not None:
        found.append({"label": "Dimension d", "value": str(data.d)})
    if data.patience is not None and not data.ended:
        since, T = data.patience
        left = max(0, T - since)
        found.append(
            {
                "label": "Patience T",
                "value": f"{left} of {T} left",
                "share": left / max(T, 1),
                "help": PATIENCE,
            }
        )
    return found


def progress_words(data: RunData) -> str:
    """`212 of 500 evaluations · 9.8 per second · 29 s left`."""
    row = data.row
    words = [f"{data.t} of {count(row.budget, 'evaluation')}"]
    rate = SHARED.rate(row.id) if row.state == "running" else None
    if rate:
        words += [f"{number(rate, 2)} per second", f"{duration((row.budget - data.t) / rate)} left"]
    elif data.ended and row.seconds:
        words.append(f"{duration(row.seconds)} of computing")
    return " · ".join(words)


def _newest(data: RunData, entries: list[Entry]) -> str:
    """What a run that has ended amounts to; else what happened last."""
    if data.ended and data.t >= data.row.n_done and (conclusion := data.conclusion):
        return conclusion
    return entries[0].in_words if entries else _nothing_yet(data)


def _nothing_yet(data: RunData) -> str:
    if data.t == 0:
        return "The first evaluation is under way."
    if data.row.method != "dsebo":
        return "This method has no subspace: only its best value is followed."
    return "No subspace has converged yet: the search goes on at its first dimension."
