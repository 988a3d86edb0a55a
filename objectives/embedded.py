"""F_c: a base function of d_e variables hidden among D, as in section 6 of the paper."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import ValidationInfo, field_validator

from .base import Objective, ObjectiveConfig
from .fields import MAX_D, MAX_SEED, must, setting, whole_number
from .registry import BaseFunction, function_names, get_function

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

Coordinates = Literal["first", "random"]


class EmbeddedConfig(ObjectiveConfig):
    """F_c: which function, hidden in how many dimensions."""

    brief: ClassVar[tuple[str, ...]] = ("D", "d_e", "c")

    kind: Literal["embedded"] = "embedded"
    D: int = setting(1000, "Dimension", "Number of variables.", "D", ge=1, le=MAX_D)
    d_e: int = setting(
        30, "Effective dimension", "How many of the variables matter; min(D, 30).", "d_e", ge=1, le=MAX_D
    )
    c: float = setting(1.0, "Shift", "Moves the optimum away from the centre; in the function's units.", "c")
    K: float = setting(10_000.0, "Tail divisor", "The other variables weigh 1/K.", "K", gt=0)
    coordinates: Coordinates = setting(
        "first", "Effective coordinates", "The first d_e, or a random subset.", advanced=True
    )
    coordinates_seed: int = setting(
        0, "Seed of the coordinates", "Seed of that subset.", advanced=True, ge=0, le=MAX_SEED
    )

    noise: float = setting(0.0, "Noise", symbol="σ", advanced=True, ge=0, le=1e100)
    """Standard deviation of what is added to every value that a method sees. The best value shown is without
    it, at the point that looked best."""

    @classmethod
    def names(cls) -> list[str]:
        """The base functions."""
        return function_names()

    @classmethod
    def description(cls, name: str) -> str:
        """Domain, shift and shape."""
        base = get_function(name)
        domain = f"[{base.lower:.4g}, {base.upper:.4g}]"
        return f"{domain:16s} c = {base.default_c:<5g} {base.description}"

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """c is the function's own; d_e = 30, or D if that is less."""
        defaults: dict[str, Any] = {}
        if given["name"] in cls.names():
            defaults["c"] = get_function(given["name"]).default_c
        if (D := whole_number(given.get("D"))) is not None:
            defaults["d_e"] = max(1, min(D, 30))
        return defaults | {field: value for field, value in given.items() if (field, value) != ("c", None)}

    @field_validator("d_e")
    @classmethod
    def _fits(cls, d_e: int, info: ValidationInfo) -> int:
        if "D" not in info.data or "name" not in info.data:
            return d_e
        least, D = get_function(info.data["name"]).min_dimension, info.data["D"]
        if not least <= d_e <= D:
            raise ValueError(must("d_e", f"a whole number from {least} to D = {D}", d_e))
        return d_e

    def build(self) -> EmbeddedFunction:
        """F_c."""
        return EmbeddedFunction(**self.model_dump(exclude={"kind"}))


