"""What happens in a run, as small frozen records: the one language of run, store and pages."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

KINDS: dict[str, type[Event]] = {}  # every kind of event by its name


@dataclass(frozen=True)
class Event:
    """Something that happened at evaluation t. `kind` is its name in JSON and in the store."""

    kind: ClassVar[str]
    t: int

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        KINDS[kind] = cls

    def to_json(self) -> dict[str, Any]:
        """One flat JSON object. Numbers that JSON does not know (NaN, inf) become null."""
        shown = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _HIDDEN}
        told = {name: value for name, value in shown.items() if value is not None or name not in _RARE}
        return {"event": self.kind, **{name: _plain(value) for name, value in told.items()}}


_HIDDEN = {"z"}  # a point is kept by the store as bytes, not printed
_RARE = {"ruled", "enough", "most", "incumbent", "expected"}  # left out where there is none


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True)
class Started(Event, kind="started"):
    """The run begins, or goes on after evaluation t."""

    config: dict[str, Any]
    minimum: float | None
    at_centre: float | None
    checksum: str | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evaluated(Event, kind="evaluated"):
    """One evaluation: its value, and where the run stands after it.

    `d`, `T` and `since_gain` are those under which the point was chosen and counted; an
    expansion that follows comes as its own event.
    """

    y: float
    best: float
    d: int | None
    T: int | None
    since_gain: int | None
    failed: bool
    seconds: float
    seconds_fit: float
    seconds_acq: float
    seconds_eval: float
    error: str | None
    z: NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def seconds_other(self) -> float:
        """Bookkeeping: what is neither fit, acquisition nor evaluation."""
        return self.seconds - self.seconds_fit - self.seconds_acq - self.seconds_eval


@dataclass(frozen=True)
class Converged(Event, kind="converged"):
    """A subspace has converged. Carries every number of Algorithm 1; d_to = d_from: it stays."""

    d_from: int
    d_to: int
    dims: tuple[int, ...]  # with bests the records (d_i, b_i), this convergence included
    bests: tuple[float, ...]
    slopes: tuple[float, ...]  # s_1 ... s_{n-1}
    s_min: float | None
    s_max: float | None
    k: float | None  # the factor on the step; None where the strategy does not use one yet
    delta_before: int | None  # the step, not clipped at d_h
    delta_after: int
    T_before: int  # the patience
    T_after: int
    text: str  # one sentence for people
    ruled: int | None = None  # the strategy's own step, where a fork took another
    enough: float | None = None  # the last slopes as a share of a large one, where it stops the growth
    most: int | None = None  # dimensions that are enough, where probes have told


@dataclass(frozen=True)
class Expanded(Converged, kind="expanded"):
    """A subspace has converged and the run goes on in a larger one."""


@dataclass(frozen=True)
class Forked(Event, kind="forked"):
    """The run leaves another one: up to evaluation t, and before what follows, both are the same.

    Attributes:
        parent: The id of that run.
        decide: The step that is taken instead of the strategy's own; None: the strategy decides.
        before, after: The settings that change, as they were and as they are from here on.
        text: One sentence for people.
    """

    parent: str
    decide: int | None
    before: dict[str, Any]
    after: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Finished(Event, kind="finished"):
    """The run has ended: `state` is "finished" or "failed".

    Where noise was declared, `incumbent` is the evaluation whose point has the least posterior mean, and
    `expected` that mean: see `dsebo.gp.incumbent`.
    """

    state: str
    best: float
    d: int | None
    seconds: float
    text: str
    incumbent: int | None = None
    expected: float | None = None


@dataclass(frozen=True)
class Clipped(Event, kind="clipped"):
    """A value so far above all others that the model takes it for less: else it would see nothing else."""

    y: float
    taken: float
    text: str


# -- what the other methods change: the same family, so that one trajectory chart serves all ------


@dataclass(frozen=True)
class RegionChanged(Event, kind="region-changed"):
    """A trust region has grown or shrunk; lengths are shares of the box's side."""

    length_from: float
    length_to: float
    best: float
    text: str


@dataclass(frozen=True)
class Restarted(Event, kind="restarted"):
    """A region or a tree is given up and begun again; what was found stays found."""

    best: float
    text: str


