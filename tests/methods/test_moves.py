"""Moves of single blocks between the steps of the search, and what is learnt from them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dsebo.config import RunConfig
from dsebo.embedding import BlockEmbedding, SharedEmbedding
from dsebo.events import Moved, Probed
from dsebo.methods._moves import PROBE, Moves
from dsebo.methods.base import Observations, stream
from dsebo.threads import one_thread
from tests.methods.helpers import optimizer_of, play

SETTINGS: dict[str, Any] = {"variant": "adaptive", "beta": 6, "d_l": 2, "d_h": 12, "blocks": 10}


@pytest.fixture(autouse=True)
def _as_a_run_does() -> Iterator[None]:
    with one_thread():
        yield


def steps(x: np.ndarray) -> float:
    """Three variables, each with a narrow valley: what one block gains, it gains whatever the others do."""
    return float(np.abs(x[:3] - 0.4).sum() - (np.abs(x[:3] - 0.4) < 0.1).sum())


def test_x_of_a_z_with_moves_is_that_of_the_subspace_and_of_the_blocks() -> None:
    S = BlockEmbedding(30, 4, 7, stream(1, 0), stream(1, 5))
    plain = SharedEmbedding(30, 4, stream(1, 0))
    z = np.array([0.2, -0.1])
    assert np.array_equal(S.lift(z), plain.lift(z))
    assert S.checksum() == plain.checksum()
    moved = S.lift(np.r_[z, 0.0, 0.0, np.zeros(6), 0.3])
    changed = np.flatnonzero(np.abs(moved - plain.lift(z)) > 1e-12)
    assert np.array_equal(changed, np.flatnonzero(S.block == 6))
    assert np.abs(moved - plain.lift(z))[changed] == pytest.approx(0.3)
    assert sorted(np.bincount(S.block)) == [4, 4, 4, 4, 4, 5, 5]


def test_a_move_changes_one_block_of_the_best_point_and_stays_where_it_gains() -> None:
    optimizer = optimizer_of("dsebo", 40, budget=60, **SETTINGS)
    asked, values, events = play(optimizer, steps, 60)
    gains = [event for event in events if isinstance(event, Moved)]
    assert gains
    for event in gains:
        best = int(np.argmin(values[: event.t - 1]))
        before, after = asked[best].x, asked[event.t - 1].x
        changed = np.flatnonzero(np.abs(after - before) > 1e-12)
        assert set(changed) <= set(np.flatnonzero(optimizer.embedding.block == event.block))
        assert values[event.t - 1] == pytest.approx(min(values[: event.t - 1]) - event.gain)
        assert f"Evaluation {event.t}: block {event.block + 1} of 10 (4 variables)" in event.text
    assert gains[-1].gained == pytest.approx(sum(event.gain for event in gains))
    later = asked[gains[-1].t]
    assert np.count_nonzero(later.z[12:]) >= 1  # it is there in what is asked next
    assert np.array_equal(optimizer.lift(later.z), later.x)


def test_values_from_before_a_move_are_lowered_by_what_it_gained() -> None:
    moves, observed = Moves(3, 2, 16), Observations()
    for z, y in (
        (np.zeros(2), 5.0),
        (np.array([0.1, 0.2]), 4.0),
        (np.array([0.1, 0.2, 0.0, 0.0, 0.7]), 1.0),  # a move that gains 3
        (np.array([0.1, 0.2, 0.0, 0.4, 0.7]), 2.0),  # one that does not
        (np.array([0.3, 0.2, 0.0, 0.0, 0.7]), 0.5),
        (np.array([0.3, 0.2, 0.0, -0.4, 0.7]), float("nan")),
    ):
        observed.add(z, y)
    moves.take(observed)
    numbers, y = moves.of_model(observed.values)
    assert numbers.tolist() == [0, 1, 4]
    assert y == pytest.approx([2.0, 1.0, 0.5])
    assert (moves.n_moves, moves.gained, moves.best_at) == (3, 3.0, 4)
    assert moves.changes == pytest.approx([1.0, 3.0])
    assert moves.offset.tolist() == [0.0, 0.7]
    assert not moves.is_move(np.array([0.9, 0.9, 0.9, 0.0, 0.7]))
    assert not moves.is_move(np.array([0.9]))  # nor what was asked before the move was told
    assert moves.is_move(np.array([0.9, 0.9, 0.9, 0.0, 0.8]))


def test_each_block_is_moved_once_and_then_those_that_change_more() -> None:
    moves, observed, rng = Moves(1, 40, 16), Observations(), np.random.default_rng(1)
    observed.add(np.zeros(1), 100.0)
    for b in range(40):
        moves.take(observed)
        assert moves.step(rng)[0] == b
        observed.add(moves.moved(np.zeros(1), b, 0.3), 101.0 if b < 4 else 100.001)
    moves.take(observed)
    chosen = np.array([moves.step(rng)[0] for _ in range(300)])
    lengths = np.abs([moves.step(rng)[1] for _ in range(300)])
    assert np.mean(chosen < 4) > 0.9
    assert set(chosen[chosen < 4]) == {0, 1, 2, 3}
    assert 0.03 < lengths.min() < 0.05
    assert 0.8 < lengths.max() <= 1.0


def test_blocks_that_change_nothing_are_all_alike() -> None:
    moves, observed, rng = Moves(1, 5, 16), Observations(), np.random.default_rng(1)
    observed.add(np.zeros(1), 1.0)
    for b in range(5):
        observed.add(moves.moved(np.zeros(1), b, 0.3), 1.0)
    moves.take(observed)
    assert {moves.step(rng)[0] for _ in range(60)} == {0, 1, 2, 3, 4}


def test_probes_count_the_variables_that_matter_and_move_each_block_as_far() -> None:
    settings = {**SETTINGS, "d_l": 5, "d_h": 30, "blocks": 20, "probes": 20}
    optimizer = optimizer_of("dsebo", 40, budget=120, **settings)
    asked, _, events = play(optimizer, lambda x: float(np.square(x[:4] - 0.3).sum() + 1e-5 * (x @ x)), 120)
    (told,) = [event for event in events if isinstance(event, Probed)]
    first = optimizer.probes.first
    assert told.t == first + 19
    assert len(told.changes) == 20
    assert told.matter == pytest.approx(4, abs=1.2)
    assert f"some {told.matter:.0f} variables matter" in told.text
    probes = np.array([asked[t - 1].z[30:] for t in range(first + 1, first + 20)])
    apart = np.abs(np.diff(np.vstack([np.zeros(20), probes]), axis=0)).max(axis=1)
    assert apart == pytest.approx(PROBE)
    assert optimizer.d == max(17, told.most)


@pytest.mark.parametrize(
    ("given", "blocks"),
    [
        ({}, 100),
        ({"D": 40}, 40),
        ({"probes": 45}, 100),
        ({"blocks": 0, "probes": 45}, 45),
        ({"blocks": 0, "probes": 45, "D": 40}, 40),
        ({"embeddings": 2, "blocks": 100}, 0),
        ({"blocks": 7}, 7),
        ({"variant": "paper"}, 0),
    ],
)
def test_variables_are_dealt_to_no_more_blocks_than_there_are(given: dict[str, Any], blocks: int) -> None:
    optimizer = {"variant": "adaptive", "d_h": 20, **given}
    D = optimizer.pop("D", 1000)
    config = RunConfig.parse({"objective": {"D": D, "d_e": 4}, "optimizer": optimizer})
    assert config.optimizer.n_blocks(D) == blocks
    assert getattr(config.optimizer.embedding(D, 1), "blocks", 0) == blocks


def test_what_is_gained_after_a_penalty_is_not_lost() -> None:
    moves, observed = Moves(1, 2, 16), Observations()
    for z, y in (
        (np.zeros(1), 1e20),
        (np.array([0.5]), 1e20),
        (np.array([0.0, 0.3, 0.0]), 5.0),
        (np.array([0.1, 0.3, 0.0]), 4.0),
        (np.array([0.1, 0.3, 0.2]), 3.25),
    ):
        observed.add(z, y)
    moves.take(observed)
    assert moves.of_model(observed.values)[1].tolist() == [1e20, 1e20, 3.25]


def test_a_move_that_was_asked_before_another_was_told_is_of_its_own_block() -> None:
    moves, observed = Moves(1, 3, 16), Observations()
    for r, y in (([0.0, 0.0, 0.0], 5.0), ([0.9, 0.0, 0.0], 4.0), ([0.0, 0.05, 0.0], 4.5)):
        observed.add(np.array([0.1, *r]), y)
    moves.take(observed)
    assert moves.changes[:2] == pytest.approx([1.0, 0.5])
    assert np.isnan(moves.changes[2])
    assert moves.move_of(np.array([0.1, 0.0, 0.05, 0.0])) == (1, 0.05)


def test_a_block_whose_move_has_failed_is_tried_again_like_others() -> None:
    moves, observed = Moves(1, 3, 16), Observations()
    for r, y in (([0.0] * 3, 5.0), ([0.9, 0, 0], 6.0), ([0, 0.9, 0], float("nan")), ([0, 0, 0.9], 6.0)):
        observed.add(np.array([0.1, *r]), y)
    moves.take(observed)
    rng = np.random.default_rng(1)
    assert {moves.step(rng)[0] for _ in range(60)} == {0, 1, 2}


def test_a_state_of_an_earlier_version_with_other_probes_goes_on() -> None:
    optimizer = optimizer_of("dsebo", 40, budget=60, **SETTINGS)
    play(optimizer, steps, 20)
    state = {**optimizer.state_dict(), "probes": {"first": 3, "pairs": 4, "centre": 0}}
    again = optimizer_of("dsebo", 40, budget=60, **SETTINGS)
    again.load_state_dict(state)
    assert again.probes is None
    assert np.array_equal(again.ask().z, optimizer.ask().z)


def test_a_move_of_an_earlier_best_point_in_a_batch_is_still_a_move() -> None:
    optimizer = optimizer_of("dsebo", 40, budget=60, **SETTINGS)
    seen = 0
    while len(optimizer.observed) < 60:
        for candidate in optimizer.ask(4):
            seen += optimizer.moves.is_move(candidate.z)
            optimizer.tell(candidate, steps(candidate.x))
    assert seen == optimizer.moves.n_moves > 10
    again = optimizer_of("dsebo", 40, budget=60, **SETTINGS)
    again.load_state_dict(optimizer.state_dict())
    assert np.array_equal(again.ask().z, optimizer.ask().z)
