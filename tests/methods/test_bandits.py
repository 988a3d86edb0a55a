"""Each policy on a table made by hand; then the optimizer around them."""

import math

import numpy as np
import pytest

from dsebo.events import ArmPulled
from dsebo.methods._arms import History
from dsebo.methods.bandits import (
    BanditCUcbConfig,
    BanditEpsilonGreedyConfig,
    BanditExpectationConfig,
    BanditExtremeConfig,
    BanditRandomConfig,
    BanditSoftmaxConfig,
    BanditSuccessiveHalvingConfig,
    BanditThompsonConfig,
    BanditUcbEConfig,
)
from objectives.fields import ConfigError
from tests.methods.helpers import optimizer_of, play, settings_of

QUICK = {"fit_iterations": 1, "restarts": 1, "raw_samples": 5, "acq_iterations": 2}

# Rewards (minus y): arm 0 has -1, -3 (mean -2, best -1); arm 1 has -1.5 (mean and best -1.5);
# arm 2 has -0.5, -4, -4 (mean -2.8333, best -0.5).
PULLED = [0, 1, 2, 0, 2, 2]
Y = [1.0, 1.5, 0.5, 3.0, 4.0, 4.0]


def table(horizon: int = 100, reward: str = "value") -> History:
    return History(3, np.array(PULLED), np.array(Y), horizon, reward)  # type: ignore[arg-type]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_table() -> None:
    seen = table()
    assert seen.pulls.tolist() == [2, 1, 3]
    assert seen.means == pytest.approx([-2.0, -1.5, -17 / 6])
    assert seen.best_rewards == pytest.approx([-1.0, -1.5, -0.5])
    assert seen.variances == pytest.approx([2.0, 1.0, np.var([0.5, 4, 4], ddof=1)])
    assert seen.least == pytest.approx([1.0, 1.5, 0.5])


def test_a_failed_pull_counts_as_the_worst() -> None:
    seen = History(2, np.array([0, 1, 1]), np.array([2.0, math.nan, 1.0]), 10)
    assert seen.rewards.tolist() == [-2.0, -2.0, -1.0]
    nothing = History(2, np.array([0]), np.array([math.nan]), 10)
    assert nothing.rewards.tolist() == [0.0]


def test_rank_rewards_do_not_depend_on_the_scale() -> None:
    seen = table(reward="rank")
    assert seen.rewards == pytest.approx([0.8, 0.6, 1.0, 0.4, 0.1, 0.1])
    scaled = History(3, np.array(PULLED), np.exp(10 * np.array(Y)), 100, "rank")
    assert np.array_equal(scaled.rewards, seen.rewards)


def test_expectation() -> None:
    assert BanditExpectationConfig().choose(table(), rng()).arm == 1


def test_extreme() -> None:
    assert BanditExtremeConfig().choose(table(), rng()).arm == 2


def test_epsilon_greedy() -> None:
    greedy, free = (
        BanditEpsilonGreedyConfig(epsilon=0.0).choose,
        BanditEpsilonGreedyConfig(epsilon=1.0).choose,
    )
    assert {greedy(table(), rng(seed)).arm for seed in range(20)} == {1}
    assert {free(table(), rng(seed)).arm for seed in range(40)} == {0, 1, 2}
    half = [BanditEpsilonGreedyConfig(epsilon=0.5).choose(table(), rng(seed)).arm for seed in range(600)]
    assert np.mean(np.array(half) == 1) == pytest.approx(0.5 + 0.5 / 3, abs=0.06)


def test_softmax() -> None:
    choice = BanditSoftmaxConfig(temperature=1.0).choose(table(), rng())
    weights = np.exp([-2.0, -1.5, -17 / 6])
    assert choice.scores == pytest.approx(weights / weights.sum())
    drawn = [BanditSoftmaxConfig(temperature=1.0).choose(table(), rng(seed)).arm for seed in range(600)]
    assert np.bincount(drawn) / 600 == pytest.approx(choice.scores, abs=0.06)


def test_softmax_does_not_overflow() -> None:
    huge = History(2, np.array([0, 1]), np.array([1e9, 1e6]), 10)
    assert BanditSoftmaxConfig(temperature=1.0).choose(huge, rng()).scores.tolist() == [0.0, 1.0]