@dataclass(frozen=True)
class Split(Event, kind="split"):
    """A subspace is refined: bins of variables, or a set of variables, fall into parts."""

    d_from: int
    d_to: int
    sizes: tuple[int, ...]  # numbers of variables in the parts, at most the ten largest
    text: str


@dataclass(frozen=True)
class SubspaceChanged(Event, kind="subspace-changed"):
    """The search goes on in another subspace, learnt or chosen."""

    d_from: int | None  # None: there was none
    d_to: int
    variables: tuple[int, ...]  # where it is a set of variables: their numbers from 0, at most ten
    angle: float | None  # where it is a learnt plane: the largest one to that before, in degrees
    text: str


@dataclass(frozen=True)
class Generation(Event, kind="generation"):
    """A population has been evaluated and its distribution updated."""

    generation: int
    sigma_from: float  # step size (mean deviation, where each variable has its own)
    sigma_to: float
    best: float  # of the generation's values; null where all have failed
    median: float
    text: str


@dataclass(frozen=True)
class ArmPulled(Event, kind="arm-pulled"):
    """A bandit has pulled an arm."""

    d_from: int | None  # of the arm pulled before; None: the first pull
    d_to: int
    dims: tuple[int, ...]  # the arms
    pulls: tuple[int, ...]  # of each arm after this pull
    means: tuple[float, ...]  # reward
    bests: tuple[float, ...]  # the least y
    # What the strategy compared before it (a bound, a probability, a draw); null for an arm out of the
    # race, empty while the arms are being started.
    scores: tuple[float, ...]
    text: str


# -- what a model has learnt: `dsebo.charts.minds` draws each of these kinds -----------------------


@dataclass(frozen=True)
class Probed(Event, kind="probed"):
    """Each block of variables has been moved once, which tells how many variables matter.

    (Before 0.3 the event had `curvatures` along random directions in place of `changes`.)
    """

    matter: float | None  # variables that matter; None where the changes do not tell
    most: int  # dimensions that are enough
    text: str
    changes: tuple[float, ...] = ()  # of the value, by each block whose evaluation has not failed


@dataclass(frozen=True)
class Moved(Event, kind="moved"):
    """One block of variables has been moved, nothing else, and the value is better: it stays moved."""

    block: int  # its number, from 0
    variables: tuple[int, ...]  # of the block, from 0, at most ten
    far: float  # how far, the box being from -1 to 1
    gain: float
    gained: float  # by all moves so far
    text: str


@dataclass(frozen=True)
class RelevanceChanged(Event, kind="relevance-changed"):
    """A model has found out which variables matter."""

    variables: tuple[int, ...]  # the ten that matter most, from 0
    shares: tuple[float, ...]  # of each, of the sum over all variables
    active: int  # how many matter at all
    of: int  # of how many
    text: str


@dataclass(frozen=True)
class WallsMet(Event, kind="walls-met"):
    """A search inside linear constraints: how far out its point lies, and what the model looks along."""

    gauge: float  # of the point: 0 at the centre, 1 on a wall
    tight: int  # walls that it touches
    directions: int  # that the model reacts to
    variables: tuple[int, ...]  # the ten that move the model most, from 0
    shares: tuple[float, ...]
    text: str


@dataclass(frozen=True)
class Retrained(Event, kind="retrained"):
    """A learnt map from few numbers to x has been trained again."""

    error: float  # mean squared, of the points it was trained on
    variance: float  # of these points: what an error must stay below to mean anything
    nats: float  # what the code carries of a point
    active: int  # numbers of the code that are in use
    of: int
    losses: tuple[float, ...]  # as training went on, about 20
    text: str


@dataclass(frozen=True)
class StructureChanged(Event, kind="structure-changed"):
    """A function is taken for a sum of parts, each of a few variables."""

    parts: int
    members: tuple[tuple[int, ...], ...]  # ten parts at most, each with ten variables at most, from 0
    weights: tuple[float, ...]  # of these parts, what they are ordered by
    gaps: tuple[float, ...]  # where copies of a point must agree: how far apart, round by round
    text: str
    disputed: tuple[int, ...] = ()  # the ten variables whose copies are furthest apart at the end, from 0
    disputes: tuple[float, ...] = ()  # how far
