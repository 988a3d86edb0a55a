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

from dsebo.priors import Gamma, LogNormal, Prior

if TYPE_CHECKING:
    from dsebo.surrogate import Array, Surrogate


def to_botorch(surrogate: Surrogate, Z: Array, target: Array) -> SingleTaskGP:
    """A `SingleTaskGP` with the surrogate's hyper-parameters, priors and data.

    Args:
        surrogate: Fitted.
        Z: (n, d) its data.
        target: (n,) its standardised values.
    """
    gp, settings, d = surrogate.now, surrogate.settings, Z.shape[1]
    lengthscale_prior = _prior(surrogate.lengthscale_prior(d))
    kernel_class = RBFKernel if settings.kernel == "rbf" else MaternKernel
    kernel: Kernel = kernel_class(
        ard_num_dims=d,
        lengthscale_prior=lengthscale_prior,
        lengthscale_constraint=GreaterThan(1e-6),
    )
    kernel.lengthscale = torch.from_numpy(gp.lengthscale)
    if settings.fit_outputscale:
        kernel = ScaleKernel(kernel, outputscale_prior=_prior(surrogate.outputscale_prior))
        kernel.outputscale = gp.outputscale
    likelihood = GaussianLikelihood(
        noise_prior=_prior(surrogate.noise_prior), noise_constraint=GreaterThan(1e-8)
    )
    likelihood.noise = gp.noise
    mean = ConstantMean()
    mean.constant = torch.nn.Parameter(torch.tensor(gp.mean, dtype=torch.float64))
    model = SingleTaskGP(
        torch.from_numpy(np.ascontiguousarray(Z)),
        torch.from_numpy(target)[:, None],
        likelihood=likelihood,
        covar_module=kernel,
        mean_module=mean,
        outcome_transform=None,
    )
    model.double().eval()
    # The conversions above pass through float32 constraints: set the values again, exactly.
    _base(model.covar_module).lengthscale = torch.from_numpy(gp.lengthscale)
    if settings.fit_outputscale:
        model.covar_module.outputscale = torch.tensor(gp.outputscale, dtype=torch.float64)
    model.likelihood.noise = torch.tensor(gp.noise, dtype=torch.float64)
    return model


def _base(kernel: Kernel) -> Kernel:
    return kernel.base_kernel if isinstance(kernel, ScaleKernel) else kernel


def _prior(prior: Prior) -> GPyTorchPrior | None:
    match prior:
        case LogNormal(mu, sigma):
            return LogNormalPrior(loc=float(mu), scale=float(sigma))
        case Gamma(shape, rate):
            return GammaPrior(shape, rate)
    return None
