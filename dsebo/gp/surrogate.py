"""The Gaussian process on the subspace, in closed form.

Notation:
    Z (n, d), y (n,)    the data; y is standardised (or only centred) before anything else
    ell (d,), s2, eta   lengthscales, output scale, noise variance: the hyper-parameters
    r2                  squared distance scaled by ell
    k(r2)               correlation; dk its derivative by r2
    K = s2 k + eta I    covariance of the data; m its generalised-least-squares mean
    a = K^-1 (y - m)    weights

Written by hand because GPyTorch's overhead (lazy tensors, autograd, retries) is most of the time
of a small exact GP. The values are GPyTorch's: `model` gives the same GP as a BoTorch model, and
the tests hold likelihood, gradients and posterior to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dsebo.gp.priors import Fixed, Gamma, LogNormal, Prior

if TYPE_CHECKING:
    from botorch.models import SingleTaskGP

Array = NDArray[np.float64]
Kernel = Literal["matern", "rbf"]
Lengthscales = Literal["per-dimension", "common"]
LengthscalePrior = Literal["dimension-scaled", "gamma"]
Targets = Literal["standardised", "centred"]

# (mu, sigma) -> (value, d value / d mu, d value / d sigma), the least value being the best; a derivative
# that is the same at all points may be of length 1.
Score = Callable[[Array, Array], tuple[Array, Array, Array | float]]
Loss = Callable[[Array], tuple[float, Array]]  # with its gradient


def as_loss(log_posterior: Loss, n: int) -> Loss:
    """What a fit to n data minimises: minus the log posterior, per datum."""

    def loss(params: Array) -> tuple[float, Array]:
        try:
            value, gradient = log_posterior(params)
        except np.linalg.LinAlgError:
            return 1e10, np.zeros_like(params)  # L-BFGS steps back from here
        return -value / n, -gradient / n

    return loss


def minimised(
    loss: Loss, start: Array, bounds: Any, iterations: int, **more: int
) -> tuple[Array, float] | None:
    """Where a capped L-BFGS search ends, and the loss there; None where they are not finite."""
    from scipy.optimize import minimize

    options = {"maxiter": iterations, "maxcor": 10, "ftol": 1e-6, **more}
    end = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    finite = np.all(np.isfinite(end.x)) and np.isfinite(end.fun)
    return (np.asarray(end.x), float(end.fun)) if finite else None


@dataclass(frozen=True)
class SurrogateSettings:
    """What the paper leaves open about its Gaussian process, and what other methods change of it."""

    kernel: Kernel = "matern"
    lengthscale_prior: LengthscalePrior = "dimension-scaled"
    fit_outputscale: bool = False
    targets: Targets = "standardised"
    lengthscales: Lengthscales = "per-dimension"
    most_data: int = 0  # with one lengthscale: how many data the model has at a fit; 0: all
    fit_iterations: int = 15  # cap of L-BFGS iterations per fit
    refit_every: float = 0.02  # refit after this share of new data (and after each expansion)
    flat: bool = False  # no priors: maximum likelihood within the bounds, begun at the `start`s
    cold: bool = False  # each fit begins there again, where going on from the last one overfits
    lengthscale_start: float = 1.0
    outputscale_start: float = 1.0
    noise_start: float = 1e-2
    lengthscale_bounds: tuple[float, float] = (1e-2, 1e4)
    outputscale_bounds: tuple[float, float] = (1e-3, 1e8)
    noise_bounds: tuple[float, float] = (1e-4, 1e1)


def correlation(kernel: Kernel, r2: Array) -> tuple[Array, Array]:
    """(k, dk/dr2) of the kernel at squared scaled distances r2, both of r2's shape."""
    if kernel == "rbf":
        k = _exp(-0.5 * r2)
        return k, -0.5 * k
    root5_r = np.sqrt(5.0 * r2)
    decay = _exp(-root5_r)
    root5_r += 1.0
    dk = decay * root5_r
    dk *= -5.0 / 6.0
    root5_r += (5.0 / 3.0) * r2
    decay *= root5_r
    return decay, dk


def _exp(x: Array) -> Array:
    """exp, in place. torch's is seven times faster than numpy's where there is no AVX-512."""
    import torch

    torch.from_numpy(x).exp_()
    return x


