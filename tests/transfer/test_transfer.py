from __future__ import annotations

import base64
import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dsebo.expansion import slopes
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.settings import Settings
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import (
    export_csv,
    export_json,
    export_optuna,
    export_parquet,
    import_bytes,
    import_path,
    loading,
)
from dsebo.transfer.locate import line_of
from tests.small import history, reference, small


def finished(store: Store, config: Any, **more: Any) -> str:
    ids: list[str] = []
    list(stored_run(config, store, on_id=ids.append, **more))
    return ids[0]


# -- tables ---------------------------------------------------------------------------------


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


def test_optuna_study(store: Store, two: list[str], tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    file = tmp_path / "study.db"
    names = export_optuna(store, two, str(file))
    study = optuna.load_study(study_name=names[0], storage=f"sqlite:///{file}")
    frame = store.evaluations(two[0])
    assert study.best_value == store.get_run(two[0]).best
    assert [trial.value for trial in study.trials] == list(frame["y"])
    assert [len(trial.params) for trial in study.trials] == list(frame["d"])
    other = optuna.load_study(study_name=names[1], storage=f"sqlite:///{file}")
    assert other.trials[2].params["x_7"] == store.point(two[1], 3)[6]
    with pytest.raises(StoreError, match="already holds a study"):
        export_optuna(store, two, str(file))


def test_optuna_is_optional(store: Store, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(StoreError, match=r"pip install 'dsebo\[optuna\]'"):
        export_optuna(store, [], str(tmp_path / "x.db"))


# -- the bundle -----------------------------------------------------------------------------


def test_a_bundle_imports_again_losslessly(store: Store, two: list[str], any_url: str) -> None:
    if any_url.startswith("sqlite"):
        any_url = any_url.replace("runs.db", "other.db")
    other = Store.open(any_url)
    data = export_json(store, two)
    assert import_bytes(other, data, "bundle.json") == two  # the ids are kept where they are free
    assert export_json(other, two) == data
    for run_id in two:
        assert history(other, run_id) == history(store, run_id)
        assert other.get_run(run_id).source == "imported"
        assert (other.point(run_id, 2) == store.point(run_id, 2)).all()
    again = import_bytes(other, data, "bundle.json")
    assert set(again).isdisjoint(two)
    assert other.count_runs() == 4
    assert json.loads(data)["runs"][0]["name"] == "=1+1"
    assert b"owner" not in data
    other.close()


def test_an_imported_run_goes_on_to_the_same_history(store: Store, tmp_path: Path) -> None:
    config = small(budget=14)
    ids: list[str] = []
    events = stored_run(config, store, on_id=ids.append)
    for event in events:
        if event.t == 6:
            break
    data = export_json(store, ids)  # at work: it comes in as interrupted
    events.close()
    other = Store.open(str(tmp_path / "other.db"))
    assert import_bytes(other, data, "b.json") == ids
    assert other.get_run(ids[0]).state == "interrupted"
    list(resumed_run(other, ids[0]))
    assert history(other, ids[0]) == reference(config)
    other.close()


def changed(data: bytes, change: Any) -> bytes:
    """A bundle with something changed in its first run, laid out as the store writes it."""
    bundle = json.loads(data)
    change(bundle["runs"][0])
    return json.dumps(bundle, indent=1).encode()


def at(run: Any, i: int, **values: Any) -> None:
    run["evaluations"][i].update(values)


@pytest.mark.parametrize(
    ("change", "said", "field"),
    [
        (lambda r: at(r, 3, y="x"), "evaluations.3.y = 'x' is not allowed", '"y": "x"'),
        (lambda r: at(r, 3, t=9), "t = 9 is not allowed: 4 comes next", '"t": 9'),
        (lambda r: at(r, 2, best=-77.5), "best = -77.5 is not the least y", '"best": -77.5'),
        (lambda r: at(r, 2, z="!!"), "z is not base64", '"z": "!!"'),
        (lambda r: at(r, 2, z="AAAA"), "z has 3 bytes", '"z": "AAAA"'),
        (
            lambda r: at(r, 2, z=base64.b64encode(b"\xff" * 16).decode()),
            "z holds a number that is not finite",
            '"z": "////',
        ),
        (
            lambda r: at(r, 2, z=base64.b64encode(bytes(8 * 19)).decode()),
            "z has 19 entries, d = ",
            '"z": "AAAAA',
        ),
        (lambda r: at(r, 5, failed=True), "failed does not agree with y", '"failed": true'),
        (lambda r: r.update(budget=3), "budget = 3 is less than", '"budget": 3'),
        (lambda r: r.update(id="x"), "id = 'x' is not allowed", '"id": "x"'),
        (lambda r: r.update(extra=1), "extra = 1 is not allowed: Extra inputs", '"extra": 1'),
        (lambda r: r["config"].update(budget=-5), "budget = -5 is not allowed", '"config"'),
        (lambda r: r["events"][0].update(t=99), "t = 99 is after the last", '"t": 99'),
        (lambda r: r["events"][1].pop("slopes"), "slopes = .* is not allowed: Field req", None),
        (lambda r: r.update(checkpoint="{]"), "the checkpoint is not JSON", '"checkpoint": "{]"'),
        (lambda r: r.update(tags=["x" * 60]), "tags.0 = .* at most 50", '"xxxxx'),
    ],
)
def test_a_broken_bundle_gets_a_sentence_with_the_line(
    store: Store, two: list[str], change: Any, said: str, field: str | None
) -> None:
    data = changed(export_json(store, two), change)
    lines = data.decode().splitlines()
    with pytest.raises(StoreError, match=rf"^b\.json, line \d+: .*{said}.*\.$") as caught:
        import_bytes(store, data, "b.json")
    line = int(str(caught.value).split("line ")[1].split(":")[0])
    assert field is None or field in lines[line - 1]
    assert store.count_runs() == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "line 1: the file is empty"),
        (b'{\n"format": oops}', "line 2: not JSON"),
        (b"[1, 2]", "not a dsebo bundle"),
        (b'{"format": "dsebo-bundle", "version": 99}', "version = 99 of the bundle is not allowed"),
        (b'{"format": "dsebo-bundle", "version": 1, "runs": []}', "1 to 10000 runs"),
        (b"\x80\x04\x95cposix\nsystem\n", "line 1: not JSON"),  # a pickle is just bytes
        (b"[" * 100_000, "line 1: not JSON"),
        (b"\xff\xfe\x00", "line 1: not JSON"),
    ],
)
def test_what_is_no_bundle(store: Store, data: bytes, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        import_bytes(store, data, "../../etc/passwd.json")
    assert store.count_runs() == 0


def test_sizes_are_limited(store: Store, monkeypatch: Any, two: list[str]) -> None:
    data = export_json(store, two)
    monkeypatch.setattr(loading, "MAX_BYTES", 1000)
    with pytest.raises(StoreError, match=r"b\.json has 0\.0 MB, over the limit of 0 MB"):
        import_bytes(store, data, "b.json")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b" " * 100_000)
    assert len(bomb.getvalue()) < 1000
    with pytest.raises(StoreError, match="over the limit"):
        import_bytes(store, bomb.getvalue(), "bomb.zip")


