"""A function of one's own, from a Python file that was named when this process started.

A config knows it by its name and a fingerprint of its file, its bounds and D. A run whose function is not
here can be looked at, but not carried on. Nothing that comes through a browser or in a file of runs is ever
executed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import numbers
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import field_validator

from .base import Objective, ObjectiveConfig
from .fields import MAX_D, ConfigError, must, setting, short
from .processes import Processes

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]

VARIABLE = "DSEBO_FUNCTIONS"  # of the environment: what the processes that this one starts may call too
MAX_WORKERS = 64
MAX_NOISE = 1e100


@dataclass(frozen=True)
class Problem:
    """A function to minimise, with its bounds.

    Attributes:
        f: Takes a (D,) point in its own units, returns a number. It may raise or return NaN.
        bounds: (D, 2) the lower and upper bound of each variable.
        names: Of the variables; none: x1, x2 …
        minimum: The least value, where it is known.
        noise: Standard deviation of the noise that its values have; 0: they are exact. Where they are not,
            the best point is the one whose posterior mean is least.
        name: By which forms and the terminal know it; empty: that of its file and of itself.
    """

    f: Callable[[Array], float]
    bounds: Sequence[tuple[float, float]] | ArrayLike
    names: Sequence[str] = ()
    minimum: float | None = None
    name: str = ""
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ConfigError(must("f", "a function of a point", self.f))
        lower, _ = self.limits
        if self.names and len(self.names) != lower.size:
            raise ConfigError(must("names", f"one for each of the {lower.size} variables", len(self.names)))
        if len({str(name) for name in self.names}) < len(self.names):
            raise ConfigError(must("names", "all different", short(list(self.names))))
        if self.minimum is not None and not _is_finite(self.minimum):
            raise ConfigError(must("minimum", "a finite number, or None where it is not known", self.minimum))
        if not isinstance(self.name, str):
            raise ConfigError(must("name", "a text", self.name))
        if not isinstance(self.noise, numbers.Real) or not 0 <= self.noise <= MAX_NOISE:
            raise ConfigError(must("noise", "a number of 0 or more", self.noise))

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """(D,) lower and (D,) upper bounds, checked."""
        return check_bounds(self.bounds)


def _is_finite(value: Any) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value)


def check_bounds(bounds: Sequence[tuple[float, float]] | ArrayLike) -> tuple[Array, Array]:
    """(D,) lower and (D,) upper bounds; ConfigError where they are none."""
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError("bounds must be a (lower, upper) pair of numbers per variable.") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.shape[0] < 1:
        raise ConfigError(f"bounds must be a (lower, upper) pair per variable (got shape {pairs.shape}).")
    lower, upper = pairs[:, 0].copy(), pairs[:, 1].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        wide = ~np.isfinite(upper - lower)  # from -1e308 to 1e308 is no number
    wrong = np.flatnonzero(~(np.isfinite(pairs).all(axis=1) & (lower < upper)) | wide)
    if wrong.size:
        i = int(wrong[0])
        raise ConfigError(
            f"bounds[{i}] must be two finite numbers, the lower below the upper, a finite distance apart "
            f"(got {lower[i]:g}, {upper[i]:g})."
        )
    return lower, upper


class UserFunction(Objective):
    """A function of a (D,) point in its own units, seen from [-1, 1]^D."""

    name = "user"
    dear = True

    def __init__(
        self,
        f: Callable[[Array], Any],
        lower: Array,
        upper: Array,
        processes: Processes | None = None,
        timeout: float | None = None,
    ) -> None:
        """`processes`: where f is called, if not here; a call that takes longer than `timeout` has failed."""
        self.f, self.lower, self.upper = f, lower, upper
        self.processes, self.timeout = processes, timeout
        self.dimension = lower.size

    def to_units(self, x: Array) -> Array:
        """x of the box in the user's units; never outside the bounds, rounding included."""
        return np.clip(self.lower + (x + 1.0) / 2.0 * (self.upper - self.lower), self.lower, self.upper)

    def evaluate(self, x: Tensor) -> Tensor:
        """Each row by a call of its own."""
        import torch

        points = self.to_units(x.numpy())
        return torch.tensor([as_number(self._call(point)) for point in points], dtype=torch.float64)

    def _call(self, point: Array) -> Any:
        if self.processes is None:
            return self.f(point)
        return self.processes.call("call", point, timeout=self.timeout)

    def values_at_once(self, x: Array) -> list[float | Exception] | None:
        """Each in a process of its own, where there are any."""
        if self.processes is None:
            return None
        return self.processes.call_each("call", list(self.to_units(x)), self.timeout)


