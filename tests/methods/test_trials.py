"""Several embeddings: each has its share of the first phase, and the best goes on."""

from collections.abc import Iterator

import numpy as np
import pytest

from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding
from dsebo.events import SubspaceChanged
from dsebo.methods._trials import Trials
from dsebo.methods.base import stream
from dsebo.threads import one_thread
from objectives.fields import ConfigError
from tests.methods.helpers import optimizer_of, play, sphere


@pytest.fixture(autouse=True)
def _as_a_run_does() -> Iterator[None]:
    with one_thread():
        yield


def test_each_has_its_share_of_a_tenth_of_the_budget() -> None:
    trials = Trials(4, 5, 500)
    assert (trials.each, trials.last, trials.unused) == (12, 48, 15)
    assert [trials.tried_at(t) for t in (1, 12, 13, 48)] == [0, 0, 1, 3]
    assert Trials(1, 5, 500).last == 0
    assert Trials(4, 5, 10).each == 2


def test_the_best_value_of_the_first_phase_decides_and_failures_do_not() -> None:
    trials = Trials(2, 3, 40)
    assert trials.best([5.0, np.nan, 3.0, 9.0, 1.0]) == 1  # the fifth value is of no trial
    assert trials.best([np.nan] * 4) == 0


def test_what_may_move_is_one_block_then_that_block_and_what_all_have() -> None:
    trials = Trials(3, 2, 60)
    values = [4.0, 4.0, 1.0, 4.0, 4.0, 4.0]
    assert trials.active(3, 2, values[:2]).tolist() == [False, False, True, True]
    assert trials.active(7, 4, values).tolist() == [False, False, True, True, False, False, True, True]


@pytest.mark.parametrize("variant", ["paper", "authors", "adaptive"])
def test_points_are_of_one_embedding_and_x_follows_from_z_alone(variant: str) -> None:
    settings = {"variant": variant, "embeddings": 3, "d_l": 2, "d_h": 8, "beta": 6}
    optimizer = optimizer_of("dsebo", 20, budget=60, **settings)
    asked, values, events = play(optimizer, sphere(0.3), 30)
    (choice,) = [event for event in events if isinstance(event, SubspaceChanged)]
    chosen = optimizer.trials.best(values)
    assert choice.t == 6
    assert f"Number {chosen + 1} goes on" in choice.text
    fresh = optimizer_of("dsebo", 20, budget=60, **settings)
    for candidate in asked:
        k = (candidate.t - 1) // 2 if candidate.t <= 6 else chosen
        others = [i for i in range(min(6, candidate.z.size)) if i // 2 != k]
        assert not candidate.z[others].any()
        assert np.array_equal(fresh.lift(candidate.z), candidate.x)
    assert asked[-1].d == optimizer.d == asked[-1].z.size - 4


def test_one_embedding_is_the_shared_embedding_as_it_was() -> None:
    optimizer = optimizer_of("dsebo", 30, d_h=12)
    plain = SharedEmbedding(30, 12, stream(1, 0))
    assert optimizer.checksum() == plain.checksum()


def test_several_embeddings_have_no_probes() -> None:
    given = {"optimizer": {"variant": "adaptive", "embeddings": 2, "probes": 9}}
    with pytest.raises(ConfigError, match=r"embeddings must be 1 where there are probes \(got 2\)"):
        RunConfig.parse(given)


def test_trials_that_leave_little_of_the_budget_are_warned_of() -> None:
    assert not RunConfig.parse({"optimizer": {"embeddings": 4}, "budget": 40}).warnings()
    config = RunConfig.parse({"optimizer": {"embeddings": 16}, "budget": 20})
    assert any("take 32 evaluations to be tried" in text for text in config.warnings())
