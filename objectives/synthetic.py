"""The paper's six synthetic functions, in the domains and with the shifts it uses them with; and five more.

BoTorch's versions where it has them. It has no Sphere; its Griewank lives on +-600, but the
formula does not depend on the domain. torch and BoTorch are imported at the first call, so that
a form or a flag can be checked without them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .registry import BaseFunction, Box

if TYPE_CHECKING:
    from botorch.test_functions.base import BaseTestProblem
    from numpy.typing import NDArray
    from torch import Tensor

MICHALEWICZ_STEEPNESS = 10  # m of the usual definition: sin^(2m)
MICHALEWICZ_REACH = 1e4
ROTATED_CONDITION = 100.0
_STYBLINSKI_ROOTS = tuple(float(root) for root in np.roots([4.0, 0.0, -32.0, 5.0]).real)


@lru_cache(maxsize=128)
def _problem(name: str, dim: int) -> BaseTestProblem:
    from botorch import test_functions

    problem: BaseTestProblem = getattr(test_functions, name)(dim=dim).double()
    return problem


def _from_botorch(name: str) -> Callable[[Tensor], Tensor]:
    def f(v: Tensor) -> Tensor:
        values: Tensor = _problem(name, v.shape[-1])._evaluate_true(v)
        return values

    return f


def _sphere(v: Tensor) -> Tensor:
    return v.square().sum(dim=-1)


def _constant(value: float) -> Callable[[int, Box], NDArray[np.float64]]:
    """A minimiser with the same value in every coordinate."""

    def minimiser(d: int, box: Box) -> NDArray[np.float64]:
        return np.full(d, value)

    return minimiser


def _dixon_price_minimiser(d: int, box: Box) -> NDArray[np.float64]:
    """v_i = 2^-((2^i - 2) / 2^i) = 2^(2^(1-i) - 1)."""
    i = np.arange(1, d + 1)
    minimiser: NDArray[np.float64] = np.exp2(np.exp2(1.0 - i) - 1.0)
    return minimiser


@lru_cache(maxsize=4096)
def _michalewicz_coordinate(i: int, lower: float, upper: float) -> float:
    """The v in [lower, upper] that minimises the i-th term -sin(v) sin^2m(i v^2 / pi)."""
    from scipy.optimize import brentq

    m = MICHALEWICZ_STEEPNESS

    def term(v: Any) -> Any:
        return -np.sin(v) * np.sin(i * np.square(v) / np.pi) ** (2 * m)

    def slope(v: float) -> float:
        """Its derivative, but for the factor sin^(2m-2), which is never below 0."""
        inner = i * v**2 / np.pi
        by_outer = np.cos(v) * np.sin(inner)
        by_inner = np.sin(v) * 2 * m * np.cos(inner) * 2 * i * v / np.pi
        return float(-np.sin(inner) * (by_outer + by_inner))

    # Peaks and zeros stand at v = pi sqrt(k / i), k = 0, 1/2, 1 ... A peak is as high as sin(v):
    # the best one is near the largest sin, at a top of it inside or at an edge.
    turns = np.arange(np.floor(lower / (2 * np.pi)) - 1, np.ceil(upper / (2 * np.pi)) + 1)
    tops = np.pi / 2 + 2 * np.pi * turns
    best = lower
    for v in (lower, upper, *tops[(tops > lower) & (tops < upper)]):
        k = np.floor(2 * i * v**2 / np.pi**2) / 2 + np.arange(-4, 6) / 2
        stand = np.pi * np.sqrt(k[k >= 0] / i)
        stand = np.r_[v, stand, -stand]
        stand = stand[(stand >= lower) & (stand <= upper)]
        at = float(stand[np.argmin(term(stand))])
        reach = np.pi**2 / (8 * i * max(abs(at), np.pi / np.sqrt(2 * i)))  # a quarter of a peak
        near = (max(lower, at - reach), min(upper, at + reach))
        if term(at) < 0.0 and slope(near[0]) < 0.0 < slope(near[1]):  # else an edge, or a zero
            at = float(brentq(slope, *near, xtol=1e-15))
        best = min(best, at, key=term)
    return best


def _michalewicz_minimiser(d: int, box: Box) -> NDArray[np.float64] | None:
    """The sum is separable, so each coordinate is minimised alone.

    None far out, where the peaks are too narrow for floating point.
    """
    if max(abs(box[0]), abs(box[1])) > MICHALEWICZ_REACH:
        return None
    return np.array([_michalewicz_coordinate(i, *box) for i in range(1, d + 1)])


def _rotated_quadratic(v: Tensor) -> Tensor:
    """sum_i w_i (Q v)_i^2, w from 1 to 100 in equal ratios: no coordinate is an axis of it."""
    import torch

    Q, weights = _rotation(v.shape[-1])
    return (v @ torch.from_numpy(Q).T).square() @ torch.from_numpy(weights)


@lru_cache(maxsize=16)
def _rotation(d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(d, d) a rotation that depends on d alone, (d,) the weights."""
    Q, R = np.linalg.qr(np.random.default_rng([d]).standard_normal((d, d)))
    return Q * np.sign(np.diagonal(R)), np.geomspace(1.0, ROTATED_CONDITION, d)


