"""The plain BoTorch loop's step with its two costly sums in closed form.

Same model, same priors, same cold `fit_gpytorch_mll` with its retries, same `optimize_acqf`; only
log p(y) with its gradient and the posterior's mean and sigma are computed by hand, as GPyTorch's
way of computing them takes hours for what the paired values need. `python -m
benchmarks.plain_closed` prints how far the two are apart.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim.closures import get_loss_closure_with_grads
from botorch.optim.optimize import optimize_acqf
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NotPSDError  # type: ignore[import-untyped]
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.plain_botorch import box_of, new_model, propose
from dsebo.gp.acquisition import kappa
from dsebo.gp.surrogate import correlation, inverse_and_logdet, squared_distances

Array = NDArray[np.float64]


class DataTerm(NamedTuple):
    """A value and its derivatives by each lengthscale, the noise and the constant mean."""

    value: float
    by_scale: Array
    by_noise: float
    by_constant: float


def data_term(X: Array, y: Array, scale: Array, noise: float, constant: float) -> DataTerm:
    """log N(y; c, K + s2 I), K the squared-exponential kernel, with its gradient."""
    scaled = X / scale
    kernel, _ = correlation("rbf", squared_distances(scaled, scaled))
    covariance = kernel.copy()
    covariance.flat[:: len(y) + 1] += noise
    try:
        inverse, logdet = inverse_and_logdet(covariance)
    except np.linalg.LinAlgError as error:
        raise NotPSDError(str(error)) from None
    residual = y - constant
    alpha = inverse @ residual
    value = -0.5 * (residual @ alpha + logdet + len(y) * math.log(2 * math.pi))
    W = np.multiply.outer(0.5 * alpha, alpha)
    inverse *= 0.5
    W -= inverse  # d value / d covariance
    M = W * kernel
    # sum_ab M_ab (x_aj - x_bj)^2 = 2 (sum_a (M 1)_a x_aj^2 - x_j' M x_j)
    spread = 2.0 * (M.sum(axis=1) @ (scaled * scaled) - ((M @ scaled) * scaled).sum(axis=0))
    return DataTerm(float(value), spread / scale, float(np.trace(W)), float(alpha.sum()))


def log_prior(prior: Any, x: Array) -> tuple[float, Array]:
    """log density of a log-normal prior over all of x, and its gradient."""
    loc, sigma = float(prior.loc), float(prior.scale)
    off = (np.log(x) - loc) / sigma
    value = -(np.log(x) + 0.5 * off * off + math.log(sigma * math.sqrt(2 * math.pi))).sum()
    return float(value), -(1.0 + off / sigma) / x


def closed_loss(model: SingleTaskGP) -> Callable[[], tuple[Tensor, tuple[Tensor, ...]]]:
    """The loss that `fit_gpytorch_mll` minimises, with its gradient, in closed form.

    BoTorch's constraints on these parameters are bounds, so raw values are the values.
    """
    kernel, noise_part, mean = model.covar_module, model.likelihood.noise_covar, model.mean_module
    X = model.transform_inputs(model.train_inputs[0]).numpy()
    y = model.train_targets.numpy()

    def loss() -> tuple[Tensor, tuple[Tensor, ...]]:
        scale = kernel.raw_lengthscale.detach().numpy().ravel()
        noise = noise_part.raw_noise.detach().numpy()
        term = data_term(X, y, scale, float(noise[0]), float(mean.raw_constant))
        prior, by_scale = log_prior(kernel.lengthscale_prior, scale)
        noise_prior, by_noise = log_prior(noise_part.noise_prior, noise)
        gradient = (
            torch.from_numpy(term.by_noise + by_noise),
            torch.tensor(term.by_constant, dtype=torch.float64),
            torch.from_numpy(term.by_scale + by_scale).reshape(kernel.raw_lengthscale.shape),
        )
        value = torch.tensor(term.value + prior + noise_prior, dtype=torch.float64)
        return -value / len(y), tuple(-part / len(y) for part in gradient)

    return loss


class ClosedUcb(AcquisitionFunction):
    """mu + sqrt(kappa) sigma of the fitted model, in the units of the standardised targets."""

    def __init__(self, model: SingleTaskGP, kappa_now: float) -> None:
        super().__init__(model=model)
        self.normalize = model.input_transform
        model.eval()  # BoTorch's models then hold their inputs as transformed
        X = model.train_inputs[0]
        with torch.no_grad():
            self.scale = model.covar_module.lengthscale.clone()
            self.X = X / self.scale
            noise = model.likelihood.noise_covar.noise
            covariance = self._kernel(self.X) + noise * torch.eye(len(X), dtype=X.dtype)
            self.factor = torch.linalg.cholesky(covariance)
            self.constant = model.mean_module.constant.clone()
            residual = (model.train_targets - self.constant)[:, None]
            self.alpha = torch.cholesky_solve(residual, self.factor)
        self.root = math.sqrt(kappa_now)

    def _kernel(self, scaled: Tensor) -> Tensor:
        square = (scaled * scaled).sum(-1, keepdim=True) + (self.X * self.X).sum(-1)
        return torch.exp(-0.5 * (square - 2.0 * scaled @ self.X.T).clamp_min(0.0))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """UCB (b,) at X (b, 1, d)."""
        k = self._kernel(self.normalize(X.squeeze(-2)) / self.scale)
        mean = self.constant + (k @ self.alpha).squeeze(-1)
        solved = torch.linalg.solve_triangular(self.factor, k.T, upper=False)
        variance = (1.0 - (solved * solved).sum(0)).clamp_min(1e-10)
        ucb: Tensor = mean + self.root * variance.sqrt()
        return ucb


def propose_closed(Z: Array, y: Array, kappa_now: float) -> Array:
    """`plain_botorch.propose`, quicker."""
    model = new_model(Z, y)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(mll, closure=closed_loss(model))
    ucb = ClosedUcb(model, kappa_now)
    z, _ = optimize_acqf(ucb, bounds=box_of(Z.shape[1]), q=1, num_restarts=5, raw_samples=20)
    return np.asarray(z[0].numpy())


def main() -> None:
    """Both steps on the same data: the likelihood at the start, and the points they propose."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    print("   n   d  log p(y)/n differs by  gradient differs by  proposals differ by (of [-1, 1])")
    for n, d in ((20, 5), (60, 12), (120, 19), (200, 28)):
        Z = random.uniform(-1, 1, (n, d))
        y = ((Z[:, :5] - 0.3) ** 2).sum(axis=1)
        model = new_model(Z, y)
        mll = ExactMarginalLogLikelihood(model.likelihood, model)
        value, gradient = get_loss_closure_with_grads(mll, dict(mll.named_parameters()))()
        closed, closed_gradient = closed_loss(model)()
        off = max(
            float((a - b).abs().max())
            for a, b in zip(gradient, closed_gradient, strict=True)
            if a is not None
        )
        moved = []
        for step in (propose, propose_closed):
            torch.manual_seed(n)
            moved.append(step(Z, y, kappa(0.1, d, n)))
        print(
            f"{n:4d} {d:3d} {abs(float(value - closed)):22.1e} {off:20.1e} "
            f"{np.abs(moved[0] - moved[1]).max():20.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
