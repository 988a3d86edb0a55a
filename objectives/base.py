"""`Objective`: what an optimizer may know of the function that it minimises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, overload

import numpy as np

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
    """

    name: str
    dimension: int
    effective_dimension: int | None = None
    differentiable: bool = False

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

    def at_centre(self) -> float:
        """The value at the centre of the box: the reference every curve is read against."""
        return float(self(np.zeros((1, self.dimension)))[0])
