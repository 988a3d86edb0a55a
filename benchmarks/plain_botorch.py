"""What the engine is measured against: DSEBO's schedule on a plain BoTorch loop.

Written as a user of BoTorch would: at every evaluation a new `SingleTaskGP`, `fit_gpytorch_mll`
from a cold start and `optimize_acqf` with 5 restarts and 20 raw samples. The embedding, the first
point, kappa and the dimension at each evaluation are those of the engine's run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import torch
from botorch.acquisition.analytic import UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim.optimize import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray

from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding, pad
from dsebo.gp.acquisition import kappa
from dsebo.methods.base import stream
from dsebo.methods.dsebo import DseboConfig
from dsebo.run import make_objective
from dsebo.threads import one_thread

Array = NDArray[np.float64]


def box_of(d: int) -> torch.Tensor:
    """[-1, 1]^d as BoTorch writes it."""
    return torch.tensor([[-1.0] * d, [1.0] * d], dtype=torch.float64)


def new_model(Z: Array, y: Array) -> SingleTaskGP:
    """BoTorch's own default model of -y, not yet fitted."""
    d = Z.shape[1]
    return SingleTaskGP(
        torch.from_numpy(Z), -torch.from_numpy(y)[:, None], input_transform=Normalize(d=d, bounds=box_of(d))
    )


def propose(Z: Array, y: Array, kappa_now: float) -> Array:
    """One cold step: fit a new model to all data, maximise UCB of -y over [-1, 1]^d."""
    model = new_model(Z, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    ucb = UpperConfidenceBound(model, beta=kappa_now)
    z, _ = optimize_acqf(ucb, bounds=box_of(Z.shape[1]), q=1, num_restarts=5, raw_samples=20)
    return np.asarray(z[0].numpy())


Step = Callable[[Array, Array, float], Array]


def plain_run(config: RunConfig, schedule: Sequence[int], step: Step = propose) -> Array:
    """y (budget,) of the whole loop, one thread.

    Args:
        config: What the engine ran.
        schedule: The subspace's dimension at each evaluation of the engine's run.
        step: How a point is proposed.
    """
    warnings.simplefilter("ignore")
    torch.manual_seed(config.seed)
    settings = config.optimizer
    assert isinstance(settings, DseboConfig)
    objective = make_objective(config)
    embedding = SharedEmbedding(config.objective.D, settings.d_h, stream(config.seed, 0))
    y: list[float] = []
    points: list[Array] = []
    with one_thread():
        for t, d in enumerate(schedule, start=1):
            if t == 1:
                z = stream(config.seed, 1).uniform(-1.0, 1.0, size=d)
            else:
                Z = np.stack([pad(point, d) for point in points])
                z = step(Z, np.array(y), kappa(settings.kappa_scale, d, t - 1))
            points.append(z)
            y.append(float(objective(embedding.lift(z)[None])[0]))
    return np.array(y)
