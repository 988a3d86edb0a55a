"""The plain BoTorch loop's step with its two costly sums in closed form.

Same model, same priors, same cold `fit_gpytorch_mll` with its retries, same `optimize_acqf`; only
log p(y) with its gradient and the posterior's mean and sigma are reckoned by hand, as GPyTorch's
way of reckoning them takes hours for what the paired values need. `python -m
benchmarks.plain_closed` prints how far the two are apart.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim.optimize import optimize_acqf
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NotPSDError  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from torch import Tensor

from benchmarks.plain_botorch import box_of, new_model, propose
from dsebo.acquisition import kappa

Array = NDArray[np.float64]


def squared_distances(X: Array) -> Array:
    """|x_a - x_b|^2 (n, n) of scaled points."""
    norms = (X * X).sum(axis=1)
    return np.asarray(np.maximum(norms[:, None] + norms - 2.0 * X @ X.T, 0.0))


class DataTerm(torch.autograd.Function):
    """log N(y; c, K + s2 I), K the squared-exponential kernel, and its gradient."""

    @staticmethod
    def forward(
        ctx: Any, lengthscale: Tensor, noise: Tensor, constant: Tensor, X: Array, y: Array
    ) -> Tensor:
        """One Cholesky factor and one inverse give the value and all of the gradient."""
        scale = lengthscale.detach().numpy().ravel()
        scaled = X / scale
        kernel = np.exp(-0.5 * squared_distances(scaled))
        covariance = kernel.copy(order="F")
        covariance[np.diag_indices_from(covariance)] += float(noise)
        factor, info = dpotrf(covariance, lower=1, clean=1, overwrite_a=1)
        if info != 0:
            raise NotPSDError("The covariance of the data has no Cholesky factor.")
        residual = y - float(constant)
        alpha, _ = dpotrs(factor, residual, lower=1)
        logdet = 2.0 * np.log(np.diag(factor)).sum()
        value = -0.5 * (residual @ alpha + logdet + len(y) * math.log(2 * math.pi))
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        W = 0.5 * (np.outer(alpha, alpha) - inverse)  # d value / d covariance
        M = W * kernel
        # sum_ab M_ab (x_aj - x_bj)^2 = 2 (sum_a (M 1)_a x_aj^2 - x_j' M x_j)
        spread = 2.0 * (M.sum(axis=1) @ (scaled * scaled) - ((M @ scaled) * scaled).sum(axis=0))
        ctx.gradient = (
            torch.from_numpy(spread / scale).reshape(lengthscale.shape),
            torch.full_like(noise, float(np.trace(W))),
            torch.full_like(constant, float(alpha.sum())),
        )
        return torch.tensor(value, dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient that was reckoned with the value."""
        return (*(outer[0] * part for part in ctx.gradient), None, None)


class ClosedMll(ExactMarginalLogLikelihood):  # type: ignore[misc]
    """GPyTorch's marginal likelihood with the data's term in closed form."""

    def forward(self, function_dist: Any, target: Tensor, *params: Any, **kwargs: Any) -> Tensor:
        """The priors are added as GPyTorch adds them."""
        model = self.model
        X = model.transform_inputs(model.train_inputs[0]) if model.training else None
        assert X is not None, "the likelihood is fitted in training mode"
        term = DataTerm.apply(  # type: ignore[no-untyped-call]
            model.covar_module.lengthscale,
            model.likelihood.noise_covar.noise,
            model.mean_module.constant,
            X.numpy(),
            target.numpy(),
        )
        total: Tensor = self._add_other_terms(term, params)
        return total.div(len(target))


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
    fit_gpytorch_mll(ClosedMll(model.likelihood, model))
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
        model.train()
        found = []
        for kind in (ExactMarginalLogLikelihood, ClosedMll):
            model.zero_grad()
            value = kind(model.likelihood, model)(model(*model.train_inputs), model.train_targets)
            value.backward()
            found.append((value.item(), model.covar_module.raw_lengthscale.grad.clone()))
        moved = []
        for step in (propose, propose_closed):
            torch.manual_seed(n)
            moved.append(step(Z, y, kappa(0.1, d, n)))
        gradient = (found[0][1] - found[1][1]).abs().max() / found[0][1].abs().max()
        print(
            f"{n:4d} {d:3d} {abs(found[0][0] - found[1][0]):22.1e} {float(gradient):20.1e} "
            f"{np.abs(moved[0] - moved[1]).max():20.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
