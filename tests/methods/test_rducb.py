"""RDUCB: random forests, messages along them, and the sum of Gaussian processes they stand for."""

from itertools import product

import numpy as np
import pytest

from dsebo.events import StructureChanged
from dsebo.methods import rducb
from dsebo.methods.base import Array
from dsebo.methods.rducb import Forest, Hyper, SumOfParts, pass_messages, random_forest
from tests.methods.helpers import left_over, optimizer_of, play, slopes_at, sphere


@pytest.mark.parametrize(
    ("D", "size", "edges"), [(100, 0.2, 20), (2, 0.2, 1), (4, 0.2, 1), (30, 0.0, 1), (30, 1.0, 29)]
)
def test_a_forest_has_its_edges_and_no_cycle(D: int, size: float, edges: int) -> None:
    forest = random_forest(D, size, np.random.default_rng(1))
    assert len(forest.edges) == edges
    assert forest.trees == D - edges
    assert forest.sizes().sum() == D
    assert len(forest.sizes()) == forest.trees  # a cycle would leave fewer roots
    touched = set(forest.edges.ravel().tolist())
    assert touched | set(forest.alone.tolist()) == set(range(D))
    assert not touched & set(forest.alone.tolist())


def test_the_next_step_has_another_forest() -> None:
    first, second = (random_forest(50, 0.2, np.random.default_rng(seed)).edges for seed in (1, 2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("seed", range(10))
def test_messages_find_what_trying_everything_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = random_forest(6, float(rng.random()), rng)
    singles, pairs = np.zeros((6, 3)), rng.normal(size=(len(forest.edges), 3, 3))
    singles[forest.alone] = rng.normal(size=(len(forest.alone), 3))

    def total(choice: tuple[int, ...]) -> float:
        alone = sum(singles[i, choice[i]] for i in forest.alone)
        return float(alone + sum(pairs[k, choice[i], choice[j]] for k, (i, j) in enumerate(forest.edges)))

    choice, value = pass_messages(forest, singles, pairs)
    assert value == pytest.approx(min(total(tried) for tried in product(range(3), repeat=6)), abs=1e-12)
    assert total(tuple(choice.tolist())) == pytest.approx(value, abs=1e-9)


def small() -> tuple[SumOfParts, Hyper]:
    rng = np.random.default_rng(3)
    U = rng.random((9, 5))
    forest = Forest(5, np.array([[0, 3], [4, 3]]), np.array([1, 2]))
    hyper = Hyper(rng.normal(size=5) - 0.5, rng.normal(size=5) - 1.0, -3.0)
    return SumOfParts(U, rng.normal(size=9), forest), hyper


def kernel(hyper: Hyper, a: Array, b: Array, part: tuple[int, ...]) -> Array:
    r2 = sum(((a[:, None, i] - b[None, :, i]) / np.exp(hyper.lengthscale[i])) ** 2 for i in part)
    return np.asarray(np.sqrt(sum(np.exp(2 * hyper.variance[i]) for i in part)) * np.exp(-0.5 * r2))


PARTS = ((0, 3), (4, 3), (1,), (2,))


def test_the_covariance_is_the_sum_over_the_parts() -> None:
    model, hyper = small()
    K = sum(kernel(hyper, model.U, model.U, part) for part in PARTS) + np.exp(-3.0) * np.eye(9)
    np.testing.assert_allclose(model.factorise(hyper)[0] @ K, np.eye(9), atol=1e-9)


def test_the_covariance_is_gpytorchs_additive_kernel() -> None:
    import torch
    from gpytorch.kernels import RBFKernel, ScaleKernel

    model, hyper = small()
    there = torch.zeros(9, 9, dtype=torch.float64)
    for part in PARTS:
        one = ScaleKernel(RBFKernel(ard_num_dims=len(part), active_dims=part)).double()
        one.base_kernel.lengthscale = torch.from_numpy(np.exp(hyper.lengthscale[list(part)]))
        one.outputscale = torch.tensor(np.sqrt(np.exp(2.0 * hyper.variance[list(part)]).sum()))
        there = there + one(torch.from_numpy(model.U)).to_dense().detach()
    noisy = there.numpy() + np.exp(-3.0) * np.eye(9)
    np.testing.assert_allclose(model.factorise(hyper)[0] @ noisy, np.eye(9), atol=1e-9)


def test_the_parts_means_add_up_to_that_of_the_sum() -> None:
    model, hyper = small()
    inverse, weights = model.factorise(hyper)
    points = np.random.default_rng(4).random((5, 4))
    singles, pairs, _ = model.scores(hyper, (inverse, weights), points, 0.0)
    choice = np.array([0, 1, 2, 3, 0])
    total = singles[[1, 2], choice[[1, 2]]].sum() + sum(
        pairs[k, choice[i], choice[j]] for k, (i, j) in enumerate(model.forest.edges)
    )
    at = points[np.arange(5), choice][None]
    assert total == pytest.approx(
        float(sum(kernel(hyper, at, model.U, part) @ weights for part in PARTS)[0])  # type: ignore[index]
    )
    bound = model.scores(hyper, (inverse, weights), points, 2.0)[0][1, 0]
    k = kernel(hyper, points[:, :1].T, model.U, (1,))[0]
    sigma = np.sqrt(np.exp(hyper.variance[1]) - k @ inverse @ k)
    assert bound == pytest.approx(k @ weights - 2.0 * sigma)


def test_gradients_are_those_of_finite_differences() -> None:
    model, hyper = small()
    flat, centre = hyper.flat(), Hyper.start(5, 4).flat()
    difference = slopes_at(lambda v: model.log_posterior(v, centre)[0], flat)
    np.testing.assert_allclose(model.log_posterior(flat, centre)[1], difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("grid", "levels"), [(4, 1), (16, 2), (150, 4), (1000, 5)])
def test_zooming_ends_at_one_value_of_the_grid(
    grid: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Array] = []

    def choose(forest: Forest, singles: Array, pairs: Array) -> tuple[Array, float]:
        return np.full(forest.D, 2), 0.0  # the third quarter, whatever the scores

    def scores(self: SumOfParts, hyper: Hyper, known: object, points: Array, beta: float) -> object:
        tried.append(points)
        return np.zeros((5, 4)), np.zeros((len(self.forest.edges), 4, 4)), None

    monkeypatch.setattr(rducb, "pass_messages", choose)
    monkeypatch.setattr(SumOfParts, "scores", scores)
    optimizer = optimizer_of("rducb", 5, n_init=2, grid=grid)
    asked, _, _ = play(optimizer, sphere(0.5), 3)
    assert len(tried) == levels
    low = sum(2 * 0.25**level for level in range(1, levels + 1))
    u = (asked[-1].x + 1.0) / 2.0
    assert np.all((low <= u) & (u <= low + 0.25**levels))
    assert 0.25**levels <= 1.0 / grid < 0.25 ** (levels - 1)  # no level too many
    np.testing.assert_allclose(u, tried[-1][:, 2])


def test_no_point_is_asked_twice_and_the_event_has_the_forest() -> None:
    optimizer = optimizer_of("rducb", 10, seed=1, n_init=4)
    asked, _, events = play(optimizer, sphere(0.5), 16)
    assert len({candidate.x.tobytes() for candidate in asked}) == 16
    told = [event for event in events if isinstance(event, StructureChanged)]
    assert told[0].t == 5
    assert {event.parts for event in told} == {8}
    assert all(len(part) == 2 for part in told[-1].members)
    strongest = int(np.argmax(optimizer.hyper.variance))
    assert f"All fits so far give most to x{strongest}, " in told[-1].text


def test_a_sum_of_single_variables_is_minimised() -> None:
    assert left_over(lambda seed: optimizer_of("rducb", 12, seed=seed), sphere(0.3), 35, 10) < 0.4
