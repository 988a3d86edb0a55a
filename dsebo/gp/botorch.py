"""The surrogate as a BoTorch model: to take out, to inspect, and to hold the closed forms to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.priors import GammaPrior, LogNormalPrior
from gpytorch.priors import Prior as GPyTorchPrior

from dsebo.gp.priors import Gamma, LogNormal, Prior

if TYPE_CHECKING:
    from dsebo.gp.surrogate import Array, Surrogate


def to_botorch(surrogate: Surrogate, Z: Array, target: Array) -> SingleTaskGP:
    """A `SingleTaskGP` with the surrogate's hyper-parameters, priors and data."""
    gp, settings, d = surrogate.now, surrogate.settings, Z.shape[1]
    kernel_class = RBFKernel if settings.kernel == "rbf" else MaternKernel
    base: Kernel = kernel_class(
        ard_num_dims=d,
        lengthscale_prior=_prior(surrogate.lengthscale_prior(d)),
        lengthscale_constraint=GreaterThan(1e-6),
    )
    scaled = ScaleKernel(base, outputscale_prior=_prior(surrogate.outputscale_prior))
    model = SingleTaskGP(
        torch.from_numpy(np.ascontiguousarray(Z)),
        torch.from_numpy(target)[:, None],
        likelihood=GaussianLikelihood(
            noise_prior=_prior(surrogate.noise_prior), noise_constraint=GreaterThan(1e-8)
        ),
        covar_module=scaled if settings.fit_outputscale else base,
        mean_module=ConstantMean(),
        outcome_transform=None,
    ).double()
    # Only now, as the constraints' own numbers have become float64 too.
    base.lengthscale = torch.from_numpy(gp.lengthscale)
    scaled.outputscale = _double(gp.outputscale)
    model.likelihood.noise = _double(gp.noise)
    model.mean_module.initialize(constant=_double(gp.mean))
    model.eval()
    return model


def _prior(prior: Prior) -> GPyTorchPrior | None:
    match prior:
        case LogNormal(mu, sigma):
            return LogNormalPrior(_double(mu), _double(sigma))
        case Gamma(shape, rate):
            return GammaPrior(_double(shape), _double(rate))
    return None


def _double(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)