def _alpine(v: Tensor) -> Tensor:
    """sum_i |v_i sin v_i + v_i / 10|."""
    return (v * v.sin() + 0.1 * v).abs().sum(dim=-1)


def _styblinski_tang_minimiser(d: int, box: Box) -> NDArray[np.float64]:
    """The least root of 4 v^3 - 32 v + 5 = 0; on a box without it, the best of the rest."""
    inside = [v for v in _STYBLINSKI_ROOTS if box[0] <= v <= box[1]]
    best = min((*inside, *box), key=lambda v: v**4 - 16.0 * v**2 + 5.0 * v)
    return np.full(d, best)


FUNCTIONS = (
    BaseFunction(
        "sphere",
        -5.12,
        5.12,
        _sphere,
        1.0,
        _constant(0.0),
        0.0,
        description="One smooth bowl: the simplest thing that can go right.",
    ),
    BaseFunction(
        "rosenbrock",
        -5.0,
        10.0,
        _from_botorch("Rosenbrock"),
        1.0,
        _constant(1.0),
        0.0,
        description="A long curved valley: easy to enter, slow to follow.",
        min_dimension=2,
    ),
    BaseFunction(
        "levy",
        -10.0,
        10.0,
        _from_botorch("Levy"),
        0.0,
        _constant(1.0),
        0.0,
        description="A bowl with ripples.",
    ),
    BaseFunction(
        "griewank",
        -50.0,
        50.0,
        _from_botorch("Griewank"),
        10.0,
        _constant(0.0),
        0.0,
        description="A wide bowl under small waves; the tail weighs most here.",
    ),
    BaseFunction(
        "dixon-price",
        -10.0,
        10.0,
        _from_botorch("DixonPrice"),
        2.0,
        _dixon_price_minimiser,
        0.0,
        description="A valley whose later coordinates weigh more.",
        min_dimension=2,
    ),
    BaseFunction(
        "michalewicz",
        0.0,
        np.pi,
        _from_botorch("Michalewicz"),
        0.1,
        _michalewicz_minimiser,
        description="Flat, with steep narrow ditches: one for each coordinate.",
    ),
    BaseFunction(
        "ackley",
        -32.768,
        32.768,
        _from_botorch("Ackley"),
        5.0,
        _constant(0.0),
        0.0,
        description="A plain with ripples around one deep funnel.",
    ),
    BaseFunction(
        "rastrigin",
        -5.12,
        5.12,
        _from_botorch("Rastrigin"),
        0.8,
        _constant(0.0),
        0.0,
        description="A bowl full of egg cups: as many local minima as there are whole numbers.",
    ),
    BaseFunction(
        "styblinski-tang",
        -5.0,
        5.0,
        _from_botorch("StyblinskiTang"),
        1.0,
        _styblinski_tang_minimiser,
        description="Two valleys for each coordinate, one a little deeper.",
    ),
    BaseFunction(
        "rotated-quadratic",
        -5.0,
        5.0,
        _rotated_quadratic,
        1.0,
        _constant(0.0),
        0.0,
        description="A narrow bowl whose axes are no coordinates.",
    ),
    BaseFunction(
        "alpine",
        -10.0,
        10.0,
        _alpine,
        1.0,
        _constant(0.0),
        0.0,
        description="Creases that meet in many points, one of them the lowest.",
    ),
)