def squared_distances(a: Array, b: Array, b_squares: Array | None = None) -> Array:
    """(m, n) squared Euclidean distances of the rows of a (m, d) and b (n, d), whose squares may be known."""
    r2 = a @ b.T
    r2 *= -2.0
    r2 += squares(a)[:, None]
    r2 += squares(b) if b_squares is None else b_squares
    return np.maximum(r2, 0.0, out=r2)


def squares(a: Array) -> Array:
    """(m,) the squared lengths of the rows of a (m, d)."""
    lengths: Array = np.einsum("ij,ij->i", a, a)
    return lengths


def inverse_and_logdet(K: Array) -> tuple[Array, float]:
    """K^-1 and log det K by Cholesky; raises LinAlgError where K is not positive definite."""
    from scipy.linalg import lapack

    L, info = lapack.dpotrf(K.T, lower=1, clean=1)  # K.T: the order in memory that LAPACK wants
    if info != 0:
        raise np.linalg.LinAlgError(f"covariance not positive definite (order {info})")
    logdet = 2.0 * float(np.log(np.diagonal(L)).sum())
    lower, _ = lapack.dpotri(L, lower=1, overwrite_c=1)
    inverse = lower + lower.T  # above its diagonal, lower is 0
    inverse.flat[:: K.shape[0] + 1] *= 0.5
    return inverse, logdet


@dataclass
class Factorised:
    """Everything that a prediction needs, for one data set and one set of hyper-parameters."""

    scaled: Array  # (n, d) Z / ell
    lengthscale: Array
    outputscale: float
    noise: float
    mean: float
    weights: Array  # (n,)
    inverse: Array  # (n, n)

    @cached_property
    def squares(self) -> Array:
        """(n,) of the scaled data, which every look at the acquisition needs."""
        return squares(self.scaled)


class _Look(NamedTuple):
    """The model at some points."""

    scaled: Array  # (m, d)
    dk: Array  # (m, n)
    solved: Array  # (m, n) k K^-1
    sigma: Array  # (m,)


def factorised(
    kernel: Kernel, Z: Array, lengthscale: Array, outputscale: float, noise: float, target: Array
) -> Factorised:
    """The model of the data (n, d), (n,) with these hyper-parameters; the mean is the likeliest."""
    scaled = Z / lengthscale
    k, _ = correlation(kernel, squared_distances(scaled, scaled))
    K = outputscale * k
    K.flat[:: target.size + 1] += noise
    inverse, _ = inverse_and_logdet(K)
    mean = float(inverse.sum(axis=0) @ target / inverse.sum())
    return Factorised(scaled, lengthscale, outputscale, noise, mean, inverse @ (target - mean), inverse)


def log_likelihood(
    kernel: Kernel, Z: Array, target: Array, log_params: Array, mean_drawn: bool = False
) -> tuple[float, Array]:
    """log p(y | Z) and its gradient by log_params, (d + 2,) the logarithms of ell, s2 and eta.

    The mean is profiled out; where it is drawn from N(0, 1), integrated out instead.
    """
    n, d = Z.shape
    ell, s2, eta = _unpack(log_params)
    scaled = Z / ell
    k, dk = correlation(kernel, squared_distances(scaled, scaled))
    K = s2 * k
    K.flat[:: n + 1] += eta
    if mean_drawn:
        K += 1.0
    inverse, logdet = inverse_and_logdet(K)
    residual = target
    if not mean_drawn:
        residual = target - inverse.sum(axis=0) @ target / inverse.sum()
    a = inverse @ residual
    value = -0.5 * (residual @ a + logdet + n * np.log(2 * np.pi))

    # d value / d theta = tr(W dK/dtheta), W = (a a' - K^-1) / 2. The mean is at its optimum,
    # so it adds nothing (envelope theorem).
    W = np.multiply.outer(0.5 * a, a)
    inverse *= 0.5
    W -= inverse
    gradient = np.empty(d + 2)
    gradient[d] = s2 * np.vdot(W, k)
    gradient[d + 1] = eta * np.trace(W)
    # d r2_ab / d log l_j = -2 (z_aj - z_bj)^2 / l_j^2, and with G = s2 W o dk symmetric,
    # sum_ab G_ab (z_aj - z_bj)^2 = 2 (sum_a g_a z_aj^2 - sum_a z_aj (G Z)_aj), g = G 1.
    W *= dk
    W *= s2
    of_point = W.sum(axis=1)
    gradient[:d] = -4.0 * (of_point @ scaled**2 - np.einsum("ij,ij->j", scaled, W @ scaled))
    return float(value), gradient


