"""Where a run stands: progress, best value, dimension, patience, and what just happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dsebo.charts.explain import Entry
from dsebo.runs.data import RunData
from dsebo.text import count, duration, number, typeset
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.refresh import GOES_ON
from dsebo.ui.run.again import advice_of

PATIENCE = "Evaluations without a gain above α until this subspace counts as converged; a gain restarts it."
STATE_WORDS = {
    "queued": "Waiting for a free place: other runs are at work. It starts by itself.",
    "interrupted": "The server stopped while this run was at work. Every evaluation is kept; "
    "Resume (▶) carries on as if nothing had happened.",
    "stalled": "No sign of life from the process that worked on this run. Resume (▶) takes it over.",
    "cancelled": "Cancelled.",
    "paused": "Paused. Step (›) makes one evaluation, Resume (▶) lets it run.",
}
WILL_PAUSE = "Waiting for a free place, to begin paused. Resume (▶) lets it run."
AFTER_THIS = {  # an evaluation cannot be broken off: a function of one's own may take long, or hang
    "cancel": "It is cancelled as soon as the evaluation under way has ended.",
    "pause": "It pauses as soon as the evaluation under way has ended.",
}
IMPORTED_WORDS = "Imported: this is what a file says, not what was computed here."
INTERRUPTED = "This run was interrupted. Every evaluation is kept; Resume (▶) carries on. The reason:"


def numbers(data: RunData, live: bool = True) -> list[dict[str, Any]]:
    """Label and value of each; patience with the share that is left, while there is something to wait for."""
    figures: list[dict[str, Any]] = [{"label": "Best value", "value": number(data.best)}]
    if data.d is not None:
        figures.append({"label": "Dimension d", "value": str(data.d)})
    if data.patience is not None and not (data.ended and live):
        since, T = data.patience
        left = max(0, T - since)
        figures.append(
            {
                "label": "Patience T",
                "value": f"{left} of {T} left",
                "share": left / max(T, 1),
                "help": PATIENCE,
            }
        )
    return figures


def progress_words(data: RunData, live: bool = True) -> str:
    """`212 of 500 evaluations · 9.8 per second · 29 s left`."""
    row = data.row
    words = [f"{data.t} of {count(row.budget, 'evaluation')}"]
    rate = SHARED.rate(row.id) if row.state == "running" and live else None
    if rate:
        words += [f"{number(rate, 2)} per second", f"{duration((row.budget - data.t) / rate)} left"]
    elif data.ended and live and row.seconds:
        words.append(f"{duration(row.seconds)} of computing")
    return " · ".join(words)


def together(runs: Sequence[RunData], live: bool = True) -> tuple[list[dict[str, Any]], str]:
    """(numbers, progress) of one run, or of two side by side: `3.71 | 12.8`."""
    if len(runs) == 1:
        return numbers(runs[0], live), progress_words(runs[0], live)
    values = [{one["label"]: one["value"] for one in numbers(run, live)} for run in runs]
    shared = [label for label in values[0] if all(label in own for own in values)]
    figures = [{"label": label, "value": " | ".join(own[label] for own in values)} for label in shared]
    done = dict.fromkeys(f"{run.t} of {run.row.budget}" for run in runs)
    return figures, f"{' | '.join(done)} evaluations"


def sentence(data: RunData, entries: Sequence[Entry], live: bool) -> dict[str, Any]:
    """What is to be known of the run at this moment, in words; `live`: as it stands now.

    With it the numbers behind it, and what the newest convergence advises, as a button.
    """
    concludes = live and data.ended and bool(data.conclusion)
    told = data.conclusion if concludes else entries[0].in_words if entries else _nothing_yet(data)
    numbers = entries[0].numbers if entries and not concludes else ""
    state, tone = _state(data) if live else ("", "")
    imported = ""
    if live and data.row.imported:  # of other software: how it was read
        noted = (data.started or {}).get("warnings") or []
        imported = " ".join(["", IMPORTED_WORDS, *map(str, noted)])
    newest = data.changes[-1] if data.changes else {}
    return {
        "text": typeset(f"{state} {told}{imported}".strip()),
        "numbers": typeset(numbers),
        "tone": tone,
        "concludes": concludes,
        "t": newest.get("t"),
        "advice": advice_of(data, newest)[0],
    }


def _state(data: RunData) -> tuple[str, str]:
    """What a state means that is not plain work, and why it ended where nobody had asked for that."""
    row = data.row
    if waiting := session.manager().waiting(row.id):
        return f"{waiting} {GOES_ON}", "warning"
    if row.state == "failed":
        return f"This run failed. {row.error or 'No reason was recorded.'}", "error"
    if row.state in ("interrupted", "stalled") and row.error:
        return f"{INTERRUPTED} {row.error}", "warning"
    if row.waits_to_pause:
        return WILL_PAUSE, ""
    if row.state == "running" and row.wanted in AFTER_THIS:
        return AFTER_THIS[row.wanted], ""
    tone = "warning" if row.state in ("interrupted", "stalled") else ""
    return STATE_WORDS.get(row.state, ""), tone


def _nothing_yet(data: RunData) -> str:
    if data.t == 0:
        return "The first evaluation is under way." if data.row.state == "running" else ""
    if data.row.method != "dsebo":
        return "This method has no subspace: only its best value is followed."
    return "No subspace has converged yet: the search goes on at its first dimension."
