"""One run as it is shown: its row, its evaluations and what happened, up to a chosen t."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from dsebo.analysis.conclusions import conclude_run, ending_of
from dsebo.events import Finished, Probed, Started
from dsebo.store.errors import NotFound
from dsebo.store.rows import RunRow
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store

CHANGES = ("expanded", "converged")  # the decisions of Algorithm 1


@dataclass(frozen=True)
class RunData:
    """A run, whole or as it stood after evaluation t."""

    row: RunRow
    evaluations: pd.DataFrame
    events: list[dict[str, Any]]

    @cached_property
    def t(self) -> int:
        """The last evaluation."""
        return int(self.evaluations["t"].iloc[-1]) if len(self.evaluations) else 0

    @cached_property
    def best(self) -> float | None:
        """The best value so far."""
        if not len(self.evaluations):
            return None
        best = self.evaluations["best"].iloc[-1]
        return None if pd.isna(best) else float(best)

    @property
    def started(self) -> dict[str, Any] | None:
        """What it began with; None before that."""
        return next((event for event in self.events if event["event"] == Started.kind), None)

    @cached_property
    def changes(self) -> list[dict[str, Any]]:
        """The convergences, oldest first: each carries every number of Algorithm 1."""
        return [event for event in self.events if event["event"] in CHANGES]

    @property
    def others(self) -> list[dict[str, Any]]:
        """What other methods report: splits, restarts, arms."""
        known = {*CHANGES, "started", "finished", "evaluated", "forked"}
        return [event for event in self.events if event["event"] not in known]

    @cached_property
    def d(self) -> int | None:
        """The dimension that the next point is chosen in."""
        if self.changes and self.changes[-1]["t"] >= self.t:
            return int(self.changes[-1]["d_to"])
        return self._last("d")

    @property
    def visited(self) -> list[int]:
        """The dimensions that it has come to, the next one among them."""
        dims = {int(d) for d in self.evaluations["d"].dropna().unique()}
        return sorted(dims | {change["d_to"] for change in self.changes})

    @cached_property
    def patience(self) -> tuple[int, int] | None:
        """(evaluations since the last gain, T), as they stand now."""
        if self.changes and self.changes[-1]["t"] >= self.t:
            return 0, int(self.changes[-1]["T_after"])
        since, T = self._last("since_gain"), self._last("T")
        return None if since is None or T is None else (since, T)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of itself."""
        return self.row.state not in ACTIVE

    def _last(self, column: str) -> int | None:
        if not len(self.evaluations):
            return None
        value = self.evaluations[column].iloc[-1]
        return None if pd.isna(value) else int(value)

    @property
    def conclusion(self) -> str:
        """What the run amounts to, with what was out of reach where the floor is known."""
        if not len(self.evaluations):
            return ""
        last = {"t": self.t, "best": self.best, "d": self._last("d"), **self._told()}
        floor = self.evaluations["floor"].iloc[-1] if "floor" in self.evaluations else None
        reachable = {} if pd.isna(floor) or last["d"] is None else {int(last["d"]): float(floor)}
        row, failures = self.row, list(self.evaluations.loc[self.evaluations["failed"], "error"])
        return conclude_run(
            ending_of(
                row.config, last, self.changes, row.at_centre, row.minimum, row.budget, reachable, failures
            )
        )

    def _told(self) -> dict[str, Any]:
        """What the end of the run says where noise was declared, and its probes, if any."""
        last = {event["event"]: event for event in self.events}
        ended, probed = last.get(Finished.kind, {}), last.get(Probed.kind, {})
        return {**{name: ended.get(name) for name in ("incumbent", "expected")}, "probed": probed.get("most")}

    def until(self, t: int) -> RunData:
        """The run as it stood after evaluation t."""
        return replace(
            self,
            evaluations=self.evaluations[self.evaluations["t"] <= t],
            events=[event for event in self.events if event["t"] <= t],
        )

    def config_at(self, t: int) -> dict[str, Any]:
        """The config that decided at evaluation t: before a fork, that of its parent."""
        if not self.row.config.get("forks"):
            return self.row.config
        return self.row.parsed.at(t).model_dump(mode="json")

    def chosen(self, t: int | None) -> dict[str, Any] | None:
        """The convergence at evaluation t; the newest where there is none."""
        here = [event for event in self.changes if event["t"] == t]
        return here[0] if here else (self.changes[-1] if self.changes else None)


def read_ghost(store: Store, row: RunRow) -> RunData | None:
    """The run that is drawn behind another; None where it has none, or it is gone."""
    try:
        ghost = None if row.ghost is None else read_run(store, row.ghost)
    except NotFound:
        return None
    return None if ghost is None or ghost.row.deleted_at is not None else ghost


def read_run(store: Store, run_id: str) -> RunData:
    """A run from the store, whole."""
    row = store.get_run(run_id)
    return RunData(row, store.evaluations(row.id), store.events(row.id))
