"""DuMBO: divisions of the variables, their Gaussian processes, and how their points come to agree."""

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from dsebo.events import StructureChanged
from dsebo.gp.sums import Bound, Data, Indices, Parts, Posterior, Sum, propose
from dsebo.methods.base import Array
from dsebo.methods.dumbo import Neighbours, agree
from tests.methods.helpers import left_over, optimizer_of, play, sphere


def parts_of(*parts: tuple[int, ...]) -> Parts:
    return tuple(np.array(part, dtype=np.int64) for part in parts)


def is_partition(parts: Parts, D: int) -> bool:
    return sorted(int(i) for part in parts for i in part) == list(range(D))


# -- divisions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("D", "d_max", "count", "largest"),
    [(40, 40, 1, 40), (40, 5, 8, 5), (1000, 20, 95, 11), (8000, 20, 400, 20)],
)
def test_the_first_division_has_all_variables_once(D: int, d_max: int, count: int, largest: int) -> None:
    parts = Sum.start(D, d_max, np.random.default_rng(1)).parts
    assert is_partition(parts, D)
    assert (len(parts), max(part.size for part in parts)) == (count, largest)


def test_moves_keep_all_variables_and_their_way_back_is_as_likely_as_it_says() -> None:
    rng, now = np.random.default_rng(2), Sum.start(30, 9, np.random.default_rng(1))
    for _ in range(200):
        move = propose(now.parts, 9, rng)
        assert move is not None
        after, gone, come = now.moved(move)
        assert is_partition(after.parts, 30)
        assert max(part.size for part in after.parts) <= 9
        assert np.exp(come.variance).sum() == pytest.approx(np.exp(gone.variance).sum())
        now = after


def test_a_merge_takes_a_split_back() -> None:
    whole = Sum(parts_of((0, 1, 2, 3)), np.array([0.3]), np.array([-0.2]), -4.0)
    rng = np.random.default_rng(0)
    there = propose(whole.parts, 4, rng)
    assert there is not None
    halves = whole.moved(there)[0]
    back = propose(halves.parts, 4, np.random.default_rng(0))
    while back is None or len(back.come) != 1:
        back = propose(halves.parts, 4, rng)
    again = halves.moved(back)[0]
    np.testing.assert_array_equal(again.parts[0], whole.parts[0])
    np.testing.assert_allclose(again.flat(), whole.flat(), atol=1e-12)
    assert back.log_odds == pytest.approx(-there.log_odds)


def test_without_data_all_fifteen_divisions_of_four_variables_are_as_frequent() -> None:
    rng, now, seen = np.random.default_rng(3), Sum.of(parts_of((0, 1, 2, 3))), Counter[str]()
    for _ in range(6000):
        move = propose(now.parts, 4, rng)
        if move is not None and np.log(rng.random()) < move.log_odds:
            now = now.moved(move)[0]
        seen[str(sorted(part.tolist() for part in now.parts))] += 1
    assert len(seen) == 15
    assert max(abs(times - 400) for times in seen.values()) < 120


def test_nothing_can_be_moved_where_there_is_one_variable() -> None:
    assert propose(parts_of((0,)), 1, np.random.default_rng(1)) is None
    play(optimizer_of("dumbo", 1, seed=1), sphere(0.2), 6)


# -- the Gaussian process --------------------------------------------------------------------------

PARTS = parts_of((0, 3), (1,), (2, 4, 5))


def small() -> tuple[Data, Sum]:
    rng = np.random.default_rng(4)
    hyper = rng.normal(size=3) - 1.0, 0.5 * rng.normal(size=3)
    return Data(rng.random((70, 6)), rng.normal(size=70)), Sum(PARTS, *hyper, -3.0)


def kernel(of: Sum, f: int, a: Array, b: Array) -> Array:
    part = of.parts[f]
    ell = 0.5 * np.sqrt(part.size) * np.exp(of.width[f])
    r = np.linalg.norm(a[:, None, part] - b[None, :, part], axis=2) / ell
    matern = (1 + np.sqrt(5) * r + 5 / 3 * r**2) * np.exp(-np.sqrt(5) * r)
    return np.asarray(np.exp(of.variance[f]) * matern)


