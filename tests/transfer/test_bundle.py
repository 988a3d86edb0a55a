from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dsebo.config import RunConfig
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes, import_path, loading
from tests.small import history, reference, small


def test_a_bundle_imports_again_losslessly(
    store: Store, two: list[str], any_url: str, tmp_path: Path
) -> None:
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
    assert import_bytes(other, data, "bundle.json") == two  # they are there: no second copies
    assert other.count_runs() == 2
    changed = json.loads(data)
    worse = next(one for one in changed["runs"][0]["evaluations"] if one["y"] > one["best"])
    worse["y"] += 1.0
    file = tmp_path / "bundle.json"
    file.write_text(json.dumps(changed))
    saved = import_path(other, file)
    assert saved.ids[0] not in two  # same settings, but it says something else
    assert saved.known == saved.ids[1:] == two[1:]
    assert saved.words == "1 run imported; 1 run is here already"
    assert other.count_runs() == 3
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


def probing(store: Store) -> tuple[bytes, RunConfig]:
    """A run with probes that have been told, in the middle of what follows; as a bundle."""
    config = small(variant="adaptive", blocks=8, probes=8, d_l=17, d_h=30, budget=40)
    ids: list[str] = []
    events = stored_run(config, store, on_id=ids.append)
    for event in events:
        if event.t == 25:
            break
    data = export_json(store, ids)
    events.close()
    return data, config


def test_a_run_that_has_probed_and_moved_blocks_goes_on_to_the_same_history(
    store: Store, tmp_path: Path
) -> None:
    data, config = probing(store)
    other = Store.open(str(tmp_path / "other.db"))
    (run,) = import_bytes(other, data, "b.json")
    list(resumed_run(other, run))
    assert history(other, run) == reference(config)
    other.close()


def test_probes_of_before_0_3_import(store: Store, tmp_path: Path) -> None:
    plain = json.loads(probing(store)[0])
    probed = [event for event in plain["runs"][0]["events"] if event["event"] == "probed"]
    assert len(probed) == 1
    probed[0]["curvatures"] = probed[0].pop("changes")
    other = Store.open(str(tmp_path / "other.db"))
    (run,) = import_bytes(other, json.dumps(plain).encode(), "b.json")
    (event,) = [event for event in other.events(run) if event["event"] == "probed"]
    assert len(event["curvatures"]) == 8
    other.close()


def test_a_point_with_some_of_its_blocks_is_refused(store: Store) -> None:
    plain = json.loads(probing(store)[0])
    evaluation = plain["runs"][0]["evaluations"][-1]
    z = base64.b64decode(evaluation["z"])
    assert len(z) > 8 * 30
    evaluation["z"] = base64.b64encode(z[:-8]).decode()
    with pytest.raises(StoreError, match=r"entries, but d ="):
        import_bytes(store, json.dumps(plain).encode(), "b.json")


def changed(data: bytes, change: Any) -> bytes:
    """A bundle with something changed in its first run."""
    bundle = json.loads(data)
    change(bundle["runs"][0])
    return json.dumps(bundle).encode()


def at(run: Any, i: int, **values: Any) -> None:
    run["evaluations"][i].update(values)


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (lambda r: at(r, 3, y="x"), "evaluations[3].y", r"Input should be a valid number.*\(got 'x'\)"),
        (lambda r: at(r, 3, t=9), "evaluations[3].t", r"4 comes next \(got 9\)"),
        (lambda r: at(r, 2, best=-77.5), "evaluations[2].best", "-77.5 is not the least y"),
        (lambda r: at(r, 2, z="!!"), "evaluations[2].z", "not base64"),
        (lambda r: at(r, 2, z="AAAA"), "evaluations[2].z", "3 bytes"),
        (
            lambda r: at(r, 2, z=base64.b64encode(b"\xff" * 16).decode()),
            "evaluations[2].z",
            "a number in it is not finite",
        ),
        (
            lambda r: at(r, 2, z=base64.b64encode(bytes(8 * 19)).decode()),
            "evaluations[2].z",
            "19 entries, but d = ",
        ),
        (lambda r: at(r, 5, failed=True), "evaluations[5].failed", "it does not agree with y"),
        (lambda r: r.update(budget=3), "budget", "3 is less than"),
        (lambda r: r.update(id="x"), "id", r"\(got 'x'\)"),
        (lambda r: r.update(extra=1), "extra", "Extra inputs are not permitted"),
        (lambda r: r["config"].update(budget=-5), "config", "budget must be a whole number from 2"),
        (lambda r: r["events"][0].update(t=99), "events[0].t", "99 is after the last"),
        (lambda r: r["events"][1].pop("slopes"), "events[1].slopes", "Field required"),
        (lambda r: r.update(checkpoint="{]"), "checkpoint", "not JSON"),
        (lambda r: r.update(tags=["x" * 60]), "tags[0]", ".* at most 50"),
    ],
)
def test_a_broken_bundle_gets_a_sentence_with_the_place(
    store: Store, two: list[str], change: Any, place: str, said: str
) -> None:
    data = changed(export_json(store, two), change)
    start = re.escape(f"b.json, runs[0].{place}: ")
    with pytest.raises(StoreError, match=rf"^{start}.*{said}.*\.$"):
        import_bytes(store, data, "b.json")
    assert store.count_runs() == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "line 1: the file is empty"),
        (b'{\n"format": oops}', "line 2: not JSON"),
        (b"[1, 2]", "not a dsebo bundle"),
        (b'{"format": "dsebo-bundle", "version": 99}', r"version must be 1 \(got 99\)"),
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


FILES_0_1_0 = Path(__file__).parents[1] / "fixtures" / "files_0_1_0"


@pytest.mark.parametrize("name", ["finished", "interrupted", "sweep_evaluations"])
def test_bundles_of_0_1_0_import(store: Store, name: str) -> None:
    file = FILES_0_1_0 / f"{name}.json"
    runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
    ids = import_path(store, file).ids
    assert ids == [run["id"] for run in runs]
    for run in runs:
        row = store.get_run(run["id"])
        assert (row.name, row.state, row.n_done) == (run["name"], run["state"], len(run["evaluations"]))
        assert list(store.evaluations(row.id)["y"]) == [one["y"] for one in run["evaluations"]]
