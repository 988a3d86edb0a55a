"""A file of results that grows by a row for each run: a benchmark can be stopped and started at will."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class ResultsFile:
    """results/NAME.csv, whose first `keys` columns say which run a row is of."""

    def __init__(self, name: str, columns: Sequence[str], keys: int) -> None:
        self.path = Path(__file__).parent / "results" / f"{name}.csv"
        self.columns, self.keys = list(columns), keys

    def rows(self) -> list[dict[str, str]]:
        """All of them, as text."""
        if not self.path.exists():
            return []
        with self.path.open(newline="") as file:
            return list(csv.DictReader(file))

    def find(self, *key: Any) -> dict[str, str] | None:
        """The row of that run; None where it is missing."""
        wanted = [str(value) for value in key]
        return next(
            (row for row in self.rows() if [row[c] for c in self.columns[: self.keys]] == wanted), None
        )

    def remove(self, *key: Any) -> None:
        """Forget that run, where there is one."""
        row = self.find(*key)
        if row is None:
            return
        rest = [other for other in self.rows() if other != row]
        with self.path.open("w", newline="") as file:
            writer = csv.DictWriter(file, self.columns)
            writer.writeheader()
            writer.writerows(rest)

    def add(self, *values: Any) -> None:
        """One more row, printed too."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            csv.writer(file).writerows([self.columns, values] if new else [values])
        print(*values, flush=True)
