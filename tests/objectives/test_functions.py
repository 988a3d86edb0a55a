"""The functions and F_c: each is what its data says it is."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from objectives import EmbeddedFunction, get_function, names
from objectives.fields import must

# Values at the centre of the box from the design, D = 1000, d_e = 30, K = 10 000.
AT_CENTRE = {
    "sphere": 30.097,
    "rosenbrock": 1638.72,
    "levy": 3.2595,
    "griewank": 11.45,
    "dixon-price": 46409.39,
    "michalewicz": -5.3487,
}
KINKED = ("ackley", "alpine")
FURTHER = ("ackley", "rastrigin", "styblinski-tang", "rotated-quadratic", "alpine")


@pytest.mark.parametrize("name", AT_CENTRE)
def test_value_at_the_centre(name: str) -> None:
    assert EmbeddedFunction(name, 1000, 30).at_centre() == pytest.approx(AT_CENTRE[name], rel=1e-4)


def test_the_papers_six_come_first() -> None:
    assert names()[:11] == [*AT_CENTRE, *FURTHER]


@pytest.mark.parametrize("name", [*AT_CENTRE, *FURTHER])
@pytest.mark.parametrize("coordinates", ["first", "random"])
def test_minimum_is_taken_at_the_minimiser_with_no_slope(name: str, coordinates: str) -> None:
    f = EmbeddedFunction(name, 60, 7, coordinates=coordinates)  # type: ignore[arg-type]
    x = torch.from_numpy(f.minimiser).requires_grad_()
    value = f(x[None])[0]
    value.backward()
    assert value.item() == pytest.approx(f.minimum, abs=1e-9)
    assert x.grad is not None
    scale = (f.base.upper - f.base.lower) / 2
    assert x.grad.abs().max().item() < 1e-5 * scale


@given(
    st.sampled_from([*AT_CENTRE, *FURTHER]),
    st.integers(2, 20),
    st.integers(0, 40),
    st.floats(-60, 60),
    st.floats(1, 1e6),
    st.sampled_from(["first", "random"]),
)
@settings(max_examples=150, deadline=None)
def test_where_a_minimum_is_given_it_is_one(
    name: str, d_e: int, more: int, c: float, K: float, coordinates: str
) -> None:
    """Taken at the minimiser, inside the box; flat there, or falling towards a wall."""
    f = EmbeddedFunction(name, d_e + more, d_e, c=c, K=K, coordinates=coordinates)  # type: ignore[arg-type]
    if f.minimum is None or f.minimiser is None:
        assert f.minimum_note
        return
    assert np.all(np.abs(f.minimiser) <= 1.0)
    x = torch.from_numpy(f.minimiser).requires_grad_()
    value = f(x[None])[0]
    value.backward()
    assert value.item() == pytest.approx(f.minimum, abs=1e-8)
    assert x.grad is not None
    slope, at = x.grad.numpy(), f.minimiser
    if name in KINKED:  # a cone at its minimum: no point nearby is lower
        near = np.clip(at + 1e-3 * np.random.default_rng(0).standard_normal((64, at.size)), -1, 1)
        assert f(near).min() >= f.minimum - 1e-9
        return
    steep = 1e-4 * (f.base.upper - f.base.lower) / 2
    on_wall = np.abs(at) > 1 - 1e-9
    assert np.abs(slope[~on_wall]).max(initial=0.0) < steep
    assert np.all(slope[on_wall] * np.sign(at[on_wall]) < steep)


@pytest.mark.parametrize("name", [*AT_CENTRE, *FURTHER])
def test_nothing_is_below_the_minimum(name: str) -> None:
    f = EmbeddedFunction(name, 12, 5)
    rng = np.random.default_rng(0)
    assert f.minimum is not None
    anywhere = rng.uniform(-1, 1, (4000, 12))
    nearby = np.clip(f.minimiser + 0.02 * rng.standard_normal((4000, 12)), -1, 1)
    assert f(np.vstack([anywhere, nearby])).min() >= f.minimum


def test_michalewicz_minimum_is_that_of_its_separable_sum() -> None:
    assert EmbeddedFunction("michalewicz", 1000, 30).minimum == pytest.approx(-29.6309, abs=1e-4)
    assert EmbeddedFunction("michalewicz", 10, 10, c=0.0).minimum == pytest.approx(-9.66015, abs=1e-5)


@pytest.mark.parametrize("c", [-300.0, -20.0, 1.5, 2.5, 300.0])
def test_michalewicz_minimum_wherever_the_domain_is_moved_to(c: float) -> None:
    f = EmbeddedFunction("michalewicz", 3, 3, c=c)
    v = np.linspace(0, np.pi, 400_001) - c
    terms = [-np.sin(v) * np.sin(i * v * v / np.pi) ** 20 for i in (1, 2, 3)]
    assert f.minimum == pytest.approx(sum(term.min() for term in terms), abs=1e-4)


def test_michalewicz_moved_beyond_what_floats_resolve_has_no_minimum() -> None:
    assert EmbeddedFunction("michalewicz", 3, 3, c=1e160).minimum is None


def test_michalewicz_has_a_minimum_of_many_variables() -> None:
    assert EmbeddedFunction("michalewicz", 2000, 2000).minimum is not None


def test_sphere_minimiser_of_the_design() -> None:
    f = EmbeddedFunction("sphere", 1000, 30)
    assert f.minimum == 0.0
    assert np.allclose(f.minimiser, 1 / 5.12)


@pytest.mark.parametrize(("name", "c"), [("sphere", 6.0), ("levy", 9.5), ("griewank", -51.0)])
def test_an_optimum_outside_the_box_is_said_and_not_given(name: str, c: float) -> None:
    f = EmbeddedFunction(name, 50, 5, c=c)
    assert f.minimum is None
    assert f.minimiser is None
    assert f"c = {c:g}" in f.minimum_note


def test_michalewicz_with_a_moved_domain_is_minimised_on_what_can_be_reached() -> None:
    f = EmbeddedFunction("michalewicz", 4, 2, c=1.0)
    assert f.minimum is not None
    grid = np.linspace(-1, 1, 801)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    tail = np.full((points.shape[0], 2), f.minimiser[2:])
    assert f(np.hstack([points, tail])).min() == pytest.approx(f.minimum, abs=1e-3)


@given(st.integers(1, 60), st.floats(-4, 4), st.floats(1, 1e6), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_tail_and_effective_part_add_up(d_e: int, c: float, K: float, seed: int) -> None:
    f = EmbeddedFunction("sphere", 60, d_e, c=c, K=K, coordinates="random", coordinates_seed=seed)
    x = np.random.default_rng(seed).uniform(-1, 1, (3, 60))
    square = (5.12 * x - c) ** 2
    effective = np.isin(np.arange(60), f.effective_coordinates)
    expected = square[:, effective].sum(1) + square[:, ~effective].sum(1) / K
    assert np.allclose(f(x), expected, rtol=1e-12)
    assert square[:, ~effective].sum(1).max(initial=0) / K <= f.largest_tail() + 1e-9


def test_random_coordinates_follow_their_own_seed() -> None:
    first = EmbeddedFunction("sphere", 100, 5, coordinates="random", coordinates_seed=1)
    again = EmbeddedFunction("sphere", 100, 5, coordinates="random", coordinates_seed=1)
    other = EmbeddedFunction("sphere", 100, 5, coordinates="random", coordinates_seed=2)
    assert np.array_equal(first.effective_coordinates, again.effective_coordinates)
    assert not np.array_equal(first.effective_coordinates, other.effective_coordinates)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"d_e": 11}, must("d_e", "a whole number from 1 to D = 10", 11)),
        ({"d_e": 0}, must("d_e", "a whole number from 1 to D = 10", 0)),
        ({"d_e": 2, "K": 0.0}, must("K", "a finite number above 0", 0.0)),
        ({"d_e": 2, "c": float("nan")}, must("c", "a finite number", math.nan)),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        EmbeddedFunction("sphere", 10, **arguments)  # type: ignore[arg-type]


def test_wrong_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"takes \(n, 10\)"):
        EmbeddedFunction("sphere", 10, 2)(np.zeros((1, 9)))


def test_long_x_needs_little_more_memory_than_itself() -> None:
    import tracemalloc

    D = 1_000_000
    f = EmbeddedFunction("levy", D, 30)
    x = np.zeros((1, D))
    f(x)
    tracemalloc.start()
    f(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * D  # torch's own temporaries are not traced; no numpy copy of x is made


def test_default_shift_is_the_functions_own() -> None:
    assert {n: get_function(n).default_c for n in AT_CENTRE} == {
        "sphere": 1.0,
        "rosenbrock": 1.0,
        "levy": 0.0,
        "griewank": 10.0,
        "dixon-price": 2.0,
        "michalewicz": 0.1,
    }


def test_a_rotated_quadratic_is_the_same_bowl_turned() -> None:
    f = get_function("rotated-quadratic").f
    d = 6
    hessian = np.array([[float(f(_unit(d, i, j))) for j in range(d)] for i in range(d)])
    single = np.array([float(f(_unit(d, i))) for i in range(d)])
    hessian = (hessian - single[:, None] - single[None, :]) / 2  # v'Hv of e_i + e_j
    np.fill_diagonal(hessian, single)
    assert np.linalg.eigvalsh(hessian) == pytest.approx(np.geomspace(1, 100, d))
    assert np.abs(hessian - np.diag(single)).max() > 1  # its axes are no coordinates


def _unit(d: int, *coordinates: int) -> torch.Tensor:
    v = torch.zeros(1, d, dtype=torch.float64)
    for i in coordinates:
        v[0, i] += 1.0
    return v
