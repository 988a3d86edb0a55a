"""The floor under a subspace: the best value that any z of it can reach.

epsilon(d) = min over z in [-1, 1]^d of F(p(A_d z)) - F*, the approximation error of the paper's
section 5. F is differentiable and S is known, so a many-start gradient search through lift and
clip finds it. What it finds is an upper bound of the true floor. Where a run moves blocks of variables,
too, they may stand anywhere in it: z has an entry for each after the first d.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dsebo.config import RunConfig
from dsebo.embedding import Array, SharedEmbedding, pad
from dsebo.methods.base import stream
from dsebo.methods.dsebo import DseboConfig
from dsebo.objectives import Objective
from dsebo.objectives.fields import ConfigError, must
from dsebo.run import make_objective
from dsebo.threads import one_thread

if TYPE_CHECKING:
    from torch import Tensor

STARTS, SHORT, KEPT, ITERATIONS = 16, 25, 3, 150  # many starts for a while, the best to the end
FLOOR_STREAM = 2**40  # random numbers apart from those of any step of the run
SEARCH = f"L-BFGS {STARTS}/{SHORT}/{KEPT}/{ITERATIONS}, 1"  # what else a stored floor depends on


@dataclass(frozen=True)
class Floor:
    """The floor of the d-dimensional subspace, and a z that reaches it."""

    d: int
    floor: float
    z: Array


class NoFloor(ConfigError):
    """The floor does not apply; the message says why."""


def applies(config: RunConfig) -> None:
    """Raise NoFloor, with the reason, where a run has no floor that can be computed."""
    if not isinstance(config.optimizer, DseboConfig):
        raise NoFloor("The floor does not apply: only DSEBO has a shared embedding that is known.")
    if config.optimizer.embeddings > 1:
        raise NoFloor("The floor does not apply: the run tries several embeddings, and goes on in one.")
    objective = config.objective.build()
    if not objective.differentiable:
        raise NoFloor(f"The floor does not apply: {objective.name} has no gradients.")


def checked_dims(config: RunConfig, dims: Sequence[int]) -> list[int]:
    """The dimensions in ascending order, each once; NoFloor where they are none of S."""
    applies(config)
    d_h = largest_dimension(config)
    wrong = [d for d in dims if not 1 <= d <= d_h]
    if wrong or not dims:
        got = wrong[0] if wrong else list(dims)
        raise NoFloor(must("dims", f"whole numbers from 1 to d_h = {d_h}", got))
    return sorted(set(dims))


def largest_dimension(config: RunConfig) -> int:
    """d_h of a DSEBO config."""
    assert isinstance(config.optimizer, DseboConfig)
    return config.optimizer.d_h


def n_blocks(config: RunConfig) -> int:
    """The blocks of variables of a DSEBO config."""
    assert isinstance(config.optimizer, DseboConfig)
    return config.optimizer.n_blocks(config.objective.D)


def embedding_seed(config: RunConfig) -> int:
    """The seed that S is drawn from."""
    assert isinstance(config.optimizer, DseboConfig)
    own = config.optimizer.embedding_seed
    return config.seed if own is None else own


def embedding_of(config: RunConfig) -> SharedEmbedding:
    """The S of a config, as its run draws it."""
    assert isinstance(config.optimizer, DseboConfig)
    return config.optimizer.embedding(config.objective.D, config.seed)


def floors_of_config(
    config: RunConfig,
    dims: Sequence[int],
    embedding: SharedEmbedding | None = None,
    known: Sequence[Floor] = (),
) -> Iterator[Floor]:
    """The floors of a config's own S, which may have been drawn already; see `floors`."""
    S = embedding_of(config) if embedding is None else embedding
    return floors(make_objective(config), S, dims, stream(embedding_seed(config), FLOOR_STREAM), known)


def floors(
    objective: Objective,
    embedding: SharedEmbedding,
    dims: Sequence[int],
    rng: np.random.Generator,
    known: Sequence[Floor] = (),
) -> Iterator[Floor]:
    """The floor of each subspace, from the smallest up.

    Each d starts also from the best z of the smaller ones, among them those already `known`,
    padded with zeros, which has the same value there: so the floor never rises with d.
    """
    floors = list(known)
    for d in dims:
        smaller = [floor for floor in floors if floor.d <= d]
        nothing = Floor(0, np.inf, np.zeros(embedding.blocks))
        before = min(smaller, key=lambda floor: floor.floor, default=nothing)
        padded = _padded(before.z, d, embedding.blocks)
        with one_thread():
            value, z = _search(
                objective, embedding, _starts(padded, before.z.size - embedding.blocks, d, rng)
            )
        if value > before.floor:  # the padded z, up to rounding
            value, z = before.floor, padded
        floors.append(Floor(d, value, z))
        yield floors[-1]


def _padded(z: Array, d: int, blocks: int) -> Array:
    """(d + blocks,) z in d dimensions, the blocks where they were."""
    own = z.size - blocks
    return np.concatenate([pad(z[:own], d), z[own:]])


def _starts(best: Array, d_before: int, d: int, rng: np.random.Generator) -> Array:
    """(STARTS, size of z) the best z so far, copies of it with new coordinates, and points of the box."""
    around = np.tile(best, (STARTS // 2, 1))
    around[1:, d_before:d] = rng.uniform(-0.5, 0.5, size=(len(around) - 1, d - d_before))
    return np.vstack([around, rng.uniform(-1.0, 1.0, size=(STARTS - len(around), best.size))])


def _search(objective: Objective, embedding: SharedEmbedding, starts: Array) -> tuple[float, Array]:
    """The least value of F(p(A_d z)) that L-BFGS finds from the starts, and its z."""
    import torch  # here and below, as it takes seconds: pages are drawn without it

    A = torch.from_numpy(embedding.reach(starts.shape[1] - embedding.blocks))  # (size of z, D)

    def values(z: Tensor) -> Tensor:
        return objective((z @ A).clamp(-1.0, 1.0))

    best = _best(values, np.vstack([_descend(values, starts, SHORT), starts]), KEPT)
    z = _best(values, np.vstack([_descend(values, best, ITERATIONS), best]), 1)
    return float(values(torch.from_numpy(z)).item()), z[0]


def _best(values: Callable[[Tensor], Tensor], z: Array, count: int) -> Array:
    """(count, d) those of the points with the least values."""
    import torch

    with torch.no_grad():
        reached = values(torch.from_numpy(z)).numpy()
    return z[np.argsort(reached, kind="stable")[:count]]


def _descend(values: Callable[[Tensor], Tensor], starts: Array, iterations: int) -> Array:
    """Where L-BFGS comes to from all starts at once: the gradient of their sum is that of each."""
    import torch
    from scipy.optimize import Bounds, minimize

    shape = starts.shape

    def total(flat: Array) -> tuple[float, Array]:
        z = torch.from_numpy(flat.reshape(shape)).requires_grad_()
        value = values(z).sum()
        (gradient,) = torch.autograd.grad(value, z)
        return value.item(), gradient.numpy().ravel()

    result = minimize(
        total,
        starts.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(-1.0, 1.0),
        options={"maxiter": iterations, "maxcor": 20},
    )
    return np.asarray(result.x).reshape(shape)
