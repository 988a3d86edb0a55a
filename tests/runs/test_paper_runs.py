"""The bundled runs of the paper's settings: thinned without loss, kept, made only once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dsebo import paper_runs
from dsebo.config import parse_flat
from dsebo.events import Started
from dsebo.paper_runs import ThinRun, complete, paper_configs, read, thin, write
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
    monkeypatch.setattr(paper_runs, "versions", lambda: {"dsebo": "another"})
    complete(file, configs[:1], said.append)
    assert len(said) == 4  # another version of the engine makes its own
    assert [one.version for one in read(file)] == ["another"]


def test_a_stop_in_the_middle_keeps_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert all(isinstance(one, ThinRun) for one in paper_runs.bundled_paper_runs())
