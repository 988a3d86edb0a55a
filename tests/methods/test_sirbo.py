"""SIRBO: the directions that sliced inverse regression finds."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from dsebo.events import SubspaceChanged
from dsebo.methods.base import Array
from dsebo.methods.sirbo import sliced_inverse_regression
from tests.methods.helpers import left_over, optimizer_of, play


def truth_and_data(n: int, D: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(D, 1))
    X = rng.uniform(-1.0, 1.0, size=(n, D))
    return direction, X, np.tanh((X @ direction)[:, 0] / 4.0) + 0.01 * rng.normal(size=n)


def test_sirbo_angle_to_the_truth_shrinks_with_n() -> None:
    angles = []
    for n in (60, 240, 960):
        direction, X, y = truth_and_data(n)
        B = sliced_inverse_regression(X, y, 1, 0.01)
        angles.append(float(subspace_angles(B, direction)[0]))
    assert angles[0] > angles[1] > angles[2]
    assert angles[2] < np.radians(20)


def test_sirbo_dual_solves_the_primal_eigenproblem() -> None:
    _, X, y = truth_and_data(80, D=20)
    B = sliced_inverse_regression(X, y, 3, 0.01)
    centred = X - X.mean(axis=0)
    slices = np.array_split(np.argsort(y, kind="stable"), 4)
    M = np.stack([np.sqrt(p.size / 80) * centred[p].mean(axis=0) for p in slices], axis=1)
    covariance = centred.T @ centred / 80 + 0.01 * np.eye(20)
    ratios = (M @ (M.T @ B)) / (covariance @ B)  # scatter b = value (covariance b)
    for column in ratios.T:
        assert column == pytest.approx(column[0], rel=1e-6)
    assert np.all(np.diff(ratios[0]) < 0)


def test_sirbo_finds_a_ridge() -> None:
    direction = np.random.default_rng(1).normal(size=30) / np.sqrt(30)

    def ridge(x: Array) -> float:
        return float((x @ direction - 2.0) ** 2)

    def new(seed: int) -> Any:
        return optimizer_of("sirbo", 30, seed=seed, d=2, n_init=30)

    assert left_over(new, ridge, 80, 30) < 0.15  # random search: 0.57
    _, _, events = play(new(1), ridge, 40)
    turned = [event for event in events if isinstance(event, SubspaceChanged)]
    assert turned[0].d_from is None
    assert all(0.0 <= event.angle <= 90.0 for event in turned[1:] if event.angle is not None)
