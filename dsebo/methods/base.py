"""What every method is made of: its settings, and an optimizer that is asked and told.

The caller owns the loop and evaluates the objective; an optimizer never sees it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from dsebo.events import Event
from dsebo.methods.cost import BASE_BYTES, FIT_SHARE, NOT_MEASURED, Coefficients, Prediction
from dsebo.objectives.fields import ConfigError, Frozen, must

Array = NDArray[np.float64]
Family = Literal["DSEBO", "Methods", "Bandits", "Reference", "Elsewhere"]

MAX_BATCH = 64  # points at once


def stream(seed: int, t: int) -> np.random.Generator:
    """The random numbers of step t (0: of what is drawn before the first step).

    They depend on nothing but (seed, t), so a run can be carried on from any step, and two runs
    in two threads share nothing.
    """
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(t,)))


@dataclass(frozen=True)
class Candidate:
    """A point to be evaluated."""

    t: int  # its number, from 1
    z: Array  # the point in the method's own space; `Optimizer.lift(z)` gives x
    x: Array  # (D,) the point of the box
    d: int | None = None  # of the subspace it was chosen in; None where a method has none
    seconds_fit: float = 0.0
    seconds_acq: float = 0.0


@dataclass(frozen=True)
class Told:
    """What a value led to: the patience as it was counted, and the events that it caused."""

    T: int | None = None
    since_gain: int | None = None
    events: list[Event] = field(default_factory=list)


class Observations:
    """The evaluations told so far: z of whatever length, y (NaN where failed)."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.values: list[float] = []

    def add(self, z: Array, y: float) -> None:
        """Record one evaluation; a value that is not finite is kept as NaN."""
        self.points.append(z)
        self.values.append(y if np.isfinite(y) else float("nan"))

    def __len__(self) -> int:
        return len(self.values)

    def copy(self) -> Observations:
        """The same evaluations, to which others can be added."""
        other = Observations()
        other.points, other.values = list(self.points), list(self.values)
        return other

    @property
    def any_finite(self) -> bool:
        """Whether any evaluation has succeeded."""
        return bool(np.isfinite(self.values).any())

    def values_for_model(self) -> Array:
        """(n,) y, with a failed evaluation at the worst finite value."""
        return values_for_model(np.array(self.values))

    def standardized_values(self) -> Array:
        """(n,) `values_for_model` with mean 0 and deviation 1; the deviation stays where all are alike."""
        y = self.values_for_model()
        spread = float(y.std())
        scaled: Array = (y - y.mean()) / (spread if spread > 1e-12 * float(np.abs(y).max()) else 1.0)
        return scaled

    def clipped(self) -> float | None:
        """What a model takes the last value for, where it lies so far above the others; else None."""
        if len(self.values) < 3 or not np.isfinite(self.values[-1]):
            return None
        y = np.array(self.values)
        cap = outlier_cap(y[np.isfinite(y)])
        return cap if cap is not None and self.values[-1] > cap else None

    def as_data(self) -> list[tuple[Array, float]]:
        """As `state_dict` gives it."""
        return list(zip(self.points, self.values, strict=True))

    def load(self, data: list[tuple[Any, float]]) -> None:
        """From what `as_data` gave."""
        self.points = [np.array(z, dtype=np.float64) for z, _ in data]
        self.values = [float("nan") if y is None else float(y) for _, y in data]


def values_for_model(y: Array) -> Array:
    """(n,) with a failed evaluation at the worst finite value, and none too far out."""
    y = np.where(np.isfinite(y), y, np.nanmax(y))
    cap = outlier_cap(y)
    return y if cap is None else np.clip(y, -LARGEST, cap)


LARGEST = 1e150  # beyond, squares are no numbers
FAR_OUT = 1e12  # times the size of nine tenths of the values: all of these would look the same to a model