class Surrogate:
    """A Gaussian process with ARD lengthscales, refitted from where it stood before."""

    def __init__(self, settings: SurrogateSettings) -> None:
        self.settings = settings
        self.log_params: Array | None = None  # (d + 2,) log of ell, s2, eta
        self.n_fitted = 0  # number of data at the last fit
        self._now: Factorised | None = None
        self._data: tuple[Array, Array] | None = None
        self._scale = (0.0, 1.0)  # y = shift + scale * standardised

    # -- learning ---------------------------------------------------------------------------

    def update(self, Z: Array, y: Array) -> None:
        """Take the data (n, d), (n,); refit the hyper-parameters if it is time to."""
        n, d = Z.shape
        target = self._standardise(y)
        expanded = self._grow_to(d)
        if expanded or n - self.n_fitted >= max(1, int(self.settings.refit_every * n)):
            self._fit(Z, target)
            self.n_fitted = n
        self._data = (Z, target)
        self._now = self._factorise(Z, target)

    def _standardise(self, y: Array) -> Array:
        spread = float(y.std(ddof=1)) if y.size > 1 else 1.0
        constant = spread <= 1e-12 * float(np.abs(y).max())
        if self.settings.targets == "centred" or constant:
            spread = 1.0
        self._scale = (float(y.mean()), spread)
        return (y - self._scale[0]) / spread

    def _grow_to(self, d: int) -> bool:
        """Start the hyper-parameters of new dimensions; True where there are any."""
        prior = self.lengthscale_prior(d)
        if self.log_params is None:
            first = [self.outputscale_prior.start, self.noise_prior.start]
            self.log_params = np.log(np.r_[np.full(d, prior.start), first])
            return True
        known = self.log_params.size - 2
        if known == d:
            return False
        # A padded coordinate is 0 in all data: the likelihood does not see it, the prior's mode is
        # where its lengthscale would end up.
        new = np.full(d - known, np.log(prior.start))
        self.log_params = np.r_[self.log_params[:known], new, self.log_params[-2:]]
        return True

    def lengthscale_prior(self, d: int) -> Prior:
        """BoTorch's default since 0.12 ("dimension-scaled") or before that, for each of d lengthscales."""
        own = self.settings
        if own.flat:
            return Fixed(own.lengthscale_start)
        scaled = own.lengthscale_prior == "dimension-scaled"
        return LogNormal(np.sqrt(2.0) + 0.5 * np.log(d), np.sqrt(3.0)) if scaled else Gamma(3.0, 6.0)

    @property
    def outputscale_prior(self) -> Prior:
        """As BoTorch has paired it with the lengthscale's."""
        own = self.settings
        if own.flat:
            return Fixed(own.outputscale_start)
        return Gamma(2.0, 0.15) if own.fit_outputscale else Fixed()

    @property
    def noise_prior(self) -> Prior:
        """As BoTorch has paired it with the lengthscale's."""
        own = self.settings
        if own.flat:
            return Fixed(own.noise_start)
        return LogNormal(-4.0, 1.0) if own.lengthscale_prior == "dimension-scaled" else Gamma(1.1, 0.05)

    def _fit(self, Z: Array, target: Array) -> None:
        """A capped L-BFGS search from the last hyper-parameters (cold: the first); kept if finite."""
        if self.settings.cold:
            self.log_params = None
            self._grow_to(Z.shape[1])
        assert self.log_params is not None
        bounds, iterations = self._bounds(Z.shape[1]), self.settings.fit_iterations
        if end := minimised(self._loss(Z, target), self.log_params, bounds, iterations):
            self.log_params = end[0]

    def _bounds(self, d: int) -> list[tuple[float, float]]:
        own = self.settings
        outputscale = own.outputscale_bounds if own.fit_outputscale else (1.0, 1.0)
        pairs = [own.lengthscale_bounds] * d + [outputscale, own.noise_bounds]
        return [(float(np.log(low)), float(np.log(high))) for low, high in pairs]

    def _loss(self, Z: Array, target: Array) -> Loss:
        return as_loss(partial(self.log_posterior, Z, target), target.size)

    def log_posterior(self, Z: Array, target: Array, log_params: Array) -> tuple[float, Array]:
        """log p(y | Z) + log prior and its gradient by log_params, the mean profiled out.

        log_params: (d + 2,) the logarithms of lengthscales, output scale and noise.
        """
        d = Z.shape[1]
        value, gradient = log_likelihood(self.settings.kernel, Z, target, log_params)
        for prior, part in self._priors(d, d):
            log_density, slope = prior.log_density(log_params[part])
            value += float(log_density.sum())
            gradient[part] += slope
        return value, gradient

    def _priors(self, count: int, d: int) -> list[tuple[Prior, slice]]:
        """The priors of `count` lengthscales in d dimensions, of noise and output scale, and their places."""
        of_noise = self.noise_prior, slice(count + 1, count + 2)
        priors = [(self.lengthscale_prior(d), slice(0, count)), of_noise]
        if self.settings.fit_outputscale:
            priors.append((self.outputscale_prior, slice(count, count + 1)))
        return priors

    def _factorise(self, Z: Array, target: Array) -> Factorised:
        assert self.log_params is not None
        return factorised(self.settings.kernel, Z, *_unpack(self.log_params), target)

    # -- predicting -------------------------------------------------------------------------

    @property
    def now(self) -> Factorised:
        """The factorised model of the last update."""
        if self._now is None:
            raise RuntimeError("The surrogate has seen no data yet.")
        return self._now

    def posterior(self, z: Array) -> tuple[Array, Array]:
        """Mean and variance of the function at z (m, d), in the units of y."""
        gp = self.now
        r2 = squared_distances(z / gp.lengthscale, gp.scaled, gp.squares)
        k, _ = correlation(self.settings.kernel, r2)
        k *= gp.outputscale
        variance = gp.outputscale - np.einsum("ij,ij->i", k @ gp.inverse, k)
        shift, scale = self._scale
        return shift + scale * (gp.mean + k @ gp.weights), scale**2 * np.maximum(variance, 0.0)

    @property
    def target(self) -> Array:
        """(n,) the standardised values of the last update."""
        assert self._data is not None
        return self._data[1]

    def values(self, z: Array, score: Score) -> Array:
        """An acquisition at z (m, d) in standardised units."""
        return self._look(z, score)[0]

    def score(self, z: Array, score: Score) -> tuple[Array, Array]:
        """An acquisition at z (m, d) in standardised units, and its gradient (m, d)."""
        gp = self.now
        value, by_mu, by_sigma, look = self._look(z, score)
        V = look.solved
        # d mu = a . dk, d sigma = -(V / sigma) . dk, and dk = s2 k'(r2) 2 (z - z_i) / l^2
        V *= -(by_sigma / look.sigma)[:, None]
        V += by_mu[:, None] * gp.weights
        V *= look.dk
        V *= 2.0 * gp.outputscale
        gradient = (V.sum(axis=1)[:, None] * look.scaled - V @ gp.scaled) / gp.lengthscale
        return value, gradient

    def _look(self, z: Array, score: Score) -> tuple[Array, Array, Array | float, _Look]:
        """An acquisition at z (m, d), its derivatives by mu and sigma, and what its gradient needs."""
        gp = self.now
        scaled = z / gp.lengthscale
        k, dk = correlation(self.settings.kernel, squared_distances(scaled, gp.scaled, gp.squares))
        if gp.outputscale != 1.0:
            k *= gp.outputscale
        V = k @ gp.inverse
        variance = gp.outputscale - np.einsum("ij,ij->i", V, k)
        sigma = np.sqrt(np.maximum(variance, 1e-12))
        return *score(gp.mean + k @ gp.weights, sigma), _Look(scaled, dk, V, sigma)

    # -- state and export -------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """What the data cannot give: the hyper-parameters and when they were fitted."""
        params = None if self.log_params is None else self.log_params.tolist()
        return {"log_params": params, "n_fitted": self.n_fitted}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`; the data comes with the next `update`."""
        params = state["log_params"]
        self.log_params = None if params is None else np.array(params, dtype=np.float64)
        self.n_fitted = int(state["n_fitted"])

    @property
    def model(self) -> SingleTaskGP:
        """The same Gaussian process as a BoTorch model, in the standardised units."""
        from dsebo.gp.botorch import to_botorch

        if self._data is None or self.log_params is None:
            raise RuntimeError("The surrogate has seen no data yet.")
        return to_botorch(self, *self._data)


def _unpack(log_params: Array) -> tuple[Array, float, float]:
    """(lengthscales, output scale, noise) from their logarithms."""
    params = np.exp(log_params)
    return params[:-2], float(params[-2]), float(params[-1])
