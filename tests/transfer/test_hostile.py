"""Files that lie: values below the minimum, times to come, states that are none, texts that are codes."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsebo.config import RunConfig
from dsebo.experiments.records import progress
from dsebo.experiments.spec import ExperimentSpec
from dsebo.paper.comparison import stored_finals
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import owner_hash
from dsebo.store.store import Store
from dsebo.transfer import ImportDesk, import_bytes, loading
from dsebo.transfer.authors import MAX_CENTRE_D
from tests.small import wait_state
from tests.transfer.files import DIMS, VALUES, attempt, pair, rows, zipped

Change = Callable[[dict[str, Any]], object]


def changed(bundle: bytes, change: Change, which: int = 0) -> bytes:
    """The bundle after something was done to one of its runs."""
    whole = json.loads(bundle)
    change(whole["runs"][which])
    return json.dumps(whole).encode()


def _event(**more: Any) -> Change:
    return lambda run: run["events"].append({"event": "split", "t": 1, **more})


def _state(change: Callable[[dict[str, Any]], object]) -> Change:
    def apply(run: dict[str, Any]) -> None:
        state = json.loads(run["checkpoint"])
        change(state)
        run["checkpoint"] = json.dumps(state)

    return apply


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _lower(run: dict[str, Any], y: float = -5002.0) -> None:
    run["evaluations"][-1] |= {"y": y, "best": y}


HOSTILE: dict[str, Change] = {
    "below the minimum": _lower,
    "just below the minimum": lambda run: _lower(run, -2e-9),
    "an empty checkpoint": lambda run: run.update(checkpoint="{}"),
    "a checkpoint of another size": _state(lambda state: state["surrogate"].update(log_params=[1.0])),
    "a checkpoint of texts": _state(lambda state: state["progress"].update(d="seven")),
    "a checkpoint of 5 000 digits": lambda run: run.update(checkpoint='{"progress": %s}' % ("9" * 5000)),
    "a checkpoint of 4 000 digits": lambda run: run.update(checkpoint='{"progress": %s}' % ("9" * 4000)),
    "a checkpoint nested deeply": lambda run: run.update(checkpoint='{"a": ' + "[" * 900 + "]" * 900 + "}"),
    "a checkpoint without points": lambda run: [one.update(z=None) for one in run["evaluations"]],
    "an event nested deeply": _event(text="", more=_nested(200)),
    "a config nested deeply": lambda run: run["config"].update(objective=_nested(400)),
    "a text that is a number": _event(text=5, d_from=1, d_to=2, sizes=[1]),
    "a text that is a list": lambda run: run["events"].append({"event": "other", "t": 1, "text": ["x"]}),
    "a text that is endless": lambda run: run["events"].append(
        {"event": "other", "t": 1, "text": "x" * 10**6}
    ),
    "a split without sizes": _event(text="", d_from=1, d_to=2),
    "a subspace above D": _event(text="", d_from=1, d_to=2**31 - 1, sizes=[1]),
    "an event of 1e308": _event(text="", d_from=1, d_to=2, sizes=[1], more=1e308),
    "values of 1e308": lambda run: run["evaluations"][0].update(y=1e308, best=1e308),
    "a centre of -1e308": lambda run: run.update(at_centre=-1e308),
    "versions that are numbers": lambda run: run.update(versions={"dsebo": 1}),
    "a time before 1970": lambda run: run.update(created=-1.0),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_lies_is_refused(store: Store, bundle: bytes, name: str) -> None:
    before = rows(store)
    found, words = attempt(store, changed(bundle, HOSTILE[name]), "x.json")
    assert not found
    assert words.startswith("x.json, ")
    assert len(words) < 400
    assert rows(store) == before


def test_times_to_come_are_now(store: Store, bundle: bytes) -> None:
    data = changed(bundle, lambda run: run.update(created=1e10, started=9e9, finished=1e11))
    row = store.get_run(import_bytes(store, data, "x.json")[0])
    assert all(
        abs(at - time.time()) < 60 for at in (row.created, row.started, row.finished) if at is not None
    )


def test_control_characters_do_not_come_in(store: Store, bundle: bytes) -> None:
    def colour(run: dict[str, Any]) -> None:
        run["name"] = run["error"] = "a\x1b[31mb\x9b\u202ec"
        run["events"].append({"event": "other", "t": 1, "text": "\x1b]0;title\x07", "more": ["\x00"]})
        run["versions"] = {"dsebo\x1b": "1\x1b"}

    run_id = import_bytes(store, changed(bundle, colour), "x.json")[0]
    row = store.get_run(run_id)
    kept = [row.name, row.error or "", json.dumps(store.versions(run_id)), str(store.events(run_id)[-1])]
    for text in kept:
        assert not any(c in text for c in "\x1b\x9b\x00\x07\u202e"), text
    assert row.error == "a [31mb  c"


def test_the_minimum_is_the_functions_own(store: Store, bundle: bytes) -> None:
    run_id = import_bytes(store, changed(bundle, lambda run: run.update(minimum=-77.0)), "x.json")[0]
    assert store.get_run(run_id).minimum == 0.0


def test_pairs_below_the_minimum(store: Store) -> None:
    found, words = attempt(store, zipped(pair([-1.0, *VALUES[1:]])), "x.zip")
    assert not found
    assert "line 1: -1 is below the minimum of sphere" in words


def test_the_centre_of_a_large_box_is_not_evaluated(store: Store) -> None:
    folder = f"results/Sphere-12/{10 * MAX_CENTRE_D}-10/12"
    files: dict[str, bytes] = {}
    for seed in range(100):
        one = pair(VALUES, DIMS, folder)
        files |= {name.replace("seed_3", f"seed_{seed}"): data for name, data in one.items()}
    ids = import_bytes(store, zipped(files), "x.zip")
    assert len(ids) == 100
    assert store.get_run(ids[0]).at_centre is None
    assert store.get_run(ids[0]).minimum == 0.0


# --- what is imported is not a result ----------------------------------------------------------


def test_an_import_is_no_run_of_an_experiment(store: Store, bundle: bytes) -> None:
    run_id = import_bytes(store, bundle, "x.json")[0]
    config = RunConfig.from_json(store.get_run(run_id).config_json)
    spec = ExperimentSpec.parse(
        {
            "base": {**config.given(), "seed": 1},
            "axes": {"K": [config.setting("K"), 5.0]},
            "seeds": [config.seed],
        }
    )
    assert list(progress(store, spec)["state"]) == ["missing", "missing"]
    import_bytes(store, bundle, "x.json", source="bundled")
    assert "finished" in set(progress(store, spec)["state"])


def test_an_import_does_not_fill_the_paper(store: Store) -> None:
    values = [30.0 - 0.01 * i for i in range(500)]
    files = pair(values, [5] * 499, "results/Sphere-500/1000-30/12")
    import_bytes(store, zipped(files), "x.zip")
    assert stored_finals(store, ["Sphere"]) == []
    import_bytes(store, zipped(files), "x.zip", source="bundled")
    assert len(stored_finals(store, ["Sphere"])) == 1


def test_an_import_joins_no_group(manager: RunManager, store: Store, bundle: bytes) -> None:
    own = manager.launch(RunConfig.from_json(store_config(bundle)).seeds(1))[0]
    group = store.get_run(own).group
    run_id = import_bytes(store, changed(bundle, lambda run: run.update(group=group)), "x.json")[0]
    assert store.get_run(run_id).group != group
    wait_state(store, own, "finished")


def store_config(bundle: bytes) -> str:
    return json.dumps(json.loads(bundle)["runs"][1]["config"])


# --- the limits of an owner --------------------------------------------------------------------


def test_limits_of_a_day(store: Store, bundle: bytes) -> None:
    settings = Settings.parse({"limits": {"imports": {"runs": 5}}})
    for _ in range(2):
        ImportDesk().take(store, settings, bundle, "x.json", "anna")
    desk = ImportDesk()  # as of a server that was started again
    with pytest.raises(LimitExceeded, match="6 imported runs within a day are over the limit of 5"):
        desk.take(store, settings, bundle, "x.json", "anna")
    assert len(desk.take(store, settings, bundle, "x.json", "ben").ids) == 2
    owned = [row.owner == owner_hash("anna") for row in store.list_runs()]
    assert owned == [True, True]  # the same file again: the runs are there


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"imports": {"evaluations": 10}}, "imported evaluations within a day are over the limit of 10"),
        ({"imports": {"mb": 0.001}}, "imported MB within a day are over the limit of 0.001"),
        ({"owner": {"budget": 2}}, "within the limit of 2 evaluations"),
        ({"owner": {"D": 3}}, "within the limit of 3"),
    ],
)
def test_what_an_owner_may_not_launch_may_not_be_imported(
    store: Store, bundle: bytes, limits: dict[str, Any], words: str
) -> None:
    with pytest.raises(LimitExceeded, match=words):
        ImportDesk().take(store, Settings.parse({"limits": limits}), bundle, "x.json", "anna")
    assert store.count_runs() == 0


def test_a_class_uploads_5_mb_at_most(store: Store) -> None:
    settings = Settings(mode="class")
    assert settings.import_limits.upload_mb == 5
    with pytest.raises(StoreError, match=r"5\.1 MB, over the limit of 5 MB"):
        ImportDesk().take(store, settings, b" " * 5_100_000, "x.json", "anna")


def test_what_a_zip_unpacks_to_counts_for_the_day(store: Store) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.json", b" " * 26_000_000)
    assert len(packed.getvalue()) < 50_000
    with pytest.raises(LimitExceeded, match="26 imported MB within a day are over the limit of 25"):
        ImportDesk().take(store, Settings(mode="class"), packed.getvalue(), "x.zip", "anna")


def test_nobody_means_a_whole_disk(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_LOOKED_AT", 3)
    for name in "abcde":
        (tmp_path / name).touch()
    with pytest.raises(StoreError, match="holds 4 files, over the limit of 3"):
        loading.import_path(store, tmp_path)
