"""The bundled runs of the paper's settings: thinned without loss, kept, made only once."""

from __future__ import annotations

from importlib.resources import files
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from dsebo.config import RunConfig, parse_flat
from dsebo.events import Evaluated, Started
from dsebo.paper import bundled as paper_runs
from dsebo.paper.bundled import NAME, bundled_paper_runs, complete, paper_configs, read, thin, write
from dsebo.run import run

SMALL = {"D": 50, "d_e": 8, "d_h": 20, "budget": 30, "beta": 6.0}
QUICK = {"D": 50, "d_e": 8, "budget": 30, "method": "random"}


def test_a_thin_run_has_the_curves_of_the_whole_one() -> None:
    events = list(run(parse_flat(SMALL)))
    evaluated = [event for event in events if event.kind == "evaluated"]
    kept = thin(events)
    best = np.array([event.best for event in evaluated])
    np.testing.assert_allclose(kept.best_curve(), best, rtol=1e-5)
    assert list(kept.dimension_curve()) == [event.d for event in evaluated]
    assert kept.best == evaluated[-1].best
    assert (kept.evaluations, kept.config["seed"], kept.minimum) == (30, 1, 0.0)
    assert len(kept.bests) < 30


def test_a_run_that_did_not_finish_is_not_kept() -> None:
    events = [event for event in run(parse_flat(SMALL)) if event.kind != "finished"]
    with pytest.raises(RuntimeError, match="did not finish"):
        thin(events)
    with pytest.raises(RuntimeError):
        thin([event for event in events if isinstance(event, Started)])


def test_what_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs.json.gz"
    configs = [parse_flat({**QUICK, "seed": seed}) for seed in (1, 2, 3)]
    said: list[str] = []
    complete(file, configs[:2], said.append)
    assert len(said) == 2
    first = read(file)
    complete(file, configs, said.append)
    assert len(said) == 3  # only the third was made
    assert said[2].startswith("3 of 3: sphere, D = 50, seed 3: best ")
    assert read(file)[:2] == first
    complete(file, configs[:1], said.append, again=True)
    assert len(said) == 4
    monkeypatch.setattr(type(configs[0].optimizer), "arithmetic", 2)
    complete(file, configs[:1], said.append)
    assert len(said) == 5  # another arithmetic makes its own
    assert [one.arithmetic for one in read(file)] == ["1.2"]


def test_a_stop_in_the_middle_keeps_what_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs.json.gz"
    configs = [parse_flat({**QUICK, "seed": seed}) for seed in (1, 2)]
    made = iter([list(run(configs[0]))])
    monkeypatch.setattr(paper_runs, "run", lambda config: next(made))
    with pytest.raises(StopIteration):
        complete(file, configs, lambda text: None)
    assert [one.config["seed"] for one in read(file)] == [1]


def test_no_file_means_no_runs(tmp_path: Path) -> None:
    assert read(tmp_path / "none.gz") == []
    write(tmp_path / "none.gz", [])
    assert read(tmp_path / "none.gz") == []


def test_the_papers_settings_are_120() -> None:
    configs = paper_configs()
    assert len(configs) == 120
    assert len({config.to_json() for config in configs}) == 120
    assert {config.objective.D for config in configs} == {1000, 10_000}
    assert {config.budget for config in configs} == {500}


def test_the_bundle_is_whole_and_small() -> None:
    runs = bundled_paper_runs()
    assert [one.config for one in runs] == [c.model_dump(mode="json") for c in paper_configs()]
    assert {one.evaluations for one in runs} == {500}
    assert all(one.best_curve()[-1] == pytest.approx(one.best, rel=1e-5) for one in runs)
    assert all(0 < one.seconds < 120 for one in runs)
    assert (files("dsebo.data") / NAME).stat().st_size < 1.5e6  # type: ignore[attr-defined]


def test_a_bundled_run_is_what_the_engine_gives() -> None:
    """The first evaluations of one of them, run again; later ones hang on the last bits."""
    bundled = bundled_paper_runs()[0]
    events = islice(run(RunConfig.parse(bundled.config)), 8)
    best = [event.best for event in events if isinstance(event, Evaluated)]
    np.testing.assert_allclose(bundled.best_curve()[: len(best)], best, rtol=1e-3)
