"""A task of one of the paper's tables as it is shown: printed figures beside ours, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dsebo.paper.comparison import FinalRun, Own, PaperRow, apart, other_references, own_runs, references
from dsebo.text import about, count, number, spread

CENTRE, MINIMUM = "Centre of the box", "F*, the minimum"
GAP = "not run yet"
COLUMNS = ["Method", "Paper", "Here", "Apart", "Runs", "Paper, s", "Here, s"]


@dataclass(frozen=True)
class Line:
    """A printed row and what there is of it here."""

    row: PaperRow
    own: Own

    @property
    def ours(self) -> str:
        """Mean ± std here, the value of a single run, or why there is none."""
        if self.own.seeds:
            alone = " (1 run)" if len(self.own.seeds) == 1 else ""
            return spread(self.own.mean, self.own.std) + alone
        return f"{len(self.own.under_way)} under way" if self.own.under_way else GAP

    @property
    def runs(self) -> str:
        """`10 bundled, 2 of yours`."""
        parts = [f"{self.own.bundled} bundled"] if self.own.bundled else []
        parts += [f"{self.own.yours} of yours"] if self.own.yours else []
        parts += [f"{len(self.own.under_way)} under way"] if self.own.under_way else []
        return ", ".join(parts)

    @property
    def runnable(self) -> bool:
        """Whether something of it can be run and is missing."""
        return bool(self.own.missing) and not self.row.config.unavailable()


def lines_of(rows: Sequence[PaperRow], finals: Sequence[FinalRun]) -> list[Line]:
    """Each row with its runs: DSEBO first, then those that have been run, as printed."""
    lines = [Line(row, own_runs(row, finals)) for row in rows]
    return sorted(lines, key=lambda line: (not _is_dsebo(line), not line.own.seeds))


def _is_dsebo(line: Line) -> bool:
    return line.row.config.optimizer.method == "dsebo"


def shown_table(lines: Sequence[Line]) -> pd.DataFrame:
    """The table: DSEBO, what it is read against, then the other rows."""
    centre, minimum = references(lines[0].row)
    others = ((name[:1].upper() + name[1:], value) for name, value in other_references(lines[0].row).items())
    known = [(CENTRE, centre), *others, (MINIMUM, minimum)]
    between = [{"Method": name, "Here": number(value)} for name, value in known if value is not None]
    cells = [_cells(line) for line in lines]
    first = sum(map(_is_dsebo, lines))
    return pd.DataFrame([*cells[:first], *between, *cells[first:]], columns=COLUMNS).fillna("")


def _cells(line: Line) -> dict[str, str]:
    row, own = line.row, line.own
    return {
        "Method": row.label,
        "Paper": spread(row.mean, row.std) if row.printed else "",
        "Here": line.ours,
        "Apart": signed(apart(row, own)) if own.seeds and row.comparable else "",
        "Runs": line.runs,
        "Paper, s": number(row.seconds, 3) if row.printed else "",
        "Here, s": number(own.seconds, 3) if own.seeds else "",
    }


def signed(value: float) -> str:
    """`−2.4`: how many printed deviations apart."""
    digits = 1 if abs(value) < 100 else 0
    return f"{round(value, digits) + 0.0:+,.{digits}f}".replace("-", "−").replace(",", "\u202f")


def wish(line: Line, seconds: float) -> str:
    """What the button says: `Run 7 seeds, about 2 min`."""
    seeds = line.own.missing
    return f"Run {count(len(seeds), 'seed')}, {about(seconds * len(seeds))}"
