"""The dynamic dimension expanding strategy (section 4.3, Algorithm 1): pure functions.

Notation, as in the paper:
    d, d_l, d_h     dimension of the subspace, its least and its largest value
    beta            scale of the steps; also sets the patience
    T               patience: evaluations without a gain until a subspace counts as converged
    (d_i, b_i)      dimension and best value of the i-th converged subspace, i = 1 ... n
    s_i             -(b_{i+1} - b_i) / (d_{i+1} - d_i), i = 1 ... n - 1
    k               newest slope, min-max normalised to [0.5, 1.5]
    delta           the step Delta d

The paper's rules stand beside ours, each a choice of its own (`variant = adaptive` takes ours):
    growth = steady         d grows every T evaluations, whatever they gained, by the first step
    steps = first           k scales the first step and not the last one, so that no step dies out
    alpha_mode = gained     a gain is a share of what this subspace has gained: it has no unit
    stop > 0                no more dimensions once two slopes in a row are small beside the second largest
    probes > 0              no more dimensions than the variables that matter ask for, counted by blocks
    blocks > 0              between the steps of the search, one block of variables is moved alone
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from dsebo.events import Converged, Expanded

Variant = Literal["paper", "authors", "adaptive"]
AlphaMode = Literal["absolute", "relative", "gained"]
Growth = Literal["patience", "steady"]
Steps = Literal["last", "first"]

PROBED_IN = 17  # dimensions in which the best point is good enough to be probed around
STANDS_OUT = 10.0  # times the lower quartile: what a block with a variable that matters changes at least
ROOM = 1.5  # dimensions for each variable that matters: a random subspace needs more than there are
RECENT = 0.9  # the weight of an evaluation beside the next one, in a mean of recent gains
EVERY = 3  # one evaluation in so many is a move, at first
IN_A_ROW = 5  # evaluations of one kind, search or move, after which the other has one
BOX_SHRINK = 0.8  # authors: the z-box shrinks by this whenever a run converges and cannot expand


def floor(value: float) -> int:
    """Floor, forgiving a rounding error just below a whole number."""
    return math.floor(value + 1e-9)


@dataclass(frozen=True)
class Strategy:
    """The constants of the strategy."""

    d_l: int
    d_h: int
    beta: float
    budget: int
    alpha: float = 0.5
    alpha_mode: AlphaMode = "absolute"
    variant: Variant = "paper"
    min_step: int = 0
    growth: Growth = "patience"
    steps: Steps = "last"
    stop: float = 0.0
    probes: int = 0

    def first_step(self) -> int:
        """Line 2: floor((d_h - d_l) / beta); the authors' code takes twice that."""
        factor = 2 if self.variant == "authors" else 1
        return max(self.min_step, floor(factor * (self.d_h - self.d_l) / self.beta))

    def first_patience(self) -> int:
        """T at the start: floor(budget / (2 beta)), at least 1."""
        return max(1, floor(self.budget / (2 * self.beta)))

    def next_patience(self, d_left: int, d_entered: int) -> int:
        """T = floor((1 + (d - d_l) / (d_h - d_l)) budget / (2 beta)) after a convergence."""
        authors = self.variant == "authors"
        d = d_entered if authors else d_left
        base = self.budget / ((1 if authors else 2) * self.beta)
        share = (d - self.d_l) / (self.d_h - self.d_l) if self.d_h > self.d_l else 0.0
        return max(1, floor((1 + share) * base))

    @property
    def fixed_steps(self) -> int:
        """Convergences that take the first step unscaled, whatever the slopes."""
        return 3 if self.variant == "authors" else 1