def test_the_covariance_is_the_sum_over_the_parts() -> None:
    data, of = small()
    there = sum(kernel(of, f, data.U, data.U) for f in range(3))
    np.testing.assert_allclose(data.covariance(of), there, atol=1e-7)


def test_the_parts_means_add_up_to_that_of_the_sum() -> None:
    data, of = small()
    K = data.covariance(of)
    _, inverse = data.likelihood(K, of.noise)
    np.testing.assert_allclose(inverse @ (K + np.exp(-3.0) * np.eye(70)), np.eye(70), atol=1e-9)
    model, x = Posterior(data, of, inverse), np.random.default_rng(5).random(6)
    means, _ = model.score(x, Bound(0.0, np.ones(3), np.zeros(3)))
    k = [kernel(of, f, x[None], data.U)[0] for f in range(3)]
    assert means.sum() == pytest.approx(float(sum(k) @ inverse @ data.target))  # type: ignore[operator]
    variances = [float(np.exp(of.variance[f]) - k[f] @ inverse @ k[f]) for f in range(3)]
    np.testing.assert_allclose(model.variances(x), variances)
    bound = Bound(2.0, np.array([2.0, 3.0, 4.0]), np.array([0.1, 0.2, 0.3]))
    roots = np.sqrt(np.array(variances) / bound.sharing**2 + bound.added)
    np.testing.assert_allclose(model.score(x, bound)[0], means - 2.0 * roots)


def test_gradients_are_those_of_finite_differences() -> None:
    data, of = small()
    difference = approx_fprime(of.flat(), lambda flat: data.log_posterior(of.with_flat(flat))[0], 1e-6)
    np.testing.assert_allclose(data.log_posterior(of)[1], difference, rtol=1e-4, atol=1e-4)
    model = Posterior(data, of, data.likelihood(data.covariance(of), of.noise)[1])
    bound, x = Bound(2.0, np.array([2.0, 3.0, 4.0]), np.full(3, 0.1)), np.random.default_rng(6).random(6)
    difference = approx_fprime(x, lambda at: float(model.score(at, bound)[0].sum()), 1e-7)
    np.testing.assert_allclose(model.score(x, bound)[1], difference, rtol=1e-4, atol=1e-5)


def test_a_sum_over_pairs_makes_these_pairs_likely() -> None:
    rng = np.random.default_rng(7)
    U = rng.random((60, 6))
    y = sum(np.sin(4 * (U[:, i] - U[:, i + 1]) ** 2) + np.cos(5 * U[:, i] * U[:, i + 1]) for i in (0, 2, 4))
    data = Data(U, (y - np.mean(y)) / np.std(y))

    def likelihood(*parts: tuple[int, ...]) -> float:
        of = data.fitted(Sum.of(parts_of(*parts)), 6)
        return data.likelihood(data.covariance(of), of.noise)[0]

    true = likelihood((0, 1), (2, 3), (4, 5))
    assert true > likelihood((0, 2), (1, 4), (3, 5)) + 10
    assert true > likelihood((0, 3), (1, 5), (2, 4)) + 10


# -- agreement -------------------------------------------------------------------------------------


def labels(*parts: tuple[int, ...]) -> Indices:
    return Sum.of(parts_of(*parts)).labels(sum(len(part) for part in parts))


def test_neighbours_are_the_parts_with_a_variable_in_common() -> None:
    divisions = [labels((0, 1), (2, 3)), labels((0,), (1, 2, 3))]
    near = Neighbours(divisions, [1, 2])  # the second counts twice
    # {0, 1}: itself, {0} twice, {1, 2, 3} twice; {2, 3}: itself, {1, 2, 3} twice; {0}: itself and its
    # twin, {0, 1}; {1, 2, 3}: itself and its twin, both of the first.
    assert [sharing.tolist() for sharing in near.sharing] == [[5, 3], [3, 4]]
    variances = [np.array([0.25, 0.09]), np.array([0.09, 0.16])]  # over |N|^2: 0.01 each
    added = near.others(variances)
    np.testing.assert_allclose(added[0], [0.04, 0.02])
    np.testing.assert_allclose(added[1], [0.02, 0.03])


