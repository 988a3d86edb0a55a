"""The floor: exact where an exact solution exists, and never rising with d."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsebo.analysis.floor import NoFloor, checked_dims, embedding_of, floors, floors_of_config
from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding, pad
from dsebo.events import Evaluated
from dsebo.methods.base import stream
from dsebo.run import make_objective, run
from objectives import BaseFunction, EmbeddedConfig, EmbeddedFunction, register, registry
from objectives.registry import numpy_function


def small(**objective: object) -> RunConfig:
    return RunConfig.parse(
        {
            "objective": {"D": 60, "d_e": 6, **objective},
            "optimizer": {"d_l": 2, "d_h": 20, "beta": 3},
            "budget": 30,
        }
    )


def test_sphere_without_clipping_is_least_squares() -> None:
    """F is quadratic in z where nothing is clipped: min ||W (A z - x*)||^2 has a closed form."""
    f = EmbeddedFunction("sphere", 40, 8, c=0.2, K=50.0)
    embedding = SharedEmbedding(40, 6, stream(1, 0))
    weights = np.where(np.arange(40) < 8, 5.12, 5.12 / np.sqrt(50.0))
    for floor in floors(f, embedding, [1, 3, 6], stream(1, 1)):
        A = embedding.A(floor.d)
        z, *_ = np.linalg.lstsq(weights[:, None] * A, weights * f.minimiser, rcond=None)
        assert np.all(np.abs(z) < 1)
        assert np.all(np.abs(A @ z) < 1)
        exact = float(f(embedding.lift(z)[None])[0])
        assert floor.floor == pytest.approx(exact, rel=1e-6)
        assert np.allclose(floor.z, z, atol=1e-3)


@given(st.sampled_from(EmbeddedConfig.names()), st.integers(0, 50))
@settings(max_examples=8, deadline=None)
def test_never_rises_with_d_and_never_below_the_minimum(name: str, seed: int) -> None:
    config = small(name=name).with_seed(seed)
    found = [floor.floor for floor in floors_of_config(config, [1, 2, 5, 9, 20])]
    assert all(later <= earlier for earlier, later in pairwise(found))
    minimum = EmbeddedFunction(name, 60, 6).minimum
    assert minimum is not None
    assert found[-1] >= minimum - 1e-9


def test_the_floor_is_the_value_at_its_z() -> None:
    config = small(name="levy")
    embedding = SharedEmbedding(60, 20, stream(config.seed, 0))
    f = EmbeddedFunction("levy", 60, 6)
    for floor in floors_of_config(config, [3, 7, 20]):
        assert floor.z.shape == (floor.d,)
        assert floor.floor == pytest.approx(float(f(embedding.lift(floor.z)[None])[0]), abs=1e-9)


def test_no_evaluation_of_a_run_is_below_its_floor() -> None:
    config = small()
    evaluated = [event for event in run(config) if isinstance(event, Evaluated)]
    dims = sorted({event.d for event in evaluated if event.d is not None})
    floor_of = {floor.d: floor.floor for floor in floors_of_config(config, dims)}
    assert all(event.y >= floor_of[event.d] - 1e-6 for event in evaluated if event.d is not None)


def test_same_config_same_floor() -> None:
    config = small()
    assert checked_dims(config, [8, 2, 2]) == [2, 8]
    first, again = (list(floors_of_config(config, [2, 8])) for _ in range(2))
    assert [floor.floor for floor in first] == [floor.floor for floor in again]


def test_where_it_does_not_apply_it_says_so() -> None:
    with pytest.raises(NoFloor, match="only DSEBO"):
        checked_dims(RunConfig.parse({"optimizer": {"method": "random"}}), [5])
    with pytest.raises(NoFloor, match=r"dims must be whole numbers from 1 to d_h = 20 \(got 21"):
        checked_dims(small(), [5, 21])
    with pytest.raises(NoFloor, match="dims"):
        checked_dims(small(), [])
    register(BaseFunction("steps", -1.0, 1.0, numpy_function(np.sum), differentiable=False))
    try:
        with pytest.raises(NoFloor, match="has no gradients"):
            checked_dims(small(name="steps"), [5])
    finally:
        registry._functions.pop("steps")


def test_blocks_that_are_moved_reach_further() -> None:
    given = {"objective": {"D": 60, "d_e": 6}, "optimizer": {"d_h": 10}}
    plain = RunConfig.parse(given)
    moved = RunConfig.parse({**given, "optimizer": {"d_h": 10, "blocks": 15}})
    f, S = make_objective(moved), embedding_of(moved)
    for without, floor in zip(floors_of_config(plain, [2, 6]), floors_of_config(moved, [2, 6]), strict=True):
        assert floor.z.size == floor.d + 15
        whole = np.concatenate([pad(floor.z[: floor.d], 10), floor.z[floor.d :]])
        assert floor.floor == pytest.approx(float(f(S.lift(whole)[None])[0]), abs=1e-9)
        assert floor.floor < without.floor
