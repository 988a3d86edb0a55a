"""The base functions by name; open to a user's own and to other packages' (entry points)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import numpy as np

from .fields import must, not_one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

ENTRY_POINT_GROUP = "dsebo.functions"

Box = tuple[float, float]


@dataclass(frozen=True)
class BaseFunction:
    """A test function f on its own domain, of any number of variables from `min_dimension` on.

    Attributes:
        name: Lower case, with dashes.
        lower, upper: Its domain, the same for every coordinate.
        default_c: The shift c that F_c takes when none is given, in the domain's units.
        f: (n, d) tensor of points of the domain -> (n,) values.
        minimiser: (d, box) -> the (d,) global minimiser of f on that box, or None if unknown.
            The box is the domain less c: what u - c can reach.
        minimum: The value at that minimiser where it is exact by theory (0 for most); None to take
            f(minimiser).
        description: One line for people.
        min_dimension: The least d for which f is defined.
        differentiable: Whether torch can differentiate f.
    """

    name: str
    lower: float
    upper: float
    f: Callable[[Tensor], Tensor]
    default_c: float = 0.0
    minimiser: Callable[[int, Box], NDArray[np.float64] | None] | None = None
    minimum: float | None = None
    description: str = ""
    min_dimension: int = 1
    differentiable: bool = True

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(must("lower", f"less than upper = {self.upper}", self.lower))


_functions: dict[str, BaseFunction] = {}
_entry_points_loaded = False


def register(function: BaseFunction) -> BaseFunction:
    """Make a base function known by its name. A name is taken once, over all kinds of objectives."""
    from . import KINDS  # which has this module's functions among them

    others = (kind.names() for tag, kind in KINDS.items() if tag != "embedded")
    taken = any(function.name in names for names in others)
    if taken or _functions.setdefault(function.name, function) is not function:
        raise ValueError(must("name", "one that is not registered already", function.name))
    return function


def numpy_function(f: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Callable[[Tensor], Tensor]:
    """Wrap a numpy function of an (n, d) array for use as `BaseFunction.f` (no gradients)."""

    def of_tensor(v: Tensor) -> Tensor:
        import torch

        return torch.as_tensor(np.asarray(f(v.detach().numpy()), dtype=np.float64))

    return of_tensor


def get_function(name: str) -> BaseFunction:
    """The base function of that name; KeyError with what is near, if there is none."""
    _load_entry_points()
    if name in _functions:
        return _functions[name]
    raise KeyError(not_one_of("function", function_names(), name))


def function_names() -> list[str]:
    """The names of all known base functions, the paper's six first."""
    _load_entry_points()
    return list(_functions)


def _load_entry_points() -> None:
    """Register what installed packages offer under `dsebo.functions`, once."""
    global _entry_points_loaded
    if _entry_points_loaded:
        return
    _entry_points_loaded = True
    from . import synthetic

    for function in synthetic.FUNCTIONS:
        register(function)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            _register_offered(point.load())
        except Exception as error:  # another package's: without it everything else still works
            warnings.warn(
                f"Entry point {point.name!r} of {ENTRY_POINT_GROUP} is left out: {error}", stacklevel=2
            )


def _register_offered(offered: object) -> None:
    if not isinstance(offered, BaseFunction):
        raise TypeError(f"it gives no BaseFunction but {offered!r}.")
    register(offered)