def test_line_of() -> None:
    text = '{"a": [1,\n {"b": "x,]}\\"", "c":\n [null]}],\n"d": {}}'
    assert line_of(text, ()) == 1
    assert line_of(text, ("a", 0)) == 1
    assert line_of(text, ("a", 1)) == 2
    assert line_of(text, ("a", 1, "c", 0)) == 3
    assert line_of(text, ("a", 1, "missing")) == 2
    assert line_of(text, ("d",)) == 4


# -- the authors' files -----------------------------------------------------------------------

VALUES = [30.0, 29.0, 28.9, 28.8, 28.8, 28.8, 28.0, 27.9, 27.9, 27.9, 27.0, 27.0]
DIMS = [5, 5, 5, 5, 13, 13, 13, 13, 21, 21, 21]


def pair(
    values: Any = VALUES, dims: Any = DIMS, folder: str = "results/Sphere-12/100-10/12"
) -> dict[str, bytes]:
    return {
        f"{folder}/seed_3_qual.csv": "".join(f"{v}\n" for v in values).encode(),
        f"{folder}/seed_3_optNos.csv": "".join(f"{d}\n" for d in dims).encode(),
    }


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


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
    ids = import_path(store, tmp_path / "results")
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
    one = import_path(store, tmp_path / "results/Dixon-12/100-10/12.0/seed_4_optNos.csv")
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
        (pair(dims=[*DIMS[:6], 3, *DIMS[7:]]), "seed_3_optNos.csv, line 7: d = 3 is not allowed"),
        (pair(dims=[*DIMS[:6], 7.5, *DIMS[7:]]), "line 7: 7.5 is not a dimension"),
        (pair(dims=[*DIMS[:10], 900]), "line 11: d = 900 is above D = 100"),
        (pair(dims=DIMS[:-1]), "10 dimensions are not allowed: one for each of the 12"),
        (pair(values=[], dims=[]), "line 0: at least 2 values"),
        (pair(folder="results/Unknown-12/100-10/12"), "unknown"),
        (pair(folder="results/Sphere-12/50-100/12"), "d_e = 100 is not allowed"),
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