@dataclass(frozen=True)
class Progress:
    """Where the strategy stands; `after_evaluation` gives the next one."""

    d: int
    T: int
    count: int = 0  # evaluations since the last gain
    b_ref: float | None = None  # the best value at the last gain
    best: float = math.inf
    worst: float = -math.inf
    delta: int | None = None  # the last step, None before the first convergence
    dims: tuple[int, ...] = ()
    bests: tuple[float, ...] = ()
    box: float = 1.0  # z lives in [-box, box]^d
    b_entered: float | None = None  # the best value when this subspace was entered
    enough: bool = False  # the subspace has stopped growing
    most: int | None = None  # dimensions that probes have found to be enough

    def to_json(self) -> dict[str, Any]:
        """As plain JSON (inf, which JSON lacks, as null)."""
        plain = asdict(self)
        return {k: None if v in (math.inf, -math.inf) else v for k, v in plain.items()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Progress:
        """The inverse of `to_json`."""
        values = dict(plain)
        values["best"] = math.inf if values["best"] is None else values["best"]
        values["worst"] = -math.inf if values["worst"] is None else values["worst"]
        values["dims"], values["bests"] = tuple(values["dims"]), tuple(values["bests"])
        return cls(**values)


def start(strategy: Strategy) -> Progress:
    """The state before the first evaluation."""
    return Progress(d=strategy.d_l, T=strategy.first_patience())


def slopes(dims: tuple[int, ...], bests: tuple[float, ...]) -> tuple[float, ...]:
    """Line 4: s_i = -(b_{i+1} - b_i) / (d_{i+1} - d_i)."""
    return tuple((bests[i] - bests[i + 1]) / (dims[i + 1] - dims[i]) for i in range(len(dims) - 1))


def factor(s: tuple[float, ...]) -> float | None:
    """Line 9: k = (s_{n-1} - s_min) / (s_max - s_min) + 0.5; None where all slopes are equal."""
    s_min, s_max = min(s), max(s)
    if s_min == s_max:
        return None
    return (s[-1] - s_min) / (s_max - s_min) + 0.5


def next_step(strategy: Strategy, delta: int | None, s: tuple[float, ...]) -> tuple[float | None, int]:
    """Lines 1 to 11: (k, the next step). k is None where the step is not scaled."""
    convergences = len(s) + 1
    if delta is None or convergences <= strategy.fixed_steps:
        return None, strategy.first_step()
    k = factor(s) if s else None
    if strategy.steps == "first":  # around the first value: 0 only where that one is
        first = strategy.first_step()
        return k, first if k is None else max(strategy.min_step, min(first, 1), floor(k * first))
    scaled = delta if k is None else floor(k * delta)
    return k, max(strategy.min_step, scaled)


def share_of_large(strategy: Strategy, s: tuple[float, ...]) -> float | None:
    """The larger of the last two slopes as a share of the second largest, where below `stop`; else None.

    The second largest, as one leap at the start of a run says little about dimensions.
    """
    large = second_largest(s)
    if strategy.stop <= 0 or len(s) < 4 or large <= 0:
        return None
    share = max(s[-2:]) / large
    return share if share < strategy.stop else None


def blocks_that_matter(changes: Sequence[float]) -> int:
    """How many blocks of variables change the value far more than most do, each moved once, alone.

    The variables that do not matter still weigh a little, all alike: blocks without one that matters make up
    the lower quartile, as long as a quarter of all have none.
    """
    known = sorted(abs(value) for value in changes if math.isfinite(value))
    usual = known[len(known) // 4] if known else 0.0
    return sum(value > STANDS_OUT * usual for value in known)


def variables_that_matter(matter: int, blocks: int) -> float | None:
    """m from the number of blocks with one of them: B (1 - (1 - 1/B)^m), as some share a block.

    None where no block stands out, or all do: then it is not a matter of few variables.
    """
    return math.log1p(-matter / blocks) / math.log1p(-1.0 / blocks) if 0 < matter < blocks else None


def dimensions_for(strategy: Strategy, matter: float | None) -> int:
    """How far the subspace needs to grow for so many variables."""
    return strategy.d_h if matter is None else min(strategy.d_h, math.ceil(ROOM * matter))


@dataclass(frozen=True)
class Gain:
    """What an evaluation of one kind has gained lately: a mean in which each counts 0.9 of the next."""

    total: float = 0.0
    weight: float = 0.0

    def after(self, gain: float) -> Gain:
        """With one more evaluation."""
        return Gain(RECENT * self.total + gain, RECENT * self.weight + 1.0)

    @property
    def mean(self) -> float:
        """0 before the first evaluation."""
        return self.total / self.weight if self.weight else 0.0


def moves_next(
    t: int, all_moved: bool, of_search: Gain, of_moves: Gain, moved_last: bool, in_a_row: int
) -> bool:
    """Whether evaluation t moves a block: every third, until each block has been moved once.

    From then on what gains more goes on, and after five in a row it is the other's turn.
    """
    if not all_moved:
        return t % EVERY == 0
    return not moved_last if in_a_row >= IN_A_ROW else of_moves.mean > of_search.mean


def second_largest(s: Sequence[float]) -> float:
    """Of the slopes; 0 where there are fewer than two."""
    return sorted(s)[-2] if len(s) > 1 else 0.0


def after_evaluation(
    strategy: Strategy, now: Progress, t: int, y: float
) -> tuple[Progress, Converged | None]:
    """Count one successful evaluation; converge and expand when the patience has run out."""
    counted = count(strategy, now, y)
    if counted.count < counted.T or settled(strategy, now):
        return counted, None
    return converge(strategy, counted, t)


def settled(strategy: Strategy, now: Progress) -> bool:
    """Whether the dimension is decided for good, so that nothing is waited for."""
    if now.enough or (now.most is not None and now.d >= now.most):
        return True
    return strategy.growth == "steady" and now.d >= strategy.d_h


def gain_threshold(strategy: Strategy, now: Progress) -> float:
    """alpha itself, or that share of the spread of the values so far, or of what this subspace has gained."""
    if strategy.alpha_mode == "absolute":
        return strategy.alpha
    if strategy.alpha_mode == "gained":
        return strategy.alpha * max(0.0, (now.best if now.b_entered is None else now.b_entered) - now.best)
    return strategy.alpha * max(0.0, now.worst - now.best)


def count(strategy: Strategy, now: Progress, y: float) -> Progress:
    """Algorithm 2, lines 15 to 17: the value counted, nothing decided. Small gains add up against b_ref."""
    seen = replace(now, best=min(now.best, y), worst=max(now.worst, y))
    if now.b_ref is None:  # the first point
        first_count = 1 if strategy.variant == "authors" else 0
        return replace(seen, b_ref=seen.best, b_entered=seen.best, count=first_count)
    if strategy.growth == "steady":  # nothing is waited for: the evaluations themselves are counted
        return replace(seen, b_ref=seen.best, count=now.count + 1)
    if now.b_ref - seen.best > gain_threshold(strategy, seen):
        return replace(seen, b_ref=seen.best, count=0)
    return replace(seen, count=now.count + 1)


def converge(
    strategy: Strategy, now: Progress, t: int, decide: int | None = None, waited: Strategy | None = None
) -> tuple[Progress, Converged]:
    """Record (d_n, b_n), choose the step and the next dimension, renew the patience.

    Args:
        strategy: What decides.
        now: The patience has run out, the value at t is counted.
        t: The evaluation.
        decide: A step in place of the strategy's own, as a fork may have one.
        waited: The strategy under which the patience ran out, where it is another one.
    """
    dims, bests = (*now.dims, now.d), (*now.bests, now.best)
    s = slopes(dims, bests)
    enough = share_of_large(strategy, s)
    if enough is not None:
        k, ruled = None, 0
    elif strategy.growth == "steady":
        k, ruled = None, strategy.first_step()
    else:
        k, ruled = next_step(strategy, now.delta, s)
    delta = ruled if decide is None else decide
    largest = strategy.d_h if now.most is None or decide is not None else min(now.most, strategy.d_h)
    d_to = max(now.d, min(now.d + delta, largest))  # line 12
    stops = enough is not None and d_to == now.d
    T = max(1, strategy.budget - t) if stops else strategy.next_patience(d_left=now.d, d_entered=d_to)
    expands = d_to > now.d
    kind = Expanded if expands else Converged
    event = kind(
        t=t,
        d_from=now.d,
        d_to=d_to,
        dims=dims,
        bests=bests,
        slopes=s,
        s_min=min(s, default=None),
        s_max=max(s, default=None),
        k=k,
        delta_before=now.delta,
        delta_after=delta,
        T_before=now.T,
        T_after=T,
        text=describe(strategy, now, t, s, k, ruled, d_to, T, decide, waited),
        ruled=None if decide is None else ruled,
        enough=enough,
        most=None if decide is not None else now.most,
    )
    after = replace(now, d=d_to, T=T, count=0, delta=delta, enough=stops)
    if expands:
        b_ref = now.b_ref if strategy.variant == "authors" else now.best  # Algorithm 2, line 7
        return replace(after, dims=dims, bests=bests, b_ref=b_ref, b_entered=now.best), event
    if strategy.variant == "authors":
        after = replace(after, box=now.box * BOX_SHRINK)
    return after, event  # the record is undone: this subspace goes on


def describe(
    strategy: Strategy,
    now: Progress,
    t: int,
    s: tuple[float, ...],
    k: float | None,
    delta: int,
    d_to: int,
    T: int,
    decide: int | None = None,
    waited: Strategy | None = None,
) -> str:
    """A decision in words: what happened, why, and the numbers last, in brackets."""
    evaluations = f"{now.count} evaluation{'s' if now.count != 1 else ''}"
    rule = waited or strategy
    enough = share_of_large(strategy, s)
    if rule.growth == "steady":
        what = f"Evaluation {t}: {evaluations} at d = {now.d}."
    else:
        threshold = gain_threshold(rule, now)
        what = f"Evaluation {t}: stalled. No gain above {threshold:.3g} in {evaluations} at d = {now.d}."
    if enough is not None:
        why = f"The last two expansions gained at most {100 * enough:.2g} % of the second largest slope."
    elif strategy.growth == "steady":
        why = f"It grows steadily, by {delta}."
    else:
        why = _why_step(now.delta, delta, s, k)
    parts = [what, why]
    if decide is not None:
        parts.append(f"By hand it is {decide}.")
    if d_to > now.d:
        parts.append(f"Now d = {d_to}.")
    if (d_to == now.most and decide is None) or (d_to == now.d and enough is not None):
        parts.append(enough_in_words(strategy, t, d_to))
    elif d_to == now.d:
        parts.append(f"It stays at d = {now.d}." if decide == 0 else why_stuck(strategy, now.d))
        if strategy.variant == "authors":
            parts.append(f"z now in ±{now.box * BOX_SHRINK:.3g}.")
    slopes_seen = [f"s = {'… ' if len(s) > 4 else ''}{', '.join(f'{v:.3g}' for v in s[-4:])}"] if s else []
    scaled = [] if k is None else [f"k = {k:.2f}"]
    return f"{' '.join(parts)} ({'; '.join([*slopes_seen, *scaled, f'T {now.T} → {T}'])})"


def enough_in_words(strategy: Strategy, t: int, d: int) -> str:
    """That the subspace stays as it is, and what follows."""
    left = max(0, strategy.budget - t)
    evaluations = f"{left} evaluation{'s go' if left != 1 else ' goes'}"
    return f"{d} dimensions are enough; the remaining {evaluations} into this subspace."


def _why_step(before: int | None, delta: int, s: tuple[float, ...], k: float | None) -> str:
    """Why the next step is what it is."""
    if before is None or not s:
        return f"The {'first step is' if before is None else 'step stays'} {delta}."
    gained = f"The last dimensions gained {s[-1]:.3g} each"
    if k is None:
        return f"{gained}, so the step stays {delta}." if before == delta else f"The step is {delta}."
    rank = ", the least so far" if s[-1] == min(s) else ", the most so far" if s[-1] == max(s) else ""
    if delta == before:
        return f"{gained}{rank}, so the step stays {delta}."
    verb = "halves" if k == 0.5 and delta > 0 else "shrinks" if delta < before else "grows"
    return f"{gained}{rank}, so the step {verb}, {before} → {delta}."


def why_stuck(strategy: Strategy, d: int) -> str:
    """Why a converged run stays where it is, and what would change that."""
    if d >= strategy.d_h:
        return f"d = {d} is d_h, the largest subspace: only a larger d_h would let it grow."
    reason = (
        f"It stays at d = {d}: the step is 0, and k times 0 stays 0."
        if strategy.first_step() > 0
        else f"It stays at d = {d}: β = {strategy.beta:g} makes the first step 0."
    )
    return f"{reason} A min_step of 1 or more, or a smaller β, would let it grow."
