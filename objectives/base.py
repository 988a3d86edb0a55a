"""`Objective`, a function to be minimised, and `ObjectiveConfig`, the settings that name one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np
from pydantic import field_validator, model_validator

from .fields import ConfigError, Frozen, not_one_of
from .references import known_references

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


class Objective(ABC):
    """A function to be minimised on [-1, 1]^D, with what is known about it.

    Attributes:
        name: The name by which the registry and the config know it.
        dimension: D, the number of variables.
        effective_dimension: d_e, how many of them matter; None where unknown.
        differentiable: Whether torch can differentiate `evaluate`.
        noise: Standard deviation of what a run adds to each value that it gives to a method.
        own_noise: Standard deviation of the noise that its values have anyway, as it was declared.
        dear: Whether an evaluation may take long, so that none is made but those of a run.
    """

    name: str
    dimension: int
    effective_dimension: int | None = None
    differentiable: bool = False
    noise: float = 0.0
    own_noise: float = 0.0
    dear: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """The box, the same for every coordinate."""
        return (-1.0, 1.0)

    @property
    def effective_coordinates(self) -> NDArray[np.intp] | None:
        """(d_e,) indices of the coordinates that matter; None where unknown."""
        return None

    @property
    def minimum(self) -> float | None:
        """F*, the exact minimum on the box; None where it is not known."""
        return None

    @property
    def minimiser(self) -> NDArray[np.float64] | None:
        """(D,) a point of the box at which `minimum` is taken; None where it is not known."""
        return None

    @property
    def minimum_note(self) -> str:
        """Why `minimum` is None, in words; empty where it is known."""
        return "" if self.minimum is not None else f"The minimum of {self.name} is not known."

    @property
    def gradient_note(self) -> str:
        """Whether it has gradients, in words."""
        return "Has gradients." if self.differentiable else "No gradients: the floor does not apply."

    @abstractmethod
    def evaluate(self, x: Tensor) -> Tensor:
        """The values at x.

        Args:
            x: (n, D) float64 points of the box.

        Returns:
            (n,) values.
        """

    @overload
    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @overload
    def __call__(self, x: Tensor) -> Tensor: ...
    def __call__(self, x: NDArray[np.float64] | Tensor) -> NDArray[np.float64] | Tensor:
        """Values of an (n, D) array: numpy in, numpy out; torch in, torch out (with gradients)."""
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise ValueError(f"x has shape {tuple(x.shape)}; {self.name} takes (n, {self.dimension}).")
        if not isinstance(x, np.ndarray):
            return self.evaluate(x)
        import torch

        with torch.no_grad():
            values = self.evaluate(torch.from_numpy(np.ascontiguousarray(x, dtype=np.float64)))
        return np.asarray(values.numpy(), dtype=np.float64)

    def values_at_once(self, x: NDArray[np.float64]) -> list[float | Exception] | None:
        """The values at the rows of x, computed side by side, or why one failed; None: it cannot do that."""
        return None

    def to_units(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """A point of the box in the units of who gave the function; most have none but the box's."""
        return x

    def portrait(self, x: NDArray[np.float64]) -> object | None:
        """What a picture of the (D,) point shows, where this objective has one; `dsebo/charts` draws it."""
        return None

    def at_centre(self) -> float:
        """The value at the centre of the box: the reference every curve is read against."""
        return float(self(np.zeros((1, self.dimension)))[0])


def inside_the_box(objective: Objective, x: Tensor) -> NDArray[np.float64]:
    """x as an array, for objectives that have no value outside; ConfigError where it is not in the box."""
    points: NDArray[np.float64] = x.detach().numpy()
    if not np.isfinite(points).all():
        raise ConfigError(f"x must be finite numbers; {objective.name} has no value at others.")
    if np.abs(points).max(initial=0.0) > 1.0:
        raise ConfigError(
            f"x must be in [-1, 1]^{objective.dimension}; {objective.name} has no value outside."
        )
    return points


class ObjectiveConfig(Frozen):
    """Base of every kind's settings: `kind` is the kind's tag, `name` says which of its objectives.

    A subclass gives `kind` a `Literal` type and a default, declares its own fields by `setting`,
    and has D, as a field or as a property where the name fixes it.

    Attributes:
        arithmetic: Raised when values of these objectives change, or the default of a setting:
            runs from before are then no longer taken for the same.
        brief: The fields that a title mentions.
        identity: The fields that a config is known by, also where they follow from others.
        picture: What the picture of a point is called; empty where there is none.
        constant: What the best point with one value in all variables is called, where that is a reference.
    """

    arithmetic: ClassVar[int] = 1
    brief: ClassVar[tuple[str, ...]] = ()
    identity: ClassVar[tuple[str, ...]] = ("name",)
    picture: ClassVar[str] = ""
    constant: ClassVar[str] = ""

    kind: str
    name: str

    if TYPE_CHECKING:  # at run time a property of the base would stand in the way of a field

        @property
        def D(self) -> int:
            """The number of variables."""

    @classmethod
    @abstractmethod
    def names(cls) -> list[str]:
        """The objectives of this kind, the default first. A name is taken once over all kinds."""

    @classmethod
    def description(cls, name: str) -> str:
        """One line about one of them."""
        return ""

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """`given` with the defaults filled in that depend on other settings; it has the name."""
        return given

    @abstractmethod
    def build(self) -> Objective:
        """The objective itself. Quick: what takes long is left to the first evaluation."""

    @classmethod
    def with_references(cls) -> list[Self]:
        """The settings for which `python -m benchmarks.references` computes reference lines."""
        return []

    @property
    def task(self) -> str:
        """Under which name those are kept."""
        return self.name

    def references(self) -> dict[str, float]:
        """Values that curves are read against, by their names, besides what a run finds out itself."""
        return known_references(self.task)

    @property
    def seconds(self) -> float:
        """About what an evaluation takes, where that is more than a method's own time."""
        return 0.0

    def unavailable(self) -> str:
        """Why it cannot be evaluated here, in a sentence; its runs can still be looked at."""
        return ""

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        first = cls.names()[:1]
        return cls.complete({**({"name": first[0]} if first else {}), **given})

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in cls.names():
            raise ValueError(not_one_of("function", cls.names(), name))
        return name