def test_c_ucb() -> None:
    choice = BanditCUcbConfig().choose(table(), rng())
    bonus = np.sqrt(2 * math.log(100) / np.array([2, 1, 3]))
    assert choice.scores == pytest.approx(np.array([-2.0, -1.5, -17 / 6]) + bonus)
    assert choice.arm == 1


def test_ucb_e() -> None:
    assert BanditUcbEConfig(exploration=0.5).choose(table(), rng()).scores == pytest.approx(
        [-2.0 + 0.5, -1.5 + math.sqrt(0.5), -17 / 6 + math.sqrt(0.5 / 3)]
    )


def test_thompson() -> None:
    draws = np.stack([BanditThompsonConfig().choose(table(), rng(seed)).scores for seed in range(500)])
    seen = table()
    assert draws.mean(axis=0) == pytest.approx(seen.means, abs=0.15)
    assert draws.std(axis=0) == pytest.approx(np.sqrt(seen.variances / seen.pulls), rel=0.1)
    assert BanditThompsonConfig().choose(seen, rng(3)).arm == int(np.argmax(draws[3]))


def test_random() -> None:
    drawn = [BanditRandomConfig().choose(table(), rng(seed)).arm for seed in range(600)]
    assert np.bincount(drawn) / 600 == pytest.approx([1 / 3] * 3, abs=0.06)


def test_successive_halving_keeps_seven_four_two_one() -> None:
    """Arm 5 is best, then 2, 6, 0; T = 84 gives rounds of 4, 7 and 14 pulls an arm."""
    value = {5: 1.0, 2: 2.0, 6: 3.0, 0: 4.0, 1: 5.0, 3: 6.0, 4: 7.0}
    pulled: list[int] = []
    for _ in range(84 + 3):
        y = np.array([value[arm] for arm in pulled], dtype=float)
        seen = History(7, np.array(pulled, dtype=np.int64), y, 84)
        pulled.append(BanditSuccessiveHalvingConfig().choose(seen, rng()).arm)
    assert np.bincount(pulled[:28]).tolist() == [4] * 7
    assert sorted(set(pulled[28:56])) == [0, 2, 5, 6]
    assert np.bincount(pulled[28:56]).max() == 7
    assert sorted(set(pulled[56:84])) == [2, 5]
    assert set(pulled[84:]) == {5}


def test_arms_begin_with_one_point_each_and_events_show_the_table() -> None:
    optimizer = optimizer_of("bandit-expectation", 120, **QUICK)
    asked, values, events = play(optimizer, lambda x: float(x @ x), 12)
    assert [candidate.d for candidate in asked[:7]] == [10, 20, 30, 50, 70, 90, 100]
    pulls = [event for event in events if isinstance(event, ArmPulled)]
    assert len(pulls) == 12
    assert pulls[0].d_from is None
    assert pulls[6].scores == ()
    last = pulls[-1]
    assert sum(last.pulls) == 12
    seen = optimizer.history()
    assert last.means == pytest.approx(tuple(seen.means))
    before = optimizer.history(11)
    assert last.scores == pytest.approx(tuple(before.means))
    assert last.d_to == optimizer.dims[int(np.argmax(before.means))]
    assert min(last.bests) == min(values)


def test_arms_do_not_exceed_the_space() -> None:
    assert settings_of("bandit-random", 40).dimensions == (10, 20, 30)  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="D must be 10 or more for a bandit"):
        settings_of("bandit-random", 8)
    with pytest.raises(ConfigError, match=r"largest must be a whole number from 10 to D = 40 \(got 50\)"):
        settings_of("bandit-random", 40, largest=50)


def test_scale_of_the_embeddings() -> None:
    own = optimizer_of("bandit-random", 500, scale="own")
    unit = optimizer_of("bandit-random", 500)
    narrow = optimizer_of("bandit-random", 500, scale="dsebo")
    assert [arm.half_width for arm in own.embeddings] == pytest.approx(np.sqrt(own.dims))
    assert {arm.half_width for arm in (*unit.embeddings, *narrow.embeddings)} == {1.0}
    assert unit.embeddings[2]._columns.std() == pytest.approx(1.0, rel=0.02)
    assert narrow.embeddings[2]._columns.std() == pytest.approx(0.1, rel=0.02)
