"""The bounds of section 5: the paper's example, and what must hold of any of them."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsebo.analysis.theory import (
    SHAPES,
    Phase,
    dsebo_bound,
    even_phases,
    fixed_bound,
    linear_epsilon,
    measured_epsilon,
    phases_of_run,
    says_something_from,
)


def test_the_papers_example() -> None:
    """T = 1000, H = 10, d = 20, D = 100: it prints 1.25 and 100; the formulas give 1.11 and 69."""
    epsilon = linear_epsilon(100)
    fixed = fixed_bound(1000, 20, epsilon)
    grown = dsebo_bound(even_phases(1000, 10, 20), epsilon)
    assert grown.approximation / fixed.approximation == pytest.approx(1.1125)
    assert fixed.optimization / grown.optimization == pytest.approx(68.8, abs=0.5)
    # Its 1.25 is what a first phase of dimension 0 would give throughout: 1 / 0.8.
    assert 1 / (fixed.approximation / 2) == pytest.approx(1.25)


def test_by_hand() -> None:
    bound = dsebo_bound([Phase(1, 3), Phase(2, 7)], lambda d: 1.0 / d)
    assert bound.approximation == pytest.approx(2 * (1 * 0.3 + 0.5 * 0.7))
    expected = math.sqrt((math.log(3) ** 2 + math.log(7) ** 3) / 10)
    assert bound.optimization == pytest.approx(expected)
    assert bound.total == bound.approximation + bound.optimization


@given(st.integers(1, 60), st.integers(1, 30), st.integers(1, 2000))
def test_even_phases_add_up(d: int, H: int, T: int) -> None:
    if H > T:
        with pytest.raises(ValueError, match="H must be"):
            even_phases(T, H, d)
        return
    phases = even_phases(T, H, d)
    assert sum(phase.T for phase in phases) == T
    assert phases[-1].d == d
    assert all(a.d <= b.d for a, b in pairwise(phases))


@given(st.integers(20, 2000), st.integers(10, 50), st.integers(1, 10))
def test_growing_trades_approximation_for_optimization(T: int, d: int, H: int) -> None:
    """The paper's remark. It fails for tiny d: T = 188, d = 2, H = 4 loses both ways."""
    epsilon = linear_epsilon(100)
    fixed, grown = fixed_bound(T, d, epsilon), dsebo_bound(even_phases(T, H, d), epsilon)
    assert grown.approximation >= fixed.approximation - 1e-12
    assert grown.optimization <= fixed.optimization * (1 + 1e-12)


def test_measured_epsilon_takes_the_subspace_that_was_reached() -> None:
    epsilon = measured_epsilon({5: 27.0, 12: 21.0, 19: 15.0}, minimum=1.0)
    assert [epsilon(d) for d in (3, 5, 11, 12, 40)] == [26.0, 26.0, 26.0, 20.0, 14.0]


def test_phases_of_a_run() -> None:
    assert phases_of_run([5, 5, 5, 12, 12, 19]) == [Phase(5, 3), Phase(12, 2), Phase(19, 1)]
    with pytest.raises(ValueError, match="at least one evaluation"):
        dsebo_bound(phases_of_run([]), lambda d: 0.0)


@pytest.mark.parametrize("d", [1, 2, 5, 20, 100])
def test_from_which_T_the_bound_says_something(d: int) -> None:
    L = says_something_from(d) * math.log(10)

    def log_of_term(log_T: float) -> float:
        return ((d + 1) * math.log(log_T) - log_T) / 2

    assert log_of_term(max(L, 3.0) * 1.01) < 0
    assert L == 0 or log_of_term(L * 0.99) > 0


@pytest.mark.parametrize("shape", list(SHAPES))
def test_every_shape_falls_from_one(shape: str) -> None:
    epsilon = SHAPES[shape](100, 30)
    values = [epsilon(d) for d in range(101)]
    assert values[0] == 1.0
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert values[-1] < 0.01