def test_equal_divisions_agree_in_one_round_at_the_least_mean_of_their_model() -> None:
    optimizer = optimizer_of("dumbo", 2, seed=1, n_init=12, d_max=1, beta_scale=0.0)
    play(optimizer, sphere(0.3), 12)
    candidate = optimizer.ask()  # two parts of one variable: there is no other division
    agreement = optimizer._step.agreement
    assert agreement.gaps[0] < 1e-12
    assert len(agreement.gaps) == 1
    U = (np.stack(optimizer.observed.points) + 1.0) / 2.0
    y = np.array(optimizer.observed.values)
    data = Data(U, (y - y.mean()) / y.std())
    _, inverse = data.likelihood(data.covariance(optimizer.sum), optimizer.sum.noise)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), -1).reshape(-1, 2)
    mean = sum(kernel(optimizer.sum, f, grid, U) for f in (0, 1)) @ inverse @ data.target
    np.testing.assert_allclose((candidate.x + 1.0) / 2.0, grid[int(np.argmin(mean))], atol=0.006)


def test_rounds_of_a_separable_quadratic_end_at_its_minimum() -> None:
    rng = np.random.default_rng(8)
    bend, want, times = 0.5 + rng.random((3, 7)), rng.random((3, 7)), [1, 3, 1]

    def search(copies: Array, mean: Array, prices: Array, step: float) -> Array:
        return np.asarray((2 * bend * want + step * mean - prices) / (2 * bend + step))

    found = agree(search, np.full(7, 0.5), times, 200, 1e-5)
    weights = np.array(times)[:, None] * bend
    np.testing.assert_allclose(found.x, (weights * want).sum(axis=0) / weights.sum(axis=0), atol=1e-4)
    assert found.agreed(1e-5)
    assert min(found.gaps[:-1]) >= 1e-5  # the first round that agrees is the last
    early = agree(search, np.full(7, 0.5), times, 2, 1e-5)
    assert len(early.gaps) == 2
    assert not early.agreed(1e-5)


def test_the_event_tells_parts_and_rounds_and_an_agreement_only_where_there_is_one() -> None:
    optimizer = optimizer_of("dumbo", 12, seed=1, n_init=4, tolerance=0.02, rounds=3, fit_iterations=3)
    told = [event for event in play(optimizer, sphere(0.5), 16)[2] if isinstance(event, StructureChanged)]
    assert told[0].t == 5
    for event in told:
        assert ("copies agree:" in event.text) == (event.gaps[-1] < 0.02)
        assert ("do not agree" in event.text) == (event.gaps[-1] >= 0.02)
        assert 1 <= len(event.gaps) <= 3
        assert event.disputes[0] == pytest.approx(event.gaps[-1])
        assert len(event.members) == len(event.weights) == min(10, event.parts)
    assert {"copies agree" in event.text for event in told} == {True, False}


def test_a_point_told_to_one_who_did_not_ask_leaves_it_as_one_who_did() -> None:
    asked = optimizer_of("dumbo", 8, seed=1)
    play(asked, sphere(0.3), 5)
    other = optimizer_of("dumbo", 8, seed=1)
    other.load_state_dict(asked.state_dict())
    candidate = asked.ask()
    for optimizer in (asked, other):
        optimizer.tell(candidate, 1.0)
    assert asked.own_state() == other.own_state()


def test_a_sum_of_single_variables_is_minimised() -> None:
    assert left_over(lambda seed: optimizer_of("dumbo", 4, seed=seed, n_init=6), sphere(0.3), 16, 6) < 0.2
