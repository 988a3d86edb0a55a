"""What the engine is measured against: DSEBO's schedule on a plain BoTorch loop.

Written as a user of BoTorch would: at every evaluation a new `SingleTaskGP`, `fit_gpytorch_mll`
from a cold start and `optimize_acqf` with 5 restarts and 20 raw samples. The embedding, the first
point, kappa and the expansion strategy are the engine's own.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import torch
from botorch.acquisition.analytic import UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim.optimize import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray

from dsebo.acquisition import kappa
from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding, pad
from dsebo.expansion import Strategy, after_evaluation, start
from dsebo.method_config import DseboConfig
from dsebo.optimizer import stream
from dsebo.run import make_objective

Array = NDArray[np.float64]


@dataclass
class PlainRun:
    """The course of one plain loop."""

    y: list[float] = field(default_factory=list)
    d: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The least value found."""
        return min(self.y)


def propose(Z: Array, y: Array, kappa_now: float) -> Array:
    """One cold step: fit a new model to all data, maximise UCB of -y over [-1, 1]^d."""
    d = Z.shape[1]
    box = torch.tensor([[-1.0] * d, [1.0] * d], dtype=torch.float64)
    model = SingleTaskGP(
        torch.from_numpy(Z),
        -torch.from_numpy(y)[:, None],
        input_transform=Normalize(d=d, bounds=box),
    )
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    ucb = UpperConfidenceBound(model, beta=kappa_now)
    z, _ = optimize_acqf(ucb, bounds=box, q=1, num_restarts=5, raw_samples=20)
    return np.asarray(z[0].numpy())


def plain_run(config: RunConfig) -> PlainRun:
    """The whole loop, one torch thread."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(config.seed)
    settings = config.optimizer
    assert isinstance(settings, DseboConfig)
    objective = make_objective(config)
    embedding = SharedEmbedding(config.objective.D, settings.d_h, stream(config.seed, 0))
    strategy = Strategy(settings.d_l, settings.d_h, settings.beta, config.budget, settings.alpha)
    now = start(strategy)
    course = PlainRun()
    points: list[Array] = []
    for t in range(1, config.budget + 1):
        began = perf_counter()
        if t == 1:
            z = stream(config.seed, 1).uniform(-1.0, 1.0, size=now.d)
        else:
            Z = np.stack([pad(point, now.d) for point in points])
            kappa_now = kappa(settings.kappa_scale, now.d, t - 1)
            z = propose(Z, np.array(course.y), kappa_now)
        y = float(objective(embedding.lift(z)[None])[0])
        points.append(z)
        course.y.append(y)
        course.d.append(now.d)
        now, _ = after_evaluation(strategy, now, t, y)
        course.seconds.append(perf_counter() - began)
    return course
