"""A run: reproducible, resumable at any point, alone or beside others, whatever f does."""

import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import torch

from dsebo.config import RunConfig, config_hash
from dsebo.events import Converged, Evaluated, Event, Expanded, Finished, Forked, Started
from dsebo.gp.incumbent import incumbent
from dsebo.run import MAX_FAILURES_IN_A_ROW, Runner, make_optimizer, run
from dsebo.threads import one_thread
from objectives import Objective
from objectives.fields import ConfigError
from tests.conformance import history, play, through_json

CONFIG = RunConfig.parse(
    {
        "objective": {"name": "levy", "D": 60, "d_e": 6},
        "optimizer": {"beta": 3, "d_l": 2, "d_h": 20},
        "budget": 40,
        "seed": 5,
    }
)


def test_the_order_of_events() -> None:
    events = list(run(CONFIG))
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    evaluated = [event for event in events if isinstance(event, Evaluated)]
    assert [event.t for event in evaluated] == list(range(1, 41))
    assert [event.best for event in evaluated] == list(np.minimum.accumulate([e.y for e in evaluated]))
    for place, event in enumerate(events):
        if isinstance(event, Expanded):
            before = events[place - 1]
            assert isinstance(before, Evaluated)
            assert (before.t, before.d, before.since_gain) == (event.t, event.d_from, event.T_before)


def test_the_seconds_of_a_step_add_up() -> None:
    for event in run(CONFIG):
        if isinstance(event, Evaluated):
            parts = (event.seconds_fit, event.seconds_acq, event.seconds_eval, event.seconds_other)
            assert all(part >= 0 for part in parts)
            assert sum(parts) == pytest.approx(event.seconds)


def test_resume_before_at_and_after_every_expansion() -> None:
    whole = list(run(CONFIG))
    cuts = {e.t + shift for e in whole if isinstance(e, Expanded) for shift in (-1, 0, 1)}
    assert len(cuts) >= 6
    for cut in sorted(cuts):
        first = Runner.from_config(CONFIG)
        before = play(first, cut)
        second = Runner.from_config(CONFIG, through_json(first.state_dict()))
        assert history(before + play(second, 1000)) == history(whole), f"cut after {cut}"


def test_the_same_history_in_another_process() -> None:
    code = (
        "import sys, hashlib, json\n"
        "from dsebo.config import RunConfig; from dsebo.run import run\n"
        "from dsebo.events import Evaluated\n"
        "c = RunConfig.from_json(sys.stdin.read())\n"
        "es = [e for e in run(c) if isinstance(e, Evaluated)]\n"
        "print(json.dumps([[e.t, e.z.tobytes().hex(), e.y, e.d] for e in es]))\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], input=CONFIG.to_json(), capture_output=True, text=True, check=True
    )
    here = [e for e in run(CONFIG) if isinstance(e, Evaluated)]
    assert json.loads(other.stdout) == [[e.t, e.z.tobytes().hex(), e.y, e.d] for e in here]


def test_two_runs_at_once_give_what_each_gives_alone() -> None:
    configs = [CONFIG, CONFIG.with_seed(6), CONFIG.with_seed(7)]
    alone = [history(list(run(config))) for config in configs]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda config: history(list(run(config))), configs))
    assert together == alone


def test_the_global_generators_are_not_touched() -> None:
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  (it is the global one that must stay as it is)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[index,union-attr]  # noqa: NPY002
    list(run(CONFIG))
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


def test_embedding_seed_changes_S_alone() -> None:
    plain = CONFIG.model_dump(mode="json")
    plain["optimizer"]["embedding_seed"] = 99
    other = Runner.from_config(RunConfig.parse(plain))
    same = Runner.from_config(CONFIG)
    assert other.optimizer.checksum() != same.optimizer.checksum()
    assert np.array_equal(other.optimizer.ask().z, same.optimizer.ask().z)


