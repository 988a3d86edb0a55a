"""The sampler in studies of its own; Optuna's own tests of samplers are in test_optuna_suite.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

optuna = pytest.importorskip("optuna")
from dsebo.integrations.optuna import KEY, DseboSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)
ROOT = Path(__file__).parents[2]


def objective(trial: optuna.Trial) -> float:
    x = [trial.suggest_float(f"x{i}", -1.0, 1.0) for i in range(12)]
    n = trial.suggest_int("n", 1, 100, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    if trial.number == 4:
        raise optuna.TrialPruned
    if trial.number == 6:
        raise FloatingPointError("no value")
    return (x[0] - 0.3) ** 2 + (n - 20) ** 2 / 1e4 + (kind == "a") * 0.01


def run(study: optuna.Study, n: int) -> None:
    study.optimize(objective, n_trials=n, catch=(FloatingPointError,))


def points(study: optuna.Study) -> list[dict[str, float]]:
    return [trial.params for trial in study.trials]


def test_a_study_goes_on_from_its_storage_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    whole = optuna.create_study(sampler=DseboSampler(20))
    run(whole, 12)
    storage = f"sqlite:///{tmp_path}/study.db"
    first = optuna.create_study(study_name="s", storage=storage, sampler=DseboSampler(20))
    run(first, 7)
    code = (
        "import optuna; from tests.integrations.test_optuna import *; "
        f"run(optuna.load_study(study_name='s', storage={storage!r}, sampler=DseboSampler(20)), 5)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert points(optuna.load_study(study_name="s", storage=storage)) == points(whole)


def test_maximizing_is_minimizing_the_negative() -> None:
    up, down = (optuna.create_study(direction=d, sampler=DseboSampler(20)) for d in ("maximize", "minimize"))
    for _ in range(8):
        for study, sign in ((up, -1.0), (down, 1.0)):
            trial = study.ask()
            study.tell(trial, sign * sum(trial.suggest_float(n, 0.0, 1.0) for n in "abcdef"))
    assert points(up) == points(down)


def test_trials_under_way_get_points_of_their_own() -> None:
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in "abcdef"}
    study = optuna.create_study(sampler=DseboSampler(20, search_space=space))
    asked = [study.ask(space) for _ in range(4)]
    assert all(KEY in trial.system_attrs for trial in study.trials)
    for trial in reversed(asked):
        study.tell(trial, trial.params["a"])
    asked += [study.ask(space) for _ in range(3)]
    assert len({tuple(trial.params.values()) for trial in asked}) == 7


def test_an_enqueued_trial_teaches_nothing() -> None:
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in "abcdef"}
    study = optuna.create_study(sampler=DseboSampler(20, search_space=space))
    study.tell(study.ask(space), 1.0)
    study.enqueue_trial({"a": 0.5})  # the others are asked for
    study.tell(study.ask(space), 0.0)
    study.tell(study.ask(space), 0.5)
    assert [trial.system_attrs[KEY]["told"] for trial in study.trials] == [[], [0], []]


def test_it_finds_what_random_search_does_not() -> None:
    best = {}
    for name, sampler in (("dsebo", DseboSampler(40)), ("random", optuna.samplers.RandomSampler(seed=1))):
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda t: sum((t.suggest_float(f"x{i}", -1, 1) - 0.2) ** 2 for i in range(20)), 40)
        best[name] = study.best_value
    assert best["dsebo"] < 0.5 * best["random"]


def test_without_optuna_the_extra_is_named() -> None:
    code = "import sys; sys.modules['optuna'] = None; import dsebo.integrations.optuna"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.splitlines()[-1].endswith("DseboSampler needs Optuna: pip install 'dsebo[optuna]'.")


def test_threads_of_one_study_get_points_of_their_own() -> None:
    space = {name: optuna.distributions.FloatDistribution(-1.0, 1.0) for name in ("a", "b", "c")}
    study = optuna.create_study(sampler=DseboSampler(budget=12, seed=1, search_space=space))
    study.optimize(lambda trial: sum(trial.suggest_float(n, -1, 1) ** 2 for n in space), 12, n_jobs=4)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 12
