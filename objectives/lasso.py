"""Weighted Lasso regression with a penalty for each feature: LassoBench's synthetic presets.

x in [-1, 1]^D gives λ, on a logarithmic scale from α_max / 100 to α_max. F is the mean squared error of
5-fold cross-validation over that of the true weights: 1 is what an oracle reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from .base import Objective, ObjectiveConfig, inside_the_box
from .fields import setting
from .processes import Processes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    Array = NDArray[np.float64]

SEED, CORRELATION, TEST_SHARE, FOLDS = 42, 0.6, 0.15, 5
TOLERANCE, ITERATIONS = 1e-4, 100
Noise = Literal["noiseless", "noisy"]
NOISES: tuple[Noise, ...] = ("noiseless", "noisy")
SIGNAL_TO_NOISE: dict[Noise, float] = {"noiseless": 10.0, "noisy": 3.0}
IN_SUPPORT = 1e-6  # a weight above it counts as found


@dataclass(frozen=True)
class Preset:
    """The size of a problem; `seconds`: about what an evaluation takes."""

    features: int
    samples: int
    active: int
    seconds: float


PRESETS = {
    "lasso-simple": Preset(60, 30, 3, 0.005),
    "lasso-medium": Preset(100, 50, 5, 0.006),
    "lasso-high": Preset(300, 150, 15, 0.02),
    "lasso-hard": Preset(1000, 500, 50, 0.12),
}


class LassoConfig(ObjectiveConfig):
    """Which preset, and how noisy its data are."""

    brief: ClassVar[tuple[str, ...]] = ("noise",)
    picture: ClassVar[str] = "Support"
    constant: ClassVar[str] = "best constant λ"

    kind: Literal["lasso"] = "lasso"
    noise: Noise = setting(
        "noiseless", "Noise of the data", "Signal to noise 10 or 3; the value of a point is exact in both."
    )

    @classmethod
    def names(cls) -> list[str]:
        """The presets."""
        return list(PRESETS)

    @classmethod
    def description(cls, name: str) -> str:
        """Its size."""
        preset = PRESETS[name]
        return (
            f"{preset.features} penalties λ of a Lasso regression, one for each feature; "
            f"{preset.active} features matter."
        )

    @property
    def D(self) -> int:
        """A variable for each feature."""
        return PRESETS[self.name].features

    @property
    def seconds(self) -> float:
        """Measured on the same machine as the methods."""
        return PRESETS[self.name].seconds

    def unavailable(self) -> str:
        """Whether celer is missing."""
        if find_spec("celer") is None:
            return f"{self.name} needs celer: pip install 'dsebo[tasks]'."
        return ""

    @classmethod
    def with_references(cls) -> list[LassoConfig]:
        """Every preset, with little and with much noise."""
        return [cls(name=name, noise=noise) for name in PRESETS for noise in NOISES]

    @property
    def task(self) -> str:
        """`lasso-hard`, or `lasso-hard noisy`."""
        return self.name if self.noise == "noiseless" else f"{self.name} {self.noise}"

    def build(self) -> Lasso:
        """The task; its data are made at the first evaluation."""
        return Lasso(self.name, self.noise)


class Lasso(Objective):
    """F(x): the cross-validation error with λ(x), over the oracle's. No gradient."""

    def __init__(self, name: str, noise: Noise = "noiseless") -> None:
        self.name, self.preset, self.data_noise = name, PRESETS[name], noise
        self.dimension = self.preset.features

    def evaluate(self, x: Tensor) -> Tensor:
        """Each row by five fits."""
        import torch

        points = inside_the_box(self, x)
        return torch.from_numpy(_call(self.name, self.data_noise, "values", points))

    def portrait(self, x: Array) -> Support:
        """What Lasso finds with λ(x) in all training data, beside the true weights."""
        weights: Array = _call(self.name, self.data_noise, "weights", x)
        return Support(true_weights(self.preset), weights)