class EmbeddedFunction(Objective):
    """F_c(x) = f(u_E - c) + (1/K) sum over i not in E of (u_i - c)^2, u = x in f's own units.

    x in [-1, 1]^D is scaled to the domain of f; E holds the d_e effective coordinates. The tail is
    added: with the printed minus sign there would be no minimum at c.

    Args:
        name: A registered base function f.
        D: Number of variables.
        d_e: Number of effective variables.
        c: The shift, in the units of f's domain; None for the function's own default.
        K: The tail weighs 1/K.
        coordinates: E is the first d_e coordinates, or a random subset.
        coordinates_seed: The seed of that subset.
        noise: Standard deviation of what a run adds to each value; `evaluate` is without it.
    """

    def __init__(
        self,
        name: str,
        D: int,
        d_e: int,
        c: float | None = None,
        K: float = 10_000.0,
        coordinates: Coordinates = "first",
        coordinates_seed: int = 0,
        noise: float = 0.0,
    ) -> None:
        self.base: BaseFunction = get_function(name)
        self.name = name
        self.dimension = D
        self.effective_dimension: int = d_e
        self.c = self.base.default_c if c is None else c
        self.K = K
        self.coordinates = coordinates
        self.coordinates_seed = coordinates_seed
        self.noise = noise
        self.differentiable = self.base.differentiable
        if not self.base.min_dimension <= d_e <= D:
            raise ValueError(must("d_e", f"a whole number from {self.base.min_dimension} to D = {D}", d_e))
        if not (np.isfinite(K) and K > 0):
            raise ValueError(must("K", "a finite number above 0", K))
        if not np.isfinite(self.c):
            raise ValueError(must("c", "a finite number", self.c))

    @cached_property
    def effective_coordinates(self) -> NDArray[np.intp]:
        """(d_e,) the indices in E, ascending."""
        if self.coordinates == "first":
            return np.arange(self.effective_dimension)
        rng = np.random.default_rng([self.coordinates_seed])
        return np.sort(rng.choice(self.dimension, self.effective_dimension, replace=False))

    @cached_property
    def _tail_coordinates(self) -> NDArray[np.intp] | slice:
        if self.coordinates == "first":
            return slice(self.effective_dimension, None)  # a view: no copy of a long x
        return np.delete(np.arange(self.dimension), self.effective_coordinates)

    def _to_domain(self, x: Tensor) -> Tensor:
        """u: [-1, 1] scaled to [lower, upper]."""
        half_width = (self.base.upper - self.base.lower) / 2
        middle = (self.base.upper + self.base.lower) / 2
        return middle + half_width * x

    def _to_box(self, u: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
        return (2 * u - self.base.upper - self.base.lower) / (self.base.upper - self.base.lower)

    def evaluate(self, x: Tensor) -> Tensor:
        """F_c at the (n, D) points x."""
        effective = slice(self.effective_dimension)
        of_effective = x[:, effective if self.coordinates == "first" else self.effective_coordinates]
        f = self.base.f(self._to_domain(of_effective) - self.c)
        tail = (self._to_domain(x[:, self._tail_coordinates]) - self.c).square().sum(dim=-1)
        return f + tail / self.K

    @property
    def shifted_domain(self) -> tuple[float, float]:
        """What v = u - c can reach."""
        return (self.base.lower - self.c, self.base.upper - self.c)

    @cached_property
    def _base_minimiser(self) -> NDArray[np.float64] | None:
        """(d_e,) the v that minimises f on the shifted domain, or None if unknown or outside."""
        if self.base.minimiser is None:
            return None
        lower, upper = self.shifted_domain
        v = self.base.minimiser(self.effective_dimension, (lower, upper))
        slack = 1e-12 * (upper - lower)
        if v is None or np.any(v < lower - slack) or np.any(v > upper + slack):
            return None
        return v

    @property
    def _tail_optimum_inside(self) -> bool:
        has_tail = self.dimension > self.effective_dimension
        return not has_tail or self.base.lower <= self.c <= self.base.upper

    @cached_property
    def minimiser(self) -> NDArray[np.float64] | None:
        """(D,) where F* is taken: u = v* + c on E and u = c elsewhere; None if outside the box."""
        v = self._base_minimiser
        if v is None or not self._tail_optimum_inside:
            return None
        x: NDArray[np.float64] = np.full(self.dimension, self._to_box(self.c))
        x[self.effective_coordinates] = self._to_box(v + self.c)
        return np.clip(x, -1.0, 1.0, out=x)

    @cached_property
    def minimum(self) -> float | None:
        """F*: the minimum of f, as the tail is 0 at its optimum; None if not known."""
        v = self._base_minimiser
        if v is None or not self._tail_optimum_inside:
            return None
        if self.base.minimum is not None:
            return self.base.minimum
        import torch

        return float(self.base.f(torch.from_numpy(v)[None])[0])

    @property
    def minimum_note(self) -> str:
        """Why F* is not given, in words."""
        if self.minimum is not None:
            return ""
        if self.base.minimiser is None:
            return f"The minimum of {self.name} is not known."
        lower, upper = self.base.lower, self.base.upper
        return (
            f"c = {self.c:g} moves the optimum of {self.name} out of its domain "
            f"[{lower:g}, {upper:g}]: the minimum inside the box is not known."
        )

    def largest_tail(self) -> float:
        """The most the tail can add: (D - d_e) max (u - c)^2 / K."""
        furthest = max(abs(v) for v in self.shifted_domain)
        return (self.dimension - self.effective_dimension) * furthest**2 / self.K
