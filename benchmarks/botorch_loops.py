"""TuRBO-1 and BAxUS as loops on BoTorch: what our own are measured against.

Written afresh after the papers, with the settings of BoTorch's tutorials (BoTorch 0.18): at every step a new
`SingleTaskGP` of the region's data, fitted from a cold start, and a Thompson sample at thousands of Sobol
points. Points are of [0, 1]^D here; `evaluate` takes x of [-1, 1]^D, returns y, and raises when enough is
spent. Where the BAxUS loop is not its tutorial: it has TuRBO's kernel and bounds (the tutorial had such a
model before it took BoTorch's default), and a bin is split into b + 1 = 4, as in the paper, not into 3.
SAASBO is BoTorch's ensemble of MAP fits, with log expected improvement.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gpytorch
import numpy as np
import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.generation.sampling import MaxPosteriorSampling
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.optim.optimize import optimize_acqf
from gpytorch.constraints import Interval
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray
from torch import Tensor
from torch.quasirandom import SobolEngine

Array = NDArray[np.float64]
Evaluate = Callable[[Array], float]

L_FIRST, L_LEAST, L_MOST = 0.8, 0.5**7, 1.6


@dataclass
class Region:
    """A trust region for -y, which is maximised."""

    failure_tolerance: int
    success_tolerance: int
    length: float = L_FIRST
    best: float = -math.inf
    successes: int = 0
    failures: int = 0

    def take(self, values: Tensor) -> None:
        """Count the best of a batch; double or halve."""
        value = float(values.max())
        better = value > self.best + 1e-3 * abs(self.best) or not math.isfinite(self.best)
        self.successes, self.failures = (self.successes + 1, 0) if better else (0, self.failures + 1)
        if self.successes == self.success_tolerance:
            self.length, self.successes = min(2.0 * self.length, L_MOST), 0
        elif self.failures == self.failure_tolerance:
            self.length, self.failures = self.length / 2.0, 0
        self.best = max(self.best, value)


def sobol(n: int, d: int, seed: int) -> Tensor:
    """(n, d) scrambled Sobol points of the unit box."""
    engine: Any = SobolEngine  # which has no types
    points: Tensor = engine(d, scramble=True, seed=seed).draw(n).to(torch.float64)
    return points


def fitted(U: Tensor, values: Tensor) -> SingleTaskGP:
    """Matérn-5/2 with a lengthscale for each coordinate, by maximum likelihood within bounds."""
    d = U.shape[1]
    target = ((values - values.mean()) / values.std())[:, None]
    kernel = ScaleKernel(MaternKernel(2.5, ard_num_dims=d, lengthscale_constraint=Interval(0.005, 4.0)))
    noise = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3))
    model = SingleTaskGP(U, target, likelihood=noise, covar_module=kernel, outcome_transform=None)
    likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
    try:
        fit_gpytorch_mll(likelihood)
    except ModelFittingError:  # which leaves the parameters as they began
        by_adam(likelihood)
    return model


def by_adam(likelihood: ExactMarginalLogLikelihood) -> None:
    """What the BAxUS tutorial does where a fit fails: 100 steps of Adam, rate 0.1."""
    model = likelihood.model
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train()
    for _ in range(100):
        optimizer.zero_grad()
        loss = -likelihood(model(*model.train_inputs), model.train_targets)
        loss.backward()
        optimizer.step()
    model.eval()


def sampled_inside(U: Tensor, values: Tensor, length: float, batch: int, seed: int, n: int) -> Tensor:
    """(batch, d) where Thompson samples are largest, among n points of the region around the best one."""
    d = U.shape[1]
    with gpytorch.settings.max_cholesky_size(float("inf")):
        model = fitted(U, values)
        centre = U[values.argmax()]
        lengthscale = model.covar_module.base_kernel.lengthscale.detach().squeeze(0)
        sides = length * lengthscale / lengthscale.log().mean().exp()
        low, high = (centre - sides / 2).clamp(0, 1), (centre + sides / 2).clamp(0, 1)
        cube = sobol(n, d, seed)
        moved = torch.rand(n, d, dtype=torch.float64) <= min(20.0 / d, 1.0)
        still = torch.where(moved.sum(dim=1) == 0)[0]
        moved[still, torch.randint(0, d, size=(len(still),))] = True
        candidates = torch.where(moved, low + (high - low) * cube, centre)
        with torch.no_grad():
            choose = MaxPosteriorSampling(model=model, replacement=False)
            chosen: Tensor = choose(candidates, num_samples=batch)
    return chosen


def turbo(
    evaluate: Evaluate,
    D: int,
    seed: int,
    *,
    batch: int = 4,
    n_init: int = 20,
    success_tolerance: int = 10,
    failure_tolerance: int | None = None,
) -> None:
    """TuRBO-1 until `evaluate` raises; a region that collapses is begun again elsewhere.

    The tutorial's 2 D starting points would be the whole budget at D = 1000: `n_init` stands in for them.
    """
    warnings.simplefilter("ignore")
    torch.manual_seed(seed)
    tolerance = math.ceil(max(4.0, D) / batch) if failure_tolerance is None else failure_tolerance
    restarts = 0
    while True:
        U = sobol(n_init, D, seed + 1000 * restarts)
        values = _values(evaluate, U)
        region = Region(tolerance, success_tolerance, best=float(values.max()))
        while region.length >= L_LEAST:
            new = sampled_inside(U, values, region.length, batch, seed + len(U), candidates(D))
            more = _values(evaluate, new)
            region.take(more)
            U, values = torch.cat([U, new]), torch.cat([values, more])
        restarts += 1


def candidates(D: int) -> int:
    """The points at which a Thompson sample is drawn, by the number of variables, also inside of bins."""
    return min(5000, max(2000, 200 * D))


def _values(evaluate: Evaluate, U: Tensor) -> Tensor:
    return torch.tensor([-evaluate(2.0 * u - 1.0) for u in U.numpy()], dtype=torch.float64)


class Bins:
    """A sparse embedding: variable j is sign_j times coordinate bin_j; a split refines the bins."""

    def __init__(self, D: int, d: int, rng: np.random.Generator) -> None:
        self.rng, self.d = rng, d
        self.bins = rng.permutation(np.arange(D) % d)
        self.signs = rng.choice([-1.0, 1.0], size=D)

    def lift(self, u: Array) -> Array:
        """x of [-1, 1]^D."""
        x: Array = self.signs * (2.0 * u - 1.0)[self.bins]
        return x

    def split(self, parts: int) -> list[int]:
        """Deal the variables of each bin to `parts` bins, or to one each; the old bin of every new one."""
        parents: list[int] = []
        fine = np.empty_like(self.bins)
        for old in range(self.d):
            members = self.rng.permutation(np.flatnonzero(self.bins == old))
            pieces = min(parts, members.size)
            fine[members] = len(parents) + np.arange(members.size) % pieces
            parents += [old] * pieces
        self.bins, self.d = fine, len(parents)
        return parents


def baxus(evaluate: Evaluate, D: int, budget: int, seed: int, *, b: int = 3, n_init: int = 10) -> None:
    """BAxUS until `evaluate` raises: a region in bins, which split when it collapses."""
    warnings.simplefilter("ignore")
    torch.manual_seed(seed)
    splits = round(math.log(D, b + 1))
    first = min(range(1, b + 1), key=lambda d: abs(d * (b + 1) ** splits - D))
    stages = [min(D, first * (b + 1) ** i) for i in range(splits + 1)]
    bins = Bins(D, first, np.random.default_rng(seed))
    U = sobol(n_init, first, seed)

    def values_of(points: Tensor) -> Tensor:
        found = [-evaluate(bins.lift(u)) for u in points.numpy()]
        return torch.tensor(found, dtype=torch.float64)

    values = values_of(U)
    while True:
        share = (budget - n_init) * bins.d / sum(stages)
        halvings = math.floor(math.log(L_LEAST / L_FIRST, 0.5))
        tolerance = D if bins.d == D else min(bins.d, max(1, math.floor(share / halvings)))
        region = Region(tolerance, 3, best=float(values.max()))
        while region.length >= L_LEAST:
            new = sampled_inside(U, values, region.length, 1, seed + len(U), candidates(D))
            more = values_of(new)
            region.take(more)
            U, values = torch.cat([U, new]), torch.cat([values, more])
        if bins.d < D:
            U = U[:, bins.split(b + 1)]
        else:  # no bin is left to split: new points, and a new region among them
            U = torch.rand(n_init, D, dtype=torch.float64)
            values = values_of(U)


def saasbo(evaluate: Evaluate, D: int, seed: int, *, taus: Sequence[float], n_init: int = 20) -> None:
    """SAASBO by MAP until `evaluate` raises: a model for each of the `taus`, log EI of their mixture."""
    warnings.simplefilter("ignore")
    torch.manual_seed(seed)
    box = torch.stack([torch.zeros(D), torch.ones(D)]).to(torch.float64)
    U = sobol(n_init, D, seed)
    values = _values(evaluate, U)
    while True:
        target = ((values - values.mean()) / values.std())[:, None]
        model = EnsembleMapSaasSingleTaskGP(U, target, num_taus=len(taus), taus=torch.tensor(taus))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        improvement = LogExpectedImprovement(model, best_f=target.max())
        new, _ = optimize_acqf(improvement, box, q=1, num_restarts=5, raw_samples=100)
        U, values = torch.cat([U, new]), torch.cat([values, _values(evaluate, new)])