def as_number(value: Any) -> float:
    """What a function returned as a float; an array or tensor of one number is that number."""
    if hasattr(value, "item") and math.prod(getattr(value, "shape", ())) == 1:
        value = value.item()
    if not isinstance(value, numbers.Real):
        shape = getattr(value, "shape", None)
        got = short(value) if shape is None else f"an array of shape {tuple(shape)}"
        raise TypeError(f"the function must return a number (got {got}).")
    return float(value)


# --- functions that this process may call ------------------------------------------------------------


def check_calls(workers: int, timeout: float | None, least: int = 0) -> None:
    """ConfigError where so many processes, or such a time-out, cannot be."""
    if type(workers) is not int or not least <= workers <= MAX_WORKERS:
        raise ConfigError(must("workers", f"a whole number from {least} to {MAX_WORKERS}", workers))
    if timeout is not None and not (isinstance(timeout, numbers.Real) and 0 < timeout < float("inf")):
        raise ConfigError(must("timeout", "a number of seconds above 0", timeout))


@dataclass(frozen=True)
class Source:
    """Where a function is, and how it is called: what is handed on to other processes.

    Attributes:
        place: `my_problem.py:f`.
        bounds: Of every variable, where the file gives none.
        D: How many there are, then.
        workers: Processes that evaluate it; 0: the thread of the run does.
        timeout: Seconds after which an evaluation in a process is ended; None: never.
    """

    place: str
    bounds: tuple[float, float] | None = None
    D: int | None = None
    workers: int = 0
    timeout: float | None = None

    def __post_init__(self) -> None:
        check_calls(self.workers, self.timeout)
        if self.D is not None and not 1 <= self.D <= MAX_D:
            raise ConfigError(must("D", f"a whole number from 1 to {MAX_D}", self.D))

    @property
    def file(self) -> Path:
        """Its file."""
        return Path(self.place.rpartition(":")[0])

    def load(self) -> Problem:
        """Execute the file, and take the function or `Problem` from it; ConfigError where there is none."""
        path, _, attribute = self.place.rpartition(":")
        file = Path(path)
        if file.suffix != ".py" or not attribute.isidentifier():
            raise ConfigError(
                must("function", "a file and a name in it, such as my_problem.py:f", self.place)
            )
        if not file.is_file():
            raise ConfigError(f"{self.place} cannot be read: there is no file {path}.")
        target = getattr(_module(file), attribute, None)
        if target is None:
            raise ConfigError(f"{self.place} cannot be read: {file.name} has no {attribute}.")
        if isinstance(target, Problem) and (self.bounds is not None or self.D is not None):
            given = "bounds" if self.bounds is not None else "D"
            raise ConfigError(
                f"{attribute} is a Problem, which has its own bounds and D: leave out --{given}."
            )
        problem = target if isinstance(target, Problem) else self._of_function(target)
        return replace(problem, name=problem.name or f"{file.stem}:{attribute}")

    def _of_function(self, f: Any) -> Problem:
        if not callable(f):
            raise ConfigError(must("function", "a function of a point, or a Problem", f))
        if self.bounds is None or self.D is None:
            raise ConfigError("A plain function needs its bounds and D: --bounds=-5,10 --D 200.")
        return Problem(f, np.tile(self.bounds, (self.D, 1)))


def _module(file: Path) -> Any:
    """The file as a module of its own; what stands beside it can be imported by it."""
    name = f"dsebo_own_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # it may raise anything, SystemExit too
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        why = str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
        raise ConfigError(f"{file.name} cannot be executed: {why.rstrip('.')}.") from None
    return module


@dataclass(frozen=True)
class Offered:
    """A function that this process may call."""

    source: Source
    problem: Problem
    fingerprint: str
    processes: Processes | None

    @property
    def D(self) -> int:
        """The number of variables."""
        return self.problem.limits[0].size


class Caller:
    """What a process that evaluates has of a function."""

    def __init__(self, *source: Any) -> None:
        self.f = Source(*source).load().f

    def call(self, point: Array) -> float:
        """f as a number."""
        return as_number(self.f(point))


class SentCaller(Caller):
    """The same of a function without a file of its own: it was pickled, with where its imports are found."""

    def __init__(self, path: list[str], pickled: bytes) -> None:
        import cloudpickle

        sys.path += [folder for folder in path if folder not in sys.path]
        self.f = cloudpickle.loads(pickled)


