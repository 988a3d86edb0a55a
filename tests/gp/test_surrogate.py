"""The closed forms are GPyTorch's values; the acquisition finds what a dense search finds."""

import numpy as np
import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from gpytorch.mlls import ExactMarginalLogLikelihood
from scipy.optimize import approx_fprime

from dsebo.gp.acquisition import AcquisitionSettings, kappa, lower_bound, propose_by_bound
from dsebo.gp.surrogate import Surrogate, SurrogateSettings, inverse_and_logdet

SETTINGS = [
    SurrogateSettings(),
    SurrogateSettings(kernel="rbf"),
    SurrogateSettings(lengthscale_prior="gamma", fit_outputscale=True, targets="centred"),
    SurrogateSettings(kernel="rbf", fit_outputscale=True),
]
IDS = ["matern", "rbf", "authors", "rbf-scaled"]


def data(n: int = 40, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, d))
    return Z, 3 + np.sin(3 * Z[:, 0]) + (Z[:, 1] - 0.3) ** 2 + 0.01 * rng.standard_normal(n)


def fitted(settings: SurrogateSettings, n: int = 40, d: int = 6) -> Surrogate:
    surrogate = Surrogate(settings)
    surrogate.update(*data(n, d))
    return surrogate


@pytest.mark.parametrize("settings", SETTINGS, ids=IDS)
def test_likelihood_and_gradient_are_gpytorchs(settings: SurrogateSettings) -> None:
    surrogate = fitted(settings)
    assert surrogate.log_params is not None
    Z, target = surrogate._data  # type: ignore[misc]
    value, gradient = surrogate.log_posterior(Z, target, surrogate.log_params)
    model = surrogate.model
    model.train()
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    theirs = mll(model(*model.train_inputs), model.train_targets) * target.size
    assert value == pytest.approx(theirs.item(), rel=1e-8)

    theirs.backward()
    kernel = model.covar_module
    base = getattr(kernel, "base_kernel", kernel)
    by_log = _gradient_by_log(base.raw_lengthscale, base.raw_lengthscale_constraint)
    assert np.allclose(gradient[:-2], by_log.ravel(), rtol=1e-8, atol=1e-9)
    noise = model.likelihood.noise_covar
    by_log = _gradient_by_log(noise.raw_noise, noise.raw_noise_constraint)
    assert gradient[-1] == pytest.approx(float(by_log.ravel()[0]), rel=1e-8)
    if settings.fit_outputscale:
        by_log = _gradient_by_log(kernel.raw_outputscale, kernel.raw_outputscale_constraint)
        assert gradient[-2] == pytest.approx(float(by_log.ravel()[0]), rel=1e-8)


def _gradient_by_log(raw: torch.nn.Parameter, constraint: torch.nn.Module) -> np.ndarray:
    """d/d log value from the gradient by GPyTorch's raw parameter."""
    free = raw.detach().clone().requires_grad_()
    value = constraint.transform(free)
    (slope,) = torch.autograd.grad(value.sum(), free)
    assert raw.grad is not None
    return np.asarray((raw.grad / slope * value).detach().numpy())


@pytest.mark.parametrize("settings", SETTINGS, ids=IDS)
def test_posterior_and_bound_are_botorchs(settings: SurrogateSettings) -> None:
    surrogate = fitted(settings)
    z = np.random.default_rng(5).uniform(-1, 1, (20, 6))
    mean, variance = surrogate.posterior(z)
    shift, scale = surrogate._scale
    theirs = surrogate.model.posterior(torch.from_numpy(z))
    assert np.allclose(mean, shift + scale * theirs.mean.detach().numpy().ravel(), rtol=1e-8)
    assert np.allclose(variance, scale**2 * theirs.variance.detach().numpy().ravel(), rtol=1e-8)

    points = torch.from_numpy(z).requires_grad_()
    ucb = UpperConfidenceBound(surrogate.model, beta=2.25, maximize=False)
    value = -ucb(points[:, None, :])
    value.sum().backward()
    bound, gradient = surrogate.score(z, lower_bound(2.25))
    assert np.allclose(bound, value.detach().numpy(), rtol=1e-8, atol=1e-10)
    assert points.grad is not None
    steepest = points.grad.abs().max().item()
    assert np.allclose(gradient, points.grad.numpy(), rtol=1e-8, atol=1e-8 * steepest)


