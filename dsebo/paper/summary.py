"""What of the paper's tables could be reproduced, counted from the runs that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dsebo.paper.comparison import (
    TITLES,
    FinalRun,
    PaperRow,
    apart,
    own_runs,
    printed_rows,
    references,
    tasks,
)

FAR = 3.0  # printed standard deviations


@dataclass(frozen=True)
class Tally:
    """Rows of the tables by what can be said of them."""

    printed: int
    runnable: int
    run: int
    within: int
    lower: int
    higher: int


def all_rows() -> list[PaperRow]:
    """Every printed row once: table 4 prints DSEBO's rows of table 1 again."""
    found = [row for n in TITLES for task in tasks(n) for row in printed_rows(n, task)]
    again = {(row.task, row.D, row.label) for row in found if row.table in (1, 2)}
    return [r for r in found if r.table in (1, 2, 3) or (r.task, r.D, r.label) not in again]


def tally(finals: Sequence[FinalRun], rows: Sequence[PaperRow]) -> Tally:
    """Count the rows: those that can be run here, have been, and how far ours is from theirs."""
    pairs = [(row, own_runs(row, finals)) for row in rows]
    run = [(row, own) for row, own in pairs if own.seeds]
    far = [apart(row, own) for row, own in run]
    return Tally(
        printed=len(rows),
        runnable=sum(row.config is not None for row in rows),
        run=len(run),
        within=sum(abs(value) <= FAR for value in far),
        lower=sum(value < -FAR for value in far),
        higher=sum(value > FAR for value in far),
    )


def below_the_centre(rows: Sequence[PaperRow]) -> list[PaperRow]:
    """The rows whose printed mean is no better than one evaluation of the centre of the box."""
    found = []
    for row in rows:
        centre, _ = references(row)
        if centre is not None and row.mean >= centre:
            found.append(row)
    return found


def sentences(finals: Sequence[FinalRun]) -> list[str]:
    """What the runs so far show, in plain words."""
    rows = all_rows()
    ours = [row for row in rows if row.method == "DSEBO" and row.config is not None]
    every, own = tally(finals, rows), tally(finals, ours)
    said = [f"Of {every.printed} printed rows {every.runnable} can be run here, and {every.run} have been."]
    if every.run:
        said.append(f"Of these, {_in_words(every)}.")
    if own.run:
        said.append(f"Of DSEBO's {own.run} among them, {_in_words(own)}.")
    said += [
        f"{row.label} on {row.task} (D = {row.D}) is printed with mean {row.mean:.4g}, best "
        f"{row.best:.4g} and deviation {row.std:.4g}: no ten values have all three."
        for row in rows
        if not row.possible
    ]
    worse = below_the_centre(ours)
    names = ", ".join(f"{row.task} (D = {row.D})" for row in worse)
    if worse:
        said.append(
            f"{len(worse)} of the {len(ours)} means printed for DSEBO are no better than one "
            f"evaluation of the centre of the box: {names}."
        )
    return said


def _in_words(found: Tally) -> str:
    return (
        f"{found.within} are within three printed standard deviations of the printed mean, "
        f"{found.lower} lower (better) by more, {found.higher} higher by more"
    )