def sent_to_processes(f: Callable[[Array], Any], workers: int) -> Processes:
    """So many processes that call f, a lambda or closure too; ConfigError where it cannot be sent to them."""
    import cloudpickle

    try:
        pickled = cloudpickle.dumps(f)
    except Exception as error:  # whatever the function holds may refuse, in its own way
        raise ConfigError(f"f cannot be sent to a process: {type(error).__name__}: {error}.") from None
    return Processes(SentCaller, (sys.path, pickled), most=workers)


_offered: dict[str, Offered] | None = None


def offered() -> dict[str, Offered]:
    """The functions of this process by their names: those that its environment names, and `offer` gave."""
    global _offered
    if _offered is None:
        _offered = {}
        for given in json.loads(os.environ.get(VARIABLE) or "[]"):
            offer(Source(**given))
    return _offered


def offer(source: Source) -> str:
    """Let this process, and those that it starts, call a function; its name. The file is executed."""
    problem = source.load()
    known = offered()
    from . import KINDS  # which has this module's config among them

    taken = (name for kind in KINDS.values() if kind is not OwnConfig for name in kind.names())
    if problem.name in taken:
        raise ConfigError(must("name", "one that no other function has", problem.name))
    arguments = (source.place, source.bounds, source.D)
    pool = Processes(Caller, arguments, most=source.workers) if source.workers else None
    lower, upper = problem.limits
    text = hashlib.sha256(source.file.read_bytes())
    text.update(repr((problem.name, lower.tolist(), upper.tolist())).encode())
    known[problem.name] = Offered(source, problem, text.hexdigest()[:16], pool)
    handed = [vars(offered.source) for offered in known.values()]
    os.environ[VARIABLE] = json.dumps(handed)
    return problem.name


# --- as an objective ---------------------------------------------------------------------------------


class OwnConfig(ObjectiveConfig):
    """Which function of one's own."""

    brief: ClassVar[tuple[str, ...]] = ("D",)
    identity: ClassVar[tuple[str, ...]] = ("name", "fingerprint", "D")

    kind: Literal["own"] = "own"
    fingerprint: str = setting("", "Fingerprint", "Of its file, bounds and D.", fixed=True, max_length=64)
    D: int = setting(1, "Dimension", "Number of variables.", "D", fixed=True, ge=1, le=MAX_D)
    noise: float = setting(0.0, "Noise", symbol="σ", advanced=True, ge=0, le=MAX_NOISE)
    """Standard deviation of what is added to every value that a method sees. The best value shown is without
    it, at the point that looked best."""

    @classmethod
    def names(cls) -> list[str]:
        """Those that this process may call."""
        return list(offered())

    @classmethod
    def description(cls, name: str) -> str:
        """Its bounds and its file."""
        known = offered()[name]
        lower, upper = known.problem.limits
        return f"[{lower.min():.4g}, {upper.max():.4g}]  D = {known.D}, of {known.source.file.name}"

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Fingerprint and D are those of the function that is here, where the config has none."""
        known = offered().get(given.get("name", ""))
        return given if known is None else {"fingerprint": known.fingerprint, "D": known.D, **given}

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if not 0 < len(name) <= 200:
            raise ValueError(must("function", "a name of 1 to 200 characters", name))
        return name  # of a function that is not here, a run can be looked at

    def unavailable(self) -> str:
        """Whether the function is not here, or is another one by now."""
        known = offered().get(self.name)
        if known is None:
            return f"The function {self.name} is not here: start dsebo with its file."
        if (known.fingerprint, known.D) != (self.fingerprint, self.D):
            return f"The function {self.name} is another one here: its file, its bounds or D have changed."
        return ""

    def build(self) -> OwnFunction:
        """The function; where it is not here, one that cannot be evaluated."""
        return OwnFunction(self)


class OwnFunction(UserFunction):
    """A function of one's own as an objective of a config."""

    def __init__(self, config: OwnConfig) -> None:
        known = None if config.unavailable() else offered()[config.name]
        unit = np.ones(config.D)
        lower, upper = (-unit, unit) if known is None else known.problem.limits
        if known is None:
            super().__init__(self._refuse, lower, upper)
        else:
            super().__init__(known.problem.f, lower, upper, known.processes, known.source.timeout)
        self.config, self.name, self.noise = config, config.name, config.noise
        self.least = None if known is None else known.problem.minimum
        self.own_noise = 0.0 if known is None else float(known.problem.noise)

    def _refuse(self, point: Array) -> float:
        raise ConfigError(self.config.unavailable())

    @property
    def minimum(self) -> float | None:
        """As it was declared."""
        return self.least
