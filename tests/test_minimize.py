"""`minimize` on one's own function, in one's own units."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dsebo import minimize
from dsebo.events import Event, Finished
from dsebo.minimize import Result
from objectives import Problem
from objectives.fields import ConfigError

BOUNDS = [(10.0, 20.0)] * 30


def bowl(x: np.ndarray) -> float:
    assert np.all((x >= 10) & (x <= 20))
    return float(((x[:2] - 14.0) ** 2).sum())


def test_finds_a_better_point_than_the_centre_and_says_where() -> None:
    result = minimize(bowl, BOUNDS, budget=40, d_h=10)
    assert result.success
    assert result.x is not None
    assert result.fun == bowl(result.x)
    assert result.fun < bowl(np.full(30, 15.0))
    assert len(result.history) == 40
    assert result.history["best"].iloc[-1] == result.fun == result.history["y"].min()
    assert {"t", "y", "best", "d", "failed", "seconds"} <= set(result.history.columns)


def test_the_history_has_the_points_and_the_decisions() -> None:
    result = minimize(bowl, BOUNDS, budget=40, d_h=10, beta=3)
    history = result.history
    moved = history["z"].map(len) == 10 + len(BOUNDS)  # with the blocks, of a variable each
    assert (history["z"].map(len) == history["d"])[~moved].all()
    assert 0 < moved.sum() < 40
    expanded = history[history["decision"].str.contains("expanded")]["t"]
    assert list(expanded) == [event.t for event in result.events if event.kind == "expanded"]
    assert len(expanded) > 0


def test_a_run_in_which_everything_failed_is_no_success() -> None:
    result = minimize(lambda x: 1 / 0, BOUNDS, budget=5)
    assert (result.success, result.x) == (False, None)
    assert result.message == "All evaluations failed. The last one: ZeroDivisionError: division by zero"


def test_same_seed_same_points_and_the_function_is_called_budget_times() -> None:
    calls: list[np.ndarray] = []

    def f(x: np.ndarray) -> float:
        calls.append(x.copy())
        return bowl(x)

    first = minimize(f, BOUNDS, budget=12, seed=3)
    assert len(calls) == 12
    second = minimize(f, BOUNDS, budget=12, seed=3)
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(calls[:12], calls[12:])


def test_units_of_any_size_do_not_change_the_course() -> None:
    plain = minimize(bowl, BOUNDS, budget=40, d_h=10, beta=3)
    assert plain.history["d"].nunique() > 1
    for factor in (2.0**20, 2.0**-46):  # powers of two, which round nothing
        scaled = minimize(lambda x, by=factor: by * bowl(x), BOUNDS, budget=40, d_h=10, beta=3)
        assert list(plain.history["d"]) == list(scaled.history["d"])
        assert list(factor * plain.history["y"]) == list(scaled.history["y"])


def test_a_function_that_fails_is_survived() -> None:
    def f(x: np.ndarray) -> float:
        if x[5] > 15.2:
            raise ValueError("out of range")
        return bowl(x) if x[6] < 15.2 else math.nan

    result = minimize(f, BOUNDS, budget=20, d_h=10)
    assert result.history["failed"].any()
    assert math.isfinite(result.fun)


def test_a_function_that_always_fails_says_why() -> None:
    result = minimize(lambda x: 1 / 0, BOUNDS, budget=20)
    assert not result.success
    assert result.x is None
    assert "division by zero" in result.message


def test_callback_and_other_methods() -> None:
    seen: list[Event] = []
    result = minimize(bowl, BOUNDS, budget=5, method="random", callback=seen.append)
    assert seen == result.events
    assert len(result.history) == 5


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([(0, 1), (2, 1)], r"bounds\[1\] must be .* \(got 2, 1\)"),
        ([(0, math.nan)], r"bounds\[0\]"),
        ([(0, math.inf)], "two finite numbers"),
        ([1, 2], "shape"),
        ([], "shape"),
        ("ab", "pair of numbers"),
    ],
)
def test_bad_bounds(bounds: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        minimize(bowl, bounds)  # type: ignore[arg-type]


def test_bad_settings() -> None:
    with pytest.raises(ConfigError, match="d_h must be a whole number"):
        minimize(bowl, BOUNDS, d_h=31)
    with pytest.raises(ConfigError, match=r"budget must be .*got 1"):
        minimize(bowl, BOUNDS, budget=1)
    with pytest.raises(ConfigError, match="betta is not a field"):
        minimize(bowl, BOUNDS, betta=3)


def test_an_interrupted_run_says_what_it_found() -> None:
    def stop(event: Event) -> None:
        if event.kind == "evaluated" and event.t == 7:
            raise KeyboardInterrupt

    result = minimize(bowl, BOUNDS, budget=40, d_h=10, callback=stop)
    assert not result.success
    assert result.message == "Interrupted after 7 evaluations."
    assert result.x is not None
    assert bowl(result.x) == result.fun == result.history["y"].min()
    assert len(result.history) == 7


@pytest.mark.parametrize("wrap", [lambda y: np.array([y]), np.float32, np.float64, lambda y: np.array(y)])
def test_arrays_of_one_number_are_values(wrap: Callable[[float], Any]) -> None:
    result = minimize(lambda x: wrap(bowl(x)), BOUNDS, budget=5, d_h=10)
    assert result.success
    assert not result.history["failed"].any()


def test_what_cannot_be_called_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="f must be a function of a point"):
        minimize(3.0, BOUNDS)  # type: ignore[arg-type]


def test_bounds_that_overflow_are_refused() -> None:
    with pytest.raises(ConfigError, match="a finite distance apart"):
        minimize(bowl, [(-1e308, 1e308)] * 3)


def test_failures_are_counted() -> None:
    calls = iter(range(100))
    result = minimize(lambda x: math.nan if next(calls) % 3 == 0 else bowl(x), BOUNDS, budget=9, d_h=10)
    assert result.message.endswith(" 3 evaluations failed.")


def test_one_outlier_does_not_blind_the_model() -> None:
    def found(outlier: float) -> Result:
        calls = iter(range(100))
        return minimize(lambda x: outlier if next(calls) == 5 else bowl(x), BOUNDS, budget=40, d_h=10)

    clean, hit = found(50.0), found(1e300)
    clipped = [event for event in hit.events if event.kind == "clipped"]
    assert [event.t for event in clipped] == [6]
    assert not [event for event in clean.events if event.kind == "clipped"]
    later = hit.history["y"][6:]
    assert np.median(later) < 2 * np.median(clean.history["y"][6:])  # it still learns


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["dcem", "bandit-softmax", "bandit-ucb-e"])
def test_values_near_the_largest_number(method: str) -> None:
    chance = np.random.default_rng(1)
    result = minimize(lambda x: 1.7e308 * chance.uniform(-1.0, 1.0), BOUNDS, budget=45, method=method)
    assert result.success, result.message
    assert len(result.history) == 45


def test_our_own_rules_unless_the_papers_are_asked_for() -> None:
    ours, papers = (
        minimize(bowl, BOUNDS, budget=20, d_h=10, **given) for given in ({}, {"variant": "paper"})
    )
    variants = [result.events[0].config["optimizer"]["variant"] for result in (ours, papers)]  # type: ignore[attr-defined]
    assert variants == ["adaptive", "paper"]
    assert ours.fun != papers.fun


def test_where_a_problem_declares_noise_the_best_point_is_that_of_the_posterior_mean() -> None:
    rng = np.random.default_rng(1)
    asked: list[np.ndarray] = []

    def noisy(x: np.ndarray) -> float:
        asked.append(x)
        return float((x**2).sum() + rng.normal(0.0, 3.0))

    problem = Problem(noisy, [(-2.0, 2.0)] * 6, noise=3.0)
    result = minimize(problem, budget=30, method="random")
    end = result.events[-1]
    assert isinstance(end, Finished)
    assert end.incumbent is not None
    assert result.x is not None
    assert list(result.x) == list(asked[end.incumbent - 1])
    assert result.fun == end.expected
    assert result.fun > result.history.y.min()  # the luckiest value is no estimate
    exact = minimize(replace(problem, noise=0.0), budget=10, method="random")
    assert exact.fun == exact.history.y.min()


@pytest.mark.parametrize("noise", [-1.0, float("nan"), float("inf"), "much", None])
def test_bad_noise(noise: Any) -> None:
    with pytest.raises(ConfigError, match="noise must be a number of 0 or more"):
        Problem(lambda x: 0.0, [(0.0, 1.0)], noise=noise)


# --- several at once --------------------------------------------------------------------------------


def slow_bowl(x: np.ndarray) -> float:
    """The later a point of the batch, the sooner it may be there: it takes as long as its digits say."""
    time.sleep(float(abs(x).sum() * 1e6 % 1) * 0.05)
    return bowl(x)


def test_workers_give_the_same_history_whichever_is_first() -> None:
    first = minimize(slow_bowl, BOUNDS, budget=13, d_h=10, workers=3)
    second = minimize(slow_bowl, BOUNDS, budget=13, d_h=10, workers=3)
    here = minimize(bowl, BOUNDS, budget=13, d_h=10, batch=3)  # the same points, without processes
    assert first.nfev == 13
    for other in (second, here):
        assert list(first.history["y"]) == list(other.history["y"])
        assert all(np.array_equal(a, b) for a, b in zip(first.history["z"], other.history["z"], strict=True))
    assert (first.history[["seconds", "seconds_eval"]] >= 0).all(axis=None)


def test_failures_inside_a_batch_are_that_point_s_alone() -> None:
    def f(x: np.ndarray) -> float:
        if x[5] > 17.0:
            raise ValueError("out of range")
        if x[6] > 17.0:
            os._exit(3)
        return bowl(x)

    result = minimize(f, BOUNDS, budget=12, method="random", workers=3)
    history = result.history
    assert history["failed"].any()
    assert not history["failed"].all()
    words = " ".join(history["error"].dropna())
    assert "ValueError: out of range" in words
    assert "Lost: the process of the evaluation ended with code 3" in words


def test_an_evaluation_that_takes_too_long_has_failed_also_with_one_worker() -> None:
    result = minimize(lambda x: time.sleep(60), BOUNDS, budget=2, timeout=0.2)
    assert not result.success
    assert "no value within 0.2 s" in result.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"workers": 0}, r"workers must be a whole number from 1 to 64 \(got 0\)"),
        ({"workers": 2.5}, "workers must be a whole number from 1 to 64"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"workers": 4, "method": "sirbo"}, r"SIRBO proposes one point at a time: batch must be 1 \(got 4\)"),
    ],
)
def test_workers_that_cannot_be_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        minimize(bowl, BOUNDS, budget=4, **given)


def test_a_function_that_cannot_be_sent_to_a_process_is_refused() -> None:
    lock = threading.Lock()
    with pytest.raises(ConfigError, match="f cannot be sent to a process"):
        minimize(lambda x: bowl(x) if lock else 0.0, BOUNDS, budget=4, workers=2)


INTERRUPTED = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job has it ignored
from dsebo import minimize

def f(x):
    if x[0] != 0.0:  # all but the first point, the centre, never end
        print("evaluating", flush=True)
        time.sleep(600)
    return 1.0

result = minimize(f, [(-1.0, 1.0)] * 20, budget=9, d_h=5, workers=2, timeout=500)
print(result.message, flush=True)
"""


def test_ctrl_c_ends_the_evaluations_of_a_batch_at_once() -> None:
    script = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert script.stdout is not None
    assert script.stdout.readline() == "evaluating\n"
    script.send_signal(signal.SIGINT)
    out, _ = script.communicate(timeout=60)
    assert out.splitlines()[-1] == "Interrupted after 0 evaluations."
    assert "Traceback" not in out