def test_gradient_of_the_bound_by_differences() -> None:
    surrogate = fitted(SurrogateSettings())
    for z in np.random.default_rng(2).uniform(-1, 1, (3, 6)):
        _, gradient = surrogate.score(z[None], lower_bound(2.0))

        def bound(v: np.ndarray) -> float:
            return float(surrogate.score(v[None], lower_bound(2.0))[0][0])

        assert np.allclose(gradient[0], approx_fprime(z, bound, 1e-6), rtol=1e-3, atol=1e-4)


def test_a_fit_explains_the_data_better_than_its_start() -> None:
    cold = Surrogate(SurrogateSettings(fit_iterations=1))
    warm = Surrogate(SurrogateSettings(fit_iterations=50))
    Z, y = data(60)
    for surrogate in (cold, warm):
        surrogate.update(Z, y)
    target = (y - y.mean()) / y.std(ddof=1)
    assert cold.log_params is not None
    assert warm.log_params is not None
    before, _ = cold.log_posterior(Z, target, cold.log_params)
    after, _ = warm.log_posterior(Z, target, warm.log_params)
    assert after > before + 1
    lengthscales = np.exp(warm.log_params[:6])
    assert lengthscales[:2].max() < lengthscales[2:].min()  # only the first two variables matter


def test_expanding_keeps_what_was_learnt() -> None:
    surrogate = fitted(SurrogateSettings())
    assert surrogate.log_params is not None
    Z, y = data()
    surrogate.update(np.hstack([Z, np.zeros((40, 3))]), y)
    assert surrogate.log_params.size == 9 + 2
    padded = np.hstack([np.array([[0.1, 0.2, 0, 0, 0, 0]]), np.zeros((1, 3))])
    assert surrogate.posterior(padded)[0] == pytest.approx(3 + np.sin(0.3) + 0.01, abs=0.1)


def test_hyperparameters_are_refitted_at_growing_intervals() -> None:
    surrogate = Surrogate(SurrogateSettings(refit_every=0.1))
    Z, y = data(60)
    fitted_at = []
    for n in range(2, 61):
        surrogate.update(Z[:n], y[:n])
        fitted_at.append(surrogate.n_fitted)
    steps = np.diff(sorted(set(fitted_at)))
    assert steps.min() == 1
    assert steps.max() == 5
    assert np.all(np.diff(steps) >= 0)


def test_inverse_and_logdet() -> None:
    A = np.random.default_rng(0).standard_normal((30, 30))
    K = A @ A.T + np.eye(30)
    inverse, logdet = inverse_and_logdet(K)
    assert np.allclose(inverse @ K, np.eye(30), atol=1e-9)
    assert logdet == pytest.approx(np.linalg.slogdet(K)[1])
    with pytest.raises(np.linalg.LinAlgError):
        inverse_and_logdet(-K)


def test_the_proposal_is_as_low_as_a_dense_search_and_inside_the_box() -> None:
    surrogate = fitted(SurrogateSettings(), d=2)
    Z, y = data(d=2)
    settings = AcquisitionSettings()
    z = propose_by_bound(surrogate, settings, (Z, y), 0.8, np.random.default_rng(0)).point
    assert np.all(np.abs(z) <= 0.8)
    grid = np.linspace(-0.8, 0.8, 81)
    dense = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    bound = lower_bound(kappa(settings.kappa_scale, 2, len(y)))
    lowest = surrogate.score(dense, bound)[0].min()
    assert surrogate.score(z[None], bound)[0][0] <= lowest + 1e-6


def test_kappa() -> None:
    assert kappa(1.0, 10, 50) == pytest.approx(0.2 * 10 * np.log(100))


def test_no_data_no_prediction() -> None:
    with pytest.raises(RuntimeError, match="no data"):
        Surrogate(SurrogateSettings()).posterior(np.zeros((1, 2)))