@dataclass(frozen=True)
class Support:
    """The true weights of all features, and those that were found."""

    true: Array
    found: Array

    @property
    def hits(self) -> int:
        """How many of the true features have a weight."""
        return int(np.sum((self.true != 0) & (np.abs(self.found) > IN_SUPPORT)))

    @property
    def false(self) -> int:
        """How many others have one."""
        return int(np.sum((self.true == 0) & (np.abs(self.found) > IN_SUPPORT)))

    @property
    def f1(self) -> float:
        """The harmonic mean of the share of the true ones found and of the found ones that are true."""
        active = int(np.sum(self.true != 0))
        return 2 * self.hits / (active + self.hits + self.false)


def true_weights(preset: Preset) -> Array:
    """(features,) ±1 in turn at equal distances, else 0."""
    weights = np.zeros(preset.features)
    weights[:: preset.features // preset.active] = (-1.0) ** np.arange(preset.active)
    return weights


class Problem:
    """The data of a preset, and the fits: what needs celer."""

    def __init__(self, name: str, noise: Noise) -> None:
        from celer.datasets import make_correlated_data
        from sklearn.model_selection import KFold, train_test_split

        preset = PRESETS[name]
        true = true_weights(preset)
        X, y, _ = make_correlated_data(
            n_samples=preset.samples,
            n_features=preset.features,
            corr=CORRELATION,
            w_true=true,
            snr=SIGNAL_TO_NOISE[noise],
            random_state=SEED,
        )
        self.X, _, self.y, _ = train_test_split(X, y, test_size=TEST_SHARE, random_state=SEED)
        folds = KFold(FOLDS, shuffle=True, random_state=SEED).split(self.X)
        # Copied once, in the order of memory that celer wants: it would copy them at every fit.
        self.folds = [
            (np.asfortranarray(self.X[train]), self.y[train], self.X[held_out], self.y[held_out])
            for train, held_out in folds
        ]
        self.oracle = float(np.mean((self.y - self.X @ true) ** 2))
        high = float(np.log(np.max(np.abs(self.X.T @ self.y)) / len(self.y)))
        self.middle, self.half = high - np.log(10.0), np.log(10.0)

    def values(self, points: Array) -> Array:
        """(n,) F at (n, features) points."""
        return np.array([self._value(self._penalties(x)) for x in points])

    def weights(self, x: Array) -> Array:
        """(features,) fitted to all training data."""
        return self._fit(self.X, self.y, self._penalties(x))

    def _penalties(self, x: Array) -> Array:
        penalties: Array = np.exp(self.middle + self.half * x)
        return penalties

    def _value(self, penalties: Array) -> float:
        errors = []
        for X, y, X_held_out, y_held_out in self.folds:
            weights = self._fit(X, y, penalties)
            errors.append(np.mean((y_held_out - X_held_out @ weights) ** 2))
        return float(np.mean(errors)) / self.oracle

    def _fit(self, X: Array, y: Array, penalties: Array) -> Array:
        from celer import Lasso as Solver

        solver = Solver(fit_intercept=False, max_iter=ITERATIONS, tol=TOLERANCE, weights=penalties)
        weights: Array = solver.fit(X, y).coef_
        return weights


def _call(name: str, noise: Noise, method: str, points: Array) -> Any:
    """Of the problem's method, here or, where the processor asks for it, in a process of its own."""
    without = _without_avx512()
    if not without:
        return Problems().call(name, noise, method, points)
    return _processes(without).call("call", name, noise, method, points)


_problem = lru_cache(maxsize=8)(Problem)


class Problems:
    """All of them: one process serves whichever is asked for."""

    def call(self, name: str, noise: Noise, method: str, points: Array) -> Any:
        """What that problem's method gives."""
        return getattr(_problem(name, noise), method)(points)


@cache
def _processes(without: str) -> Processes:
    return Processes(Problems, (), {"NPY_DISABLE_CPU_FEATURES": without})


@cache
def _without_avx512() -> str:
    """The features that NumPy must not use here; empty where it has none of them.

    celer visits its features in the order that NumPy's argpartition leaves them in. With AVX-512 that order
    is another one, and as the solver stops at a tolerance, F then differs in the fourth digit. LassoBench's
    values are without it, and a value should not depend on the processor.
    """
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return " ".join(name for name in features if name.startswith(("AVX512", "X86_V4")))