def outlier_cap(y: Array) -> float | None:
    """The most that a model takes a value for; None where no value is so far above the others.

    One value of 1e300 would make all others equal once they are standardised, and the model blind.
    """
    if y.size < 3:
        return None
    ordered = np.sort(np.clip(y, -LARGEST, LARGEST))
    usual = ordered[y.size - 1 - max(1, y.size // 10)]
    spread = usual - ordered[0]
    # Also of their size, not of their range alone: the first points may be close to one another.
    if spread > 0 and ordered[-1] - usual > FAR_OUT * max(spread, abs(usual), abs(ordered[0])):
        return float(usual + spread)
    return LARGEST if np.abs(y).max() > LARGEST else None


class Optimizer(ABC):
    """One method at work on one run.

    A method gives `next_point`; `after` for what a value leads to; `own_state` and `load_own_state` for
    what its evaluations do not tell. Unless it says otherwise, its z is x itself.
    """

    has_model: ClassVar[bool] = False  # of the values, which it clips where one is far out

    def __init__(self, D: int, seed: int) -> None:
        self.D, self.seed = D, seed
        self.observed = Observations()
        self.pending: list[Candidate] = []  # asked together and not told yet

    @property
    def d(self) -> int | None:
        """Dimension of the subspace that it works in now; None where it has none."""
        return None

    @property
    def done(self) -> bool:
        """Whether the method has nothing more to ask, whatever the budget."""
        return False

    @overload
    def ask(self) -> Candidate: ...
    @overload
    def ask(self, q: int) -> list[Candidate]: ...
    def ask(self, q: int | None = None) -> Candidate | list[Candidate]:
        """The next point, or the next q at once. Asking again before `tell` gives the same.

        Of points that were asked together, those that have not been told come first, whatever q is. A method
        may give fewer than q: a population ends with its generation.
        """
        if q is None:
            return self.pending[0] if self.pending else self.next_point()
        if type(q) is not int or not 1 <= q <= MAX_BATCH:
            raise ConfigError(must("q", f"a whole number from 1 to {MAX_BATCH}", q))
        if not self.pending:
            self.pending = self.next_points(q)
        return list(self.pending)

    @abstractmethod
    def next_point(self) -> Candidate:
        """The next point; once more, the same one."""

    def next_points(self, q: int) -> list[Candidate]:
        """At most q points at once; ConfigError where the method has no way to choose several."""
        if q == 1:
            return [self.next_point()]
        raise ConfigError(f"{type(self).__name__} proposes one point at a time: q must be 1 (got {q}).")

    def tell(self, candidate: Candidate, y: float) -> Told:
        """Take the value of an asked point; NaN or infinity where its evaluation failed.

        Points that were asked together are told in their order, so that a history does not depend on which
        of them was evaluated first.
        """
        if self.pending:
            if candidate.t != self.pending[0].t:
                raise ConfigError(
                    f"Points that were asked together must be told in their order: evaluation "
                    f"{self.pending[0].t} is next (got {candidate.t})."
                )
            del self.pending[0]
        return self.learn(candidate, y)

    def learn(self, candidate: Candidate, y: float) -> Told:
        """Keep a value, and say what it led to."""
        self.observed.add(candidate.z, y)
        return Told(events=self.after(candidate, y))

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """What the value of that point changes."""
        return []

    def lift(self, z: Array) -> Array:
        """The x in [-1, 1]^D that a stored z stands for."""
        return z

    def checksum(self) -> str | None:
        """A fingerprint of the random matrix behind `lift`; None where there is none."""
        return None

    def retrace(self, z: Array, y: float) -> Told:
        """Take an evaluation of a stored run, with all that asking for it would have taught."""
        return self.tell(replace(self.ask(), z=z), y)

    def may_have_asked(self, z: Array) -> bool:
        """Whether a stored point has as many coordinates as the next one would."""
        return z.size == self.d

    def fork_point(self) -> dict[str, Any] | None:
        """The own state as it was before the decision that the last value led to; None: it led to none."""
        return None

    def take_over(self, before: Optimizer, point: dict[str, Any], decide: int | None) -> list[Event]:
        """Go on from a fork point of `before`, with own settings; take the decision again.

        Args:
            before: What has come that far, with other settings or the same ones.
            point: What its `fork_point` gave there.
            decide: The decision itself, where it is given; in DSEBO the step.

        Returns:
            What was decided.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fork points.")

    def own_state(self) -> dict[str, Any]:
        """What the next `ask` depends on besides the evaluations; small and plain JSON."""
        return {}

    def load_own_state(self, state: dict[str, Any]) -> None:  # noqa: B027  (not every method has some)
        """The inverse of `own_state`; the evaluations are there already."""

    def state_dict(self) -> dict[str, Any]:
        """All that the next `ask` depends on.

        `state["data"]` is a list of (z, y), one for each evaluation; the rest is small and plain
        JSON. A store that keeps the evaluations anyway can leave "data" out and put it back.
        """
        waiting = {"pending": [_packed(candidate) for candidate in self.pending]} if self.pending else {}
        return {**self.own_state(), **waiting, "data": self.observed.as_data()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict` of an optimizer with the same settings."""
        self.observed.load(state["data"])
        self.load_own_state(state)
        first = len(self.observed) + 1
        self.pending = [self._unpacked(t, plain) for t, plain in enumerate(state.get("pending", ()), first)]

    def _unpacked(self, t: int, plain: dict[str, Any]) -> Candidate:
        z, d = np.frombuffer(b64decode(plain["z"]), dtype="<f8").astype(np.float64), plain["d"]
        if not np.isfinite(z).all() or not (d is None or 1 <= d <= z.size):
            raise ValueError(f"The point of evaluation {t} is none.")
        return Candidate(t, z, self.lift(z), d)


def _packed(candidate: Candidate) -> dict[str, Any]:
    """A point as plain JSON, to the last bit; z may be as long as x."""
    z = b64encode(candidate.z.astype("<f8").tobytes()).decode()
    return {"z": z, "d": candidate.d}


class MethodConfig(Frozen, ABC):
    """A method's settings. Its fields are what a form shows; `build` makes its optimizer."""

    label: ClassVar[str]  # its name for people
    family: ClassVar[Family] = "Methods"  # the list in which it is offered
    offered: ClassVar[tuple[dict[str, Any], ...]] = ()  # by a race, besides its defaults
    coefficients: ClassVar[Coefficients] = NOT_MEASURED  # what a run costs
    # The settings that a fork of a run cannot change, each with the reason; None: no run can be forked.
    fork_keeps: ClassVar[Mapping[str, str] | None] = None

    method: str = ""  # each method gives a field `method: Literal["name"] = "name"`

    @property
    def arithmetic(self) -> int:
        """Raised when a history changes, or a default: see `config_hash`."""
        return 1

    @abstractmethod
    def build(self, D: int, budget: int, seed: int) -> Optimizer:
        """The optimizer for D variables; `budget` is the one that its schedule is computed with."""

    @property
    def points_at_once(self) -> int:
        """How many points are asked together; see `methods/_batches.py` for who can give several."""
        return 1

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """`given` with the defaults filled in that depend on other settings."""
        return given

    def check(self, D: int) -> None:
        """Raise ValueError, in one sentence, where a setting does not fit D."""

    def unavailable(self) -> str:
        """Why it cannot be run here, in a sentence; its runs can still be looked at."""
        return ""

    def warnings(self, budget: int) -> list[str]:
        """What is allowed but will surprise, in words."""
        return []

    # -- cost: see methods/cost.py for the terms --------------------------------------------------

    def model_dimension(self, D: int) -> float:
        """d, the dimension of its model (on average over a run); 0 where it has none."""
        return 0.0

    def extra_bytes(self, D: int, budget: int) -> int:
        """Memory besides the points and the model: an embedding, a population, candidates."""
        return 0

    def fit_work(self, n: int) -> float:
        """Iterations of all fits over n evaluations."""
        return 1.0

    def search_work(self) -> float:
        """Points at which a step computes the acquisition; of a region, features of candidates."""
        return 1.0

    def sample_bytes(self, n: int) -> int:
        """Correlations of the samples of a search with n data, their derivatives and a copy."""
        return 0

    def effort(self, n: int) -> float:
        """How much more a step takes than at the method's defaults, over a run of n evaluations."""
        usual = type(self)()
        fit = self.fit_work(n) / usual.fit_work(n)
        return FIT_SHARE * fit + (1.0 - FIT_SHARE) * self.search_work() / usual.search_work()

    def predict(self, D: int, budget: int) -> Prediction:
        """Seconds and bytes of a run of that many evaluations."""
        d = self.model_dimension(D)
        points = 2 * 8 * budget * int(d or D)  # as they are stored, and scaled for the model
        model = 8 * 8 * budget**2 if d else 0  # the covariance, its inverse and some copies
        more_samples = max(0, self.sample_bytes(budget) - type(self)().sample_bytes(budget))
        seconds = self.coefficients.seconds(budget, D, d) * self.effort(budget)
        return Prediction(seconds, BASE_BYTES + points + model + more_samples + self.extra_bytes(D, budget))
