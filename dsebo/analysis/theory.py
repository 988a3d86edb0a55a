"""The two regret bounds of the paper's section 5, with numbers.

    Theorem 5.1, GP-UCB in one subspace:  2 eps(d) + sqrt((log T)^(d+1) / T)
    Theorem 5.2, DSEBO over its phases:   2 sum_h eps(d_h) T_h / T + sqrt(sum_h (log T_h)^(d_h+1)/T)

Both stand inside an O*: constants and further logarithmic factors are left out, so a bound's value
alone means nothing. Only the ratio of two bounds of the same kind says something, and only about
the terms that are written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dsebo.objectives.fields import must

Epsilon = Callable[[int], float]


@dataclass(frozen=True)
class Phase:
    """T evaluations in a d-dimensional subspace."""

    d: int
    T: int


@dataclass(frozen=True)
class Bound:
    """A bound on the simple regret and its two parts."""

    approximation: float
    optimization: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.approximation + self.optimization


def fixed_bound(T: int, d: int, epsilon: Epsilon) -> Bound:
    """GP-UCB for T evaluations in one d-dimensional subspace."""
    return dsebo_bound([Phase(d, T)], epsilon)  # one phase: Theorem 5.2 is then Theorem 5.1


def dsebo_bound(phases: Sequence[Phase], epsilon: Epsilon) -> Bound:
    """DSEBO over its phases."""
    T = sum(phase.T for phase in phases)
    if T < 1:
        raise ValueError("The phases must have at least one evaluation in all.")
    approximation = 2.0 * sum(epsilon(phase.d) * phase.T / T for phase in phases)
    information = sum(math.log(phase.T) ** (phase.d + 1) for phase in phases if phase.T > 0)
    return Bound(approximation, math.sqrt(information / T))


def even_phases(T: int, H: int, d: int) -> list[Phase]:
    """H phases of about T / H evaluations, the dimension growing evenly up to d."""
    if not 1 <= H <= T:
        raise ValueError(must("H", f"a whole number from 1 to T = {T}", H))
    ends = [round(T * h / H) for h in range(H + 1)]
    return [Phase(max(1, round(d * (h + 1) / H)), ends[h + 1] - ends[h]) for h in range(H)]


def linear_epsilon(D: int) -> Epsilon:
    """The paper's example: eps(d) = (D - d) / D."""
    return lambda d: max(0.0, (D - d) / D)


SHAPES: dict[str, Callable[[int, int], Epsilon]] = {  # by name, from D and d_e
    "linear": lambda D, d_e: linear_epsilon(D),
    "square": lambda D, d_e: lambda d: max(0.0, (D - d) / D) ** 2,
    "exponential": lambda D, d_e: lambda d: math.exp(-5.0 * d / D),
    "zero": lambda D, d_e: lambda d: max(0.0, (d_e - d) / d_e),
}


def says_something_from(d: int) -> float:
    """log10 of the T from which sqrt((log T)^(d+1) / T) stays below 1.

    With L = log T that is L = (d + 1) log L, solved beyond L = d + 1, where both sides part.
    """
    low = high = float(max(d + 1, 3))
    if low > (d + 1) * math.log(low):
        return 0.0
    while high < (d + 1) * math.log(high):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < (d + 1) * math.log(middle) else (low, middle)
    return high / math.log(10)


def measured_epsilon(floors: Mapping[int, float], minimum: float) -> Epsilon:
    """eps(d) from measured floors: that of the largest measured dimension not above d."""
    known = sorted(floors)

    def epsilon(d: int) -> float:
        below = [measured for measured in known if measured <= d] or known[:1]
        return floors[below[-1]] - minimum

    return epsilon


def phases_of_run(dims: Sequence[int]) -> list[Phase]:
    """The phases of a run, from the dimension of each of its evaluations."""
    phases: list[Phase] = []
    for d in dims:
        if phases and phases[-1].d == d:
            phases[-1] = Phase(d, phases[-1].T + 1)
        else:
            phases.append(Phase(d, 1))
    return phases
