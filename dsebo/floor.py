"""The floor under a subspace: the best value that any z of it can reach.

epsilon(d) = min over z in [-1, 1]^d of F(p(A_d z)) - F*, the approximation error of the paper's
section 5. F is differentiable and S is known, so a many-start gradient search through lift and
clip finds it. What it finds is an upper bound of the true floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding, pad
from dsebo.fields import ConfigError
from dsebo.method_config import DseboConfig
from dsebo.optimizer import stream
from dsebo.run import make_objective
from dsebo.threads import one_thread
from objectives import Objective

Array = NDArray[np.float64]

STARTS, ITERATIONS = 16, 150
FLOOR_STREAM = 2**40  # random numbers apart from those of any step of the run


@dataclass(frozen=True)
class Floor:
    """The floor of the d-dimensional subspace, and a z that reaches it."""

    d: int
    floor: float
    z: Array


class NoFloor(ConfigError):
    """The floor does not apply; the message says why."""


def floors_of_config(
    config: RunConfig, dims: Sequence[int], progress: Callable[[int, int], None] | None = None
) -> list[Floor]:
    """The floors of a config's own S, for the given dimensions in ascending order."""
    if not isinstance(config.optimizer, DseboConfig):
        raise NoFloor("The floor does not apply: only DSEBO has a shared embedding that is known.")
    objective = make_objective(config)
    if not objective.differentiable:
        raise NoFloor(f"The floor does not apply: {objective.name} has no gradients.")
    d_h = config.optimizer.d_h
    wrong = [d for d in dims if not 1 <= d <= d_h]
    if wrong or not dims:
        shown = wrong[0] if wrong else list(dims)
        raise NoFloor(f"dims = {shown} is not allowed: whole numbers from 1 to d_h = {d_h}.")
    seed = config.optimizer.embedding_seed
    seed = config.seed if seed is None else seed
    embedding = SharedEmbedding(config.objective.D, d_h, stream(seed, 0))
    wanted = sorted(set(dims))
    found = []
    for floor in floors(objective, embedding, wanted, stream(seed, FLOOR_STREAM)):
        found.append(floor)
        if progress is not None:
            progress(len(found), len(wanted))
    return found


def floors(
    objective: Objective,
    embedding: SharedEmbedding,
    dims: Sequence[int],
    rng: np.random.Generator,
) -> Iterator[Floor]:
    """The floor of each subspace, from the smallest up.

    Each d starts also from the best z of the one before, padded with zeros, which has the same
    value there: so the floor never rises with d.
    """
    before = Floor(0, np.inf, np.zeros(0))
    for d in dims:
        with one_thread():
            value, z = _search(objective, embedding, _starts(d, before.z, rng))
        if value > before.floor:  # the padded z, up to rounding
            value, z = before.floor, pad(before.z, d)
        before = Floor(d, value, z)
        yield before


def _starts(d: int, best: Array, rng: np.random.Generator) -> Array:
    """(STARTS, d) the best z so far, copies of it with new coordinates, and points of the box."""
    around = np.tile(pad(best, d), (STARTS // 2, 1))
    around[1:, best.size :] = rng.uniform(-0.5, 0.5, size=(len(around) - 1, d - best.size))
    return np.vstack([around, rng.uniform(-1.0, 1.0, size=(STARTS - len(around), d))])


def _search(objective: Objective, embedding: SharedEmbedding, starts: Array) -> tuple[float, Array]:
    """The least value of F(p(A_d z)) that L-BFGS finds from the starts, and its z."""
    shape = starts.shape
    A = torch.from_numpy(embedding.A(shape[1]).T)  # (d, D), as it lies in memory

    def values(z: torch.Tensor) -> torch.Tensor:
        return objective((z @ A).clamp(-1.0, 1.0))

    def total(flat: Array) -> tuple[float, Array]:
        z = torch.from_numpy(flat.reshape(shape)).requires_grad_()
        value = values(z).sum()  # its gradient is that of each start
        (gradient,) = torch.autograd.grad(value, z)
        return value.item(), gradient.numpy().ravel()

    found = minimize(
        total, starts.ravel(), jac=True, method="L-BFGS-B", bounds=[(-1.0, 1.0)] * starts.size,
        options={"maxiter": ITERATIONS, "maxcor": 20},
    )  # fmt: skip
    ends = np.vstack([found.x.reshape(shape), starts])
    with torch.no_grad():
        reached = values(torch.from_numpy(ends)).numpy()
    at = int(np.argmin(reached))
    return float(reached[at]), ends[at]