class Faulty(Objective):
    """Fails as told: by raising, by NaN or by infinity."""

    name = "faulty"
    dimension = 60

    def __init__(self, failing: set[int]) -> None:
        self.failing, self.calls = failing, 0

    def evaluate(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls in self.failing:
            if self.calls % 3 == 0:
                raise RuntimeError("the simulator has crashed")
            return torch.full((len(x),), math.nan if self.calls % 3 == 1 else math.inf)
        return x[:, :6].square().sum(dim=-1)


def with_faults(failing: set[int]) -> Runner:
    runner = Runner.from_config(CONFIG)
    runner.objective = Faulty(failing)
    return runner


def test_failures_spend_budget_but_no_patience() -> None:
    events = play(with_faults({1, 2, 9, 10, 11}))
    evaluated = [event for event in events if isinstance(event, Evaluated)]
    assert [event.t for event in evaluated if event.failed] == [1, 2, 9, 10, 11]
    assert evaluated[8].since_gain == evaluated[9].since_gain == evaluated[10].since_gain
    assert evaluated[8].error == "RuntimeError: the simulator has crashed"
    assert math.isinf(evaluated[1].best)
    assert not np.array_equal(evaluated[0].z, evaluated[1].z)  # the first point is drawn again


def test_ten_failures_in_a_row_end_the_run() -> None:
    runner = with_faults(set(range(6, 100)))
    play(runner, 1000)
    assert runner.t == 5 + MAX_FAILURES_IN_A_ROW
    ending = runner.finished()
    assert ending.state == "failed"
    assert "10 evaluations in a row failed" in ending.text
    assert "crashed" in ending.text


def test_failures_in_a_row_are_counted_across_a_resume() -> None:
    runner = with_faults(set(range(6, 100)))
    play(runner, 12)
    resumed = Runner.from_config(CONFIG, through_json(runner.state_dict()))
    assert resumed.failures_in_a_row == 7
    assert resumed.best == runner.best


def test_a_longer_budget_goes_on_with_the_patience_of_the_first() -> None:
    first = Runner.from_config(CONFIG)
    play(first, CONFIG.budget)
    longer = Runner.from_config(CONFIG, through_json(first.state_dict()), budget=50)
    events = [event for event in play(longer) if isinstance(event, Evaluated)]
    assert [event.t for event in events] == list(range(41, 51))
    assert longer.optimizer.strategy.budget == 40  # type: ignore[attr-defined]


def test_one_thread_is_restored() -> None:
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
        with one_thread():
            pass
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("variant", ["paper", "authors"])
def test_golden_decisions(variant: str) -> None:
    """Decisions, not floats: the dimensions of a small run with this seed."""
    plain = CONFIG.model_dump(mode="json")
    config = RunConfig.parse({**plain, "optimizer": {"beta": 3, "d_l": 2, "d_h": 20, "variant": variant}})
    steps = [(e.d_from, e.d_to, e.T_after) for e in run(config) if isinstance(e, Expanded)]
    assert steps[0] == {"paper": (2, 8, 6), "authors": (2, 14, 22)}[variant]
    assert all(a[1] == b[0] for a, b in pairwise(steps))


def convergences(events: list[Event]) -> list[Converged]:
    return [event for event in events if isinstance(event, Converged)]


PARENT = "a" * 32


def test_a_fork_with_nothing_changed_is_the_run_itself() -> None:
    whole = list(run(CONFIG))
    for point in convergences(whole):
        fork = list(run(CONFIG.forked(PARENT, None, point.t)))
        forked = [event for event in fork if isinstance(event, Forked)]
        assert [(event.t, event.parent, event.before) for event in forked] == [(point.t, PARENT, {})]
        assert history([event for event in fork if event not in forked]) == history(whole)


def test_a_fork_of_a_fork_with_nothing_changed_is_the_run_itself() -> None:
    whole = list(run(CONFIG))
    first, second, *_ = convergences(whole)
    fork = list(run(CONFIG.forked(PARENT, None, first.t).forked("b" * 32, None, second.t)))
    assert history([event for event in fork if not isinstance(event, Forked)]) == history(whole)


def test_a_fork_goes_where_it_is_sent_and_back_comes_the_strategy() -> None:
    whole = list(run(CONFIG))
    point = convergences(whole)[1]
    for decide in (0, 1, 9, 20):
        fork = list(run(CONFIG.forked(PARENT, None, point.t, decide)))
        cut = next(i for i, event in enumerate(whole) if event is point)
        assert history(fork[:cut]) == history(whole[:cut])
        decided = convergences(fork)[1]
        assert (decided.t, decided.delta_after, decided.ruled) == (point.t, decide, point.delta_after)
        assert decided.d_to == min(point.d_from + decide, 20)
        assert decided.T_after == point.T_after
        after = [event for event in fork if isinstance(event, Evaluated) and event.t == point.t + 1]
        assert after[0].d == decided.d_to
        assert all(later.delta_before is not None for later in convergences(fork)[2:])


def test_changed_settings_hold_from_the_fork_on() -> None:
    point = convergences(list(run(CONFIG)))[1]
    changes = {"beta": 1.5, "alpha": 0.01, "kernel": "rbf", "budget": 60}
    fork = CONFIG.forked(PARENT, None, point.t, None, changes)
    runner = Runner.from_config(fork)
    events = play(runner, 1000)
    again = convergences(events)[1]
    assert again.delta_after == point.delta_after  # it goes on from its present value
    assert again.T_after == fork.optimizer.strategy(60).next_patience(point.d_from, again.d_to)  # type: ignore[attr-defined]
    assert runner.t == 60
    assert runner.optimizer.surrogate.settings.kernel == "rbf"  # type: ignore[attr-defined]
    for cut in (point.t - 1, point.t, point.t + 1):
        first = Runner.from_config(fork)
        before = play(first, cut)
        second = Runner.from_config(fork, through_json(first.state_dict()))
        assert history(before + play(second, 1000)) == history(events), f"cut after {cut}"


def test_a_model_that_changes_in_a_fork_is_fitted_at_once() -> None:
    plain = CONFIG.model_dump(mode="json")
    seldom = RunConfig.parse({**plain, "optimizer": {**plain["optimizer"], "refit_every": 0.9}})
    point = convergences(list(run(seldom)))[1]
    for changes, at_once in (({"targets": "centred"}, True), ({"kappa_scale": 1.0}, False)):
        runner = Runner.from_config(seldom.forked(PARENT, None, point.t, 0, changes))
        play(runner, point.t)
        runner.optimizer.ask()
        assert (runner.optimizer.surrogate.n_fitted == point.t) == at_once  # type: ignore[attr-defined]


def test_a_fork_between_our_rules_and_the_papers_goes_on_and_resumes() -> None:
    plain = CONFIG.model_dump(mode="json")
    ours = RunConfig.parse({**plain, "optimizer": {"variant": "adaptive", "beta": 3, "d_l": 2, "d_h": 20}})
    point = convergences(list(run(ours)))[1]
    changes = {"lengthscales": "per-dimension", "region": False, "acquisition": "bound", "growth": "patience"}
    fork = ours.forked(PARENT, None, point.t, None, changes)
    whole = play(Runner.from_config(fork), 40)
    first = Runner.from_config(fork)
    before = play(first, point.t + 1)
    second = Runner.from_config(fork, through_json(first.state_dict()))
    assert history(before + play(second, 40)) == history(whole)
    later = next(event.t for event in convergences(whole) if event.t > point.t)
    back = fork.forked(PARENT, None, later, None, {"lengthscales": "common", "region": True})
    assert sum(event.kind == "evaluated" for event in run(back)) == back.budget


def test_a_run_retraced_is_in_the_same_state() -> None:
    for method in ("dsebo", "adaptive", "rembo"):
        plain = CONFIG.model_dump(mode="json")
        settings = plain["optimizer"] if method == "dsebo" else {"method": method}
        if method == "adaptive":
            settings = {"variant": "adaptive", "beta": 3, "d_l": 2, "d_h": 20}
        config = RunConfig.parse({**plain, "optimizer": settings})
        runner, again = Runner.from_config(config), make_optimizer(config)
        for event in play(runner, 25):
            if isinstance(event, Evaluated):
                with one_thread():
                    again.retrace(event.z, event.y)
        assert again.own_state() == runner.optimizer.own_state()
        assert again.fork_point() == runner.optimizer.fork_point()
        with one_thread():
            assert np.array_equal(again.ask().z, runner.optimizer.ask().z)


def test_a_fork_where_nothing_converged_is_refused() -> None:
    point = convergences(list(run(CONFIG)))[0]
    with pytest.raises(ConfigError, match="at must be a convergence of the run"):
        list(run(CONFIG.forked(PARENT, None, point.t + 1)))
    with pytest.raises(ConfigError, match=r"decide must be a whole number from 0 to d_h = 20 \(got 21\)"):
        list(run(CONFIG.forked(PARENT, None, point.t, 21)))


def test_noise_is_seen_by_the_method_and_not_reported() -> None:
    config = RunConfig.parse({**CONFIG.model_dump(mode="json"), "budget": 20})
    noisy = RunConfig.parse(
        {**config.model_dump(mode="json"), "objective": {**CONFIG.objective.model_dump(), "noise": 0.5}}
    )
    assert config_hash(config) != config_hash(noisy)
    runner = Runner.from_config(noisy)
    told: list[tuple[float, float]] = []  # as seen, and as it is
    for event in play(runner, 20):
        if isinstance(event, Evaluated):
            told.append((event.y, float(runner.objective(runner.optimizer.lift(event.z)[None])[0])))
            assert event.best == min(told)[1]
    noise = np.array([seen - true for seen, true in told])
    assert 0.2 < noise.std() < 1.0
    whole = history(play(Runner.from_config(noisy), 20))
    first = Runner.from_config(noisy)
    before = play(first, 9)
    second = Runner.from_config(noisy, through_json(first.state_dict()))
    assert second.best == first.best
    assert history(before + play(second, 11)) == whole


def test_where_noise_was_declared_the_end_names_the_point_with_the_least_posterior_mean() -> None:
    noisy = RunConfig.parse(
        {**CONFIG.model_dump(mode="json"), "objective": {**CONFIG.objective.model_dump(), "noise": 0.5}}
    )
    runner = Runner.from_config(noisy)
    before = history(play(runner, 20))
    end, state = runner.finished(), runner.optimizer.own_state()
    points = [runner.optimizer.lift(z) for z in runner.optimizer.observed.points]
    with one_thread():
        likely = incumbent(points, runner.optimizer.observed.values, 0.5)
    assert likely is not None
    assert (end.incumbent, end.expected) == (likely.t, likely.mean)
    assert f"By the posterior mean evaluation {likely.t} is the best" in end.text
    assert end.to_json()["incumbent"] == likely.t
    undisturbed = Runner.from_config(noisy)  # asking for it changes nothing of what follows
    assert history(play(undisturbed, 20)) == before
    assert undisturbed.optimizer.own_state() == state
    plain = Runner.from_config(CONFIG)
    play(plain, 2)
    assert "incumbent" not in plain.finished().to_json()
    assert plain.incumbent() is None
