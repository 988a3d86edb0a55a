"""Runs as one flat table, one row per evaluation, with the config in columns of its own."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dsebo.config import flat_config
from dsebo.store.rows import RunRow
from dsebo.store.store import Store


def frame(store: Store, ids: Sequence[str]) -> pd.DataFrame:
    """The evaluations of these runs: run_id, t, y, best, d …, then what tells the runs apart."""
    parts = []
    for run_id in ids:
        row = store.get_run(run_id)
        part = store.evaluations(row.id)
        part.insert(0, "run_id", row.id)
        about = pd.DataFrame([_about(row)] * len(part), index=part.index)
        parts.append(pd.concat([part, about], axis=1))
    filled = [part for part in parts if len(part)] or parts
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def export_csv(store: Store, ids: Sequence[str]) -> bytes:
    """As CSV; floats have all their digits."""
    table = frame(store, ids)
    for name in ("name", "tags", "note"):
        if name in table:
            table[name] = table[name].map(_no_formula)
    return table.to_csv(index=False, lineterminator="\n").encode()


def export_parquet(store: Store, ids: Sequence[str]) -> bytes:
    """As Parquet."""
    out = io.BytesIO()
    frame(store, ids).to_parquet(out, index=False, engine="pyarrow")
    return out.getvalue()


def _about(row: RunRow) -> dict[str, Any]:
    """The run in columns. Names of settings are unique over the parts of a config."""
    settings = {**flat_config(row.config), "budget": row.budget, "seed": row.seed}
    forks = row.config.get("forks") or ()
    forked = {"fork_of": forks[-1]["run"], "fork_at": forks[-1]["at"]} if forks else {}
    return {
        "name": row.name,
        "group": row.group,
        "tags": " ".join(row.tags),
        "note": row.note or "",
        "state": row.state,
        "source": row.source,
        "minimum": row.minimum,
        "at_centre": row.at_centre,
        **settings,
        **forked,
    }


def _no_formula(text: str) -> str:
    """A spreadsheet must not take someone's run name for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
