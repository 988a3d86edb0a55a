from __future__ import annotations

import io

import pandas as pd

from dsebo.runs.worker import stored_run
from dsebo.store.store import Store
from dsebo.transfer import export_csv, export_parquet
from tests.small import small


def test_csv_has_a_row_an_evaluation_and_the_config(store: Store, two: list[str]) -> None:
    data = export_csv(store, two)
    frame = pd.read_csv(io.BytesIO(data), float_precision="round_trip")
    assert list(frame.columns[:5]) == ["run_id", "t", "y", "best", "d"]
    assert {"function", "D", "d_e", "beta", "seed", "budget", "method", "seconds_fit"} <= set(frame)
    assert len(frame) == 14 + 4
    mine = frame[frame.run_id == two[0]]
    assert list(mine["y"]) == list(store.evaluations(two[0])["y"])  # every digit
    assert set(mine["D"]) == {50}
    assert set(mine["name"]) == {"'=1+1"}  # no spreadsheet takes it for a formula
    assert frame[frame.run_id == two[1]]["beta"].isna().all()


def test_parquet_is_the_same_table(store: Store, two: list[str]) -> None:
    frame = pd.read_parquet(io.BytesIO(export_parquet(store, two)))
    assert len(frame) == 18
    assert list(frame["y"][:14]) == list(store.evaluations(two[0])["y"])
    assert export_csv(store, [finished_without_evaluations(store)]).startswith(b"run_id,t,y")


def finished_without_evaluations(store: Store) -> str:
    ids: list[str] = []
    events = stored_run(small(), store, on_id=ids.append)
    next(events)
    events.close()
    return ids[0]
