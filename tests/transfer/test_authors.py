from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsebo.expansion import slopes
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run
from dsebo.settings import Settings
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import import_bytes, import_path
from tests.small import small
from tests.transfer.files import DIMS, VALUES, finished, pair, zipped


def test_the_authors_pairs(store: Store) -> None:
    run_id = import_bytes(store, zipped(pair()), "results.zip")[0]
    row = store.get_run(run_id)
    assert (row.function, row.seed, row.n_done, row.best) == ("sphere", 3, 12, 27.0)
    assert (row.state, row.source, row.d) == ("finished", "imported", 21)
    assert row.config["optimizer"]["variant"] == "authors"
    assert row.config["optimizer"]["beta"] == 12
    assert row.config["objective"] | {"D": 100, "d_e": 10} == row.config["objective"]
    assert row.minimum == 0.0
    frame = store.evaluations(run_id)
    assert list(frame["y"]) == VALUES
    assert list(frame["d"]) == [5, *DIMS]
    assert frame["T"].notna().all()
    events = store.events(run_id)
    assert all(event["reconstructed"] is True for event in events)
    grown = [event for event in events if event["event"] == "expanded"]
    assert [(e["t"], e["d_from"], e["d_to"]) for e in grown] == [(5, 5, 13), (9, 13, 21)]
    assert grown[1]["slopes"] == list(slopes((5, 13), (28.8, 27.9)))
    with pytest.raises(StoreError, match="imported without its points"):
        store.point(run_id, 1)
    manager = RunManager(store, Settings(slots=1))
    with pytest.raises(StoreError, match="imported without its points and cannot go on"):
        manager.extend(run_id, 5)
    manager.close()
    assert store.get_run(run_id).budget == 12
    with pytest.raises(StoreError, match="finished"):
        list(resumed_run(store, run_id))


def test_what_the_rules_decide_is_reconstructed_exactly(store: Store) -> None:
    """A run of ours, written as the authors' script would, comes back with its own events."""
    config = small(budget=60, variant="authors", d_l=5, d_h=50, beta=12.0)
    made = finished(store, config)
    frame = store.evaluations(made)
    folder = "r/Sphere-60/50-5/12.0"
    files = pair([repr(y) for y in frame["y"]], list(frame["d"])[1:], folder)
    copy = import_bytes(store, zipped(files), "r.zip")[0]
    back = store.evaluations(copy)
    for name in ("y", "best", "d", "T", "since_gain"):
        assert list(back[name]) == list(frame[name]), name

    def decisions(run_id: str) -> list[Any]:
        return [
            {k: v for k, v in event.items() if k != "reconstructed"}
            for event in store.events(run_id)
            if event["event"] in ("expanded", "converged") and event["t"] < 60  # the files' last
        ]

    assert len(decisions(made)) >= 3
    assert decisions(copy) == decisions(made)


def test_names_folders_and_groups(store: Store, tmp_path: Path) -> None:
    for name, data in {
        **pair(folder="results/Dixon-12/100-10/12.0"),
        **pair(folder="results/Sphere-24/100-10/9"),
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        (file.parent / "notes.txt").write_text("not a result")
        file.with_name(file.name.replace("seed_3", "seed_4")).write_bytes(data)
    ids = import_path(store, tmp_path / "results").ids
    rows = [store.get_run(run_id) for run_id in ids]
    assert sorted((row.function, row.seed) for row in rows) == [
        ("dixon-price", 3),
        ("dixon-price", 4),
        ("sphere", 3),
        ("sphere", 4),
    ]
    assert len({row.group for row in rows}) == 2
    short = next(row for row in rows if row.function == "sphere")
    assert (short.state, short.budget) == ("interrupted", 24)
    assert short.error == "Imported with 12 of 24 evaluations."
    one = import_path(store, tmp_path / "results/Dixon-12/100-10/12.0/seed_4_optNos.csv").ids
    assert store.get_run(one[0]).seed == 4
    savetxt = [f"{d:.18e}" for d in DIMS]
    assert import_bytes(store, zipped(pair(dims=savetxt)), "r.zip")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (pair([*VALUES[:4], "oops", *VALUES[5:]]), r"seed_3_qual.csv, line 5: 'oops' is not a fin"),
        (pair([*VALUES[:4], "nan", *VALUES[5:]]), "line 5: 'nan' is not a finite number"),
        (pair([*VALUES[:4], "1e999", *VALUES[5:]]), "line 5: '1e999' is not a finite number"),
        (pair([*VALUES[:4], "", *VALUES[5:]]), "line 5: '' is not a finite number"),
        (pair(dims=[*DIMS[:6], 3, *DIMS[7:]]), "seed_3_optNos.csv, line 7: d never falls, but goes"),
        (pair(dims=[*DIMS[:6], 7.5, *DIMS[7:]]), "line 7: 7.5 is not a dimension"),
        (pair(dims=[*DIMS[:10], 900]), "line 11: d = 900 is above D = 100"),
        (pair(dims=DIMS[:-1]), "one dimension is needed for each of the 12"),
        (pair(values=[], dims=[]), "line 0: at least 2 values"),
        (pair(folder="results/Unknown-12/100-10/12"), "unknown"),
        (pair(folder="results/Sphere-12/50-100/12"), r"d_e must be .*got 100"),
        (pair(folder="results"), "No result was found: the layout is results/<function>"),
        ({next(iter(pair())): b"1\n2\n"}, "its pair seed_3_optNos.csv is missing"),
        ({**pair(), "results/Sphere-12/100-10/12/seed_4_qual.csv": b"1\n"}, "seed_4"),
    ],
)
def test_broken_pairs(store: Store, files: dict[str, bytes], said: str) -> None:
    with pytest.raises(StoreError, match=said):
        import_bytes(store, zipped(files), "r.zip")
    assert store.count_runs() == 0


def test_paths_in_a_zip_are_only_names(store: Store, tmp_path: Path) -> None:
    import_bytes(store, zipped(pair(folder="../../../x/Sphere-12/100-10/12")), "r.zip")
    assert not list(tmp_path.rglob("*.csv"))
    with pytest.raises(StoreError, match="one file of several: give a zip"):
        import_bytes(store, b"1\n2\n", "seed_1_qual.csv")
    with pytest.raises(StoreError, match="does not say which run it is"):
        import_path(store, tmp_path / "seed_1_qual.csv")
    with pytest.raises(StoreError, match=r"missing\.json cannot be read: No such file"):
        import_path(store, tmp_path / "missing.json")
