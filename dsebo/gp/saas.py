"""Sparse axis-aligned subspaces: a prior under which few of many variables matter (SAAS).

Notation (Eriksson, Jankowiak 2021):
    rho_i = 1 / l_i^2       how much variable i matters, one for each
    tau                     how much variables matter at all; alpha = 0.1 its scale
    HC(s)                   half-Cauchy of scale s

Two ways to learn. `SaasMap` are four fits, each with a tau of its own, under tau rho_i ~ HC(1):
the form of BoTorch's `map_saas` (meta-pytorch/botorch #3360), not the paper's rho_i / tau ~ HC(1),
whose mode is at rho = 0 and switches every variable off. `SaasHmc` draws from the paper's own
posterior by Hamiltonian Monte Carlo, with rho_i = tau lambda_i, lambda_i ~ HC(1), tau ~ HC(alpha).
The acquisition is the mean over the models, as its logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsebo.gp.priors import Fixed, Gamma, Prior
from dsebo.gp.surrogate import Array, Score, Surrogate, SurrogateSettings, factorised, log_likelihood

ALPHA = 0.1
NOISE = Gamma(0.9, 10.0)  # of the noise variance
OUTPUTSCALE = Gamma(2.0, 0.15)  # where it is drawn
# The quantiles 1/8, 3/8, 5/8 and 7/8 of HC(alpha): four typical tau, none of them by chance.
TAUS = tuple(float(ALPHA * np.tan(0.5 * np.pi * share)) for share in (0.125, 0.375, 0.625, 0.875))


@dataclass(frozen=True)
class Shrinkage:
    """tau rho ~ HC(1), rho = 1 / l^2: a density of l in which most variables do not matter."""

    tau: float
    start: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """-log(1 + q^2), q = tau / l^2, and its derivative by log l."""
        q2 = (self.tau * np.exp(-2.0 * log_value)) ** 2
        return -np.log1p(q2), 4.0 * q2 / (1.0 + q2)


@dataclass(frozen=True)
class _Noise(Gamma):
    """Its density has no mode: a fit starts at 0.01."""

    start: float = 0.01


class SaasMap(Surrogate):
    """One fit, for one tau; it goes on from the last, and where the data have doubled also from l = 1."""

    def __init__(self, settings: SurrogateSettings, tau: float) -> None:
        super().__init__(settings)
        self.tau = tau

    def lengthscale_prior(self, d: int) -> Prior:
        """Begun at √d / 3, which is about the distance of two points of the box."""
        return Shrinkage(self.tau, float(np.sqrt(d)) / 3.0)

    @property
    def outputscale_prior(self) -> Prior:
        """None; begun at 1."""
        return Fixed(1.0)

    @property
    def noise_prior(self) -> Prior:
        """See `NOISE`."""
        return _Noise(NOISE.shape, NOISE.rate)

    def _fit(self, Z: Array, target: Array) -> None:
        assert self.log_params is not None
        doubled = target.size.bit_length() > self.n_fitted.bit_length()
        again = np.r_[np.zeros(Z.shape[1]), self.log_params[-2:]]
        super()._fit(Z, target)
        if not doubled:
            return
        usual, self.log_params = self.log_params, again
        super()._fit(Z, target)
        loss = self._loss(Z, target)
        if not loss(self.log_params)[0] < loss(usual)[0]:
            self.log_params = usual


class Mixture:
    """Several models of the same data, of whose acquisitions the mean is taken."""

    def __init__(self, models: Sequence[Surrogate]) -> None:
        self.models = list(models)

    def update(self, Z: Array, y: Array) -> None:
        """Take the data (n, d), (n,); each model refits if it is time to."""
        for model in self.models:
            model.update(Z, y)

    @property
    def n_fitted(self) -> int:
        """Number of data at the last fit."""
        return self.models[0].n_fitted

    @property
    def target(self) -> Array:
        """(n,) the standardised values of the last update."""
        return self.models[0].target

    @property
    def relevance(self) -> Array:
        """(d,) the mean of rho over the models."""
        return np.asarray(np.mean([model.now.lengthscale**-2.0 for model in self.models], axis=0))

    def values(self, z: Array, score: Score) -> Array:
        """-log of the mean of exp(-value) over the models at z (m, d)."""
        return _mixed([model.values(z, score) for model in self.models])[0]

    def score(self, z: Array, score: Score) -> tuple[Array, Array]:
        """The same, and its gradient (m, d)."""
        scores = [model.score(z, score) for model in self.models]
        mixed, shares, total = _mixed([value for value, _ in scores])
        gradient = sum(share[:, None] * slope for share, (_, slope) in zip(shares, scores, strict=True))
        return mixed, np.asarray(gradient / (len(scores) * total)[:, None])

    def state_dict(self) -> dict[str, Any]:
        """What the data cannot give."""
        return {"models": [model.state_dict() for model in self.models]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        for model, own in zip(self.models, state["models"], strict=True):
            model.load_state_dict(own)


def _mixed(values: list[Array]) -> tuple[Array, Array, Array]:
    """-log of the mean of exp(-value) over the rows, each row's share of the largest, and their mean."""
    every = np.stack(values)
    least = every.min(axis=0)
    shares = np.exp(least - every)
    total = shares.mean(axis=0)
    return least - np.log(total), shares, total


def map_mixture(settings: SurrogateSettings) -> Mixture:
    """One fit for each of the typical tau."""
    return Mixture([SaasMap(settings, tau) for tau in TAUS])


# -- Hamiltonian Monte Carlo ----------------------------------------------------------------------

Density = Callable[[Array], tuple[float, Array]]
TARGET_ACCEPTANCE = 0.8
KEEP_EVERY = 16  # of the iterations: those between depend on each other
LARGEST = 30.0  # of a logarithm: beyond, exp is of no use


@dataclass
class Chain:
    """Where a chain stands, and how it moves."""

    q: Array
    log_step: float
    inverse_mass: Array

    def as_lists(self) -> list[Any]:
        """Plain JSON."""
        return [self.q.tolist(), self.log_step, self.inverse_mass.tolist()]


def hmc(
    density: Density, chain: Chain, warm_up: int, draws: int, keep_every: int, rng: np.random.Generator
) -> list[Array]:
    """The kept draws; `chain` is moved on and its step size and mass are learnt in the warm-up.

    Each iteration takes 1 to 32 leapfrog steps. The step size goes to an acceptance of 0.8 by dual
    averaging (Hoffman, Gelman 2014: gamma 0.05, t0 10, kappa 0.75); the mass is that of the draws of
    the second quarter of the warm-up.
    """
    q, (value, slope) = chain.q, density(chain.q)
    averaging = _DualAveraging(chain.log_step)
    seen: list[Array] = []
    kept: list[Array] = []
    for i in range(warm_up + draws):
        p = rng.standard_normal(q.size) / np.sqrt(chain.inverse_mass)
        steps, accept = int(rng.integers(1, 33)), float(rng.random())
        moved = _leapfrog(density, chain, (q, p, value, slope), steps)
        if moved is None:
            chance = 0.0
        else:
            before = value - 0.5 * float(p @ (chain.inverse_mass * p))
            after = moved[2] - 0.5 * float(moved[1] @ (chain.inverse_mass * moved[1]))
            chance = float(np.exp(min(0.0, after - before)))
            if accept < chance:
                q, _, value, slope = moved
        if i < warm_up:
            chain.log_step = averaging.learn(chance)
            if warm_up // 4 <= i < warm_up // 2:
                seen.append(q)
            if i == warm_up // 2 and warm_up >= 128:
                # Shrunk towards 1, as the draws are few and depend on each other.
                share = len(seen) / (len(seen) + 5.0)
                chain.inverse_mass = share * np.var(seen, axis=0) + (1.0 - share) * 1e-3
                averaging = _DualAveraging(chain.log_step)
            if i == warm_up - 1:
                chain.log_step = averaging.mean
        elif (i - warm_up + 1) % keep_every == 0:
            kept.append(q)
    chain.q = q
    return kept


class _DualAveraging:
    """The logarithm of a step size, and its mean once it has settled."""

    def __init__(self, start: float) -> None:
        self.centre, self.error, self.mean, self.count = np.log(10.0) + start, 0.0, start, 0

    def learn(self, chance: float) -> float:
        """The next log step, after a move that was accepted with that chance."""
        self.count += 1
        weight = 1.0 / (self.count + 10.0)
        self.error += weight * (TARGET_ACCEPTANCE - chance - self.error)
        now = float(np.clip(self.centre - np.sqrt(self.count) / 0.05 * self.error, -15.0, 2.0))
        share = self.count**-0.75
        self.mean += share * (now - self.mean)
        return now


State = tuple[Array, Array, float, Array]  # q, p, log density, its gradient


def _leapfrog(density: Density, chain: Chain, state: State, steps: int) -> State | None:
    """So many steps; None where they lead to what is no number."""
    q, p, value, slope = state
    step = float(np.exp(chain.log_step))
    with np.errstate(all="ignore"):  # a warm-up does overflow; it is rejected below
        for _ in range(steps):
            p = p + 0.5 * step * slope
            q = q + step * chain.inverse_mass * p
            if not np.all(np.abs(q) < LARGEST):
                return None
            value, slope = density(q)
            p = p + 0.5 * step * slope
            if not np.isfinite(value) or not np.all(np.isfinite(slope)):
                return None
    return q, p, value, slope


class SaasDensity:
    """The log posterior of q = (log lambda, log tau, log s2, log eta), and its gradient.

    The mean is drawn from N(0, 1) and integrated out. Without data it is the prior.
    """

    def __init__(self, settings: SurrogateSettings, Z: Array, target: Array) -> None:
        self.kernel, self.Z, self.target = settings.kernel, Z, target

    def __call__(self, q: Array) -> tuple[float, Array]:
        """At q (d + 3,)."""
        log_lambda, log_tau, log_s2, log_eta = q[:-3], q[-3], q[-2], q[-1]
        by_lambda, slope = _half_cauchy(log_lambda)
        by_tau, slope_tau = _half_cauchy(log_tau - np.log(ALPHA))
        by_s2, slope_s2 = _gamma(OUTPUTSCALE, log_s2)
        by_eta, slope_eta = _gamma(NOISE, log_eta)
        value = float(by_lambda.sum() + by_tau + by_s2 + by_eta)
        gradient = np.r_[slope, slope_tau, slope_s2, slope_eta]
        if self.target.size:
            try:
                fit, of_fit = log_likelihood(self.kernel, self.Z, self.target, log_params(q), mean_drawn=True)
            except np.linalg.LinAlgError:
                return -np.inf, gradient
            # log l = -(log lambda + log tau) / 2
            value += fit
            gradient[:-3] -= 0.5 * of_fit[:-2]
            gradient[-3] -= 0.5 * of_fit[:-2].sum()
            gradient[-2:] += of_fit[-2:]
        return value, gradient


def log_params(q: Array) -> Array:
    """(d + 2,) the logarithms of lengthscales, output scale and noise of a draw."""
    return np.asarray(np.r_[-0.5 * (q[:-3] + q[-3]), q[-2:]])


def _half_cauchy(log_value: Any) -> tuple[Any, Any]:
    """Of HC(1), by the logarithm, with its Jacobian: log v - log(1 + v^2)."""
    v2 = np.exp(2.0 * log_value)
    return log_value - np.log1p(v2), 1.0 - 2.0 * v2 / (1.0 + v2)


def _gamma(prior: Gamma, log_value: Any) -> tuple[Any, Any]:
    """By the logarithm, with its Jacobian: shape log v - rate v."""
    value = np.exp(log_value)
    return prior.shape * log_value - prior.rate * value, prior.shape - prior.rate * value


class _Drawn(Surrogate):
    """A model whose hyper-parameters were drawn: it never fits."""

    def __init__(self, settings: SurrogateSettings, q: Array) -> None:
        super().__init__(settings)
        self.log_params = log_params(q)

    def update(self, Z: Array, y: Array) -> None:
        """Take the data."""
        target = self._standardise(y)
        params = np.exp(np.asarray(self.log_params))
        self._data = (Z, target)
        self._now = factorised(
            self.settings.kernel, Z, params[:-2], float(params[-2]), float(params[-1]), target
        )


class SaasHmc(Mixture):
    """Draws of the posterior; the chain goes on from its last state when data have come."""

    def __init__(
        self,
        settings: SurrogateSettings,
        stream: Callable[[int], np.random.Generator],
        warm_up: int = 256,
        draws: int = 8,
    ) -> None:
        super().__init__([])
        self.settings, self.stream, self.warm_up, self.draws = settings, stream, warm_up, draws
        self.samples: list[Array] = []
        self.chain: Chain | None = None
        self.fitted = 0

    @property
    def n_fitted(self) -> int:
        """Number of data at the last fit."""
        return self.fitted

    @property
    def tau(self) -> float:
        """The mean over the draws."""
        return float(np.mean([np.exp(q[-3]) for q in self.samples]))

    def update(self, Z: Array, y: Array) -> None:
        """Take the data; draw again if it is time to."""
        n, d = Z.shape
        if n - self.fitted >= max(1, int(self.settings.refit_every * n)):
            target = Surrogate(self.settings)._standardise(y)
            warm_up = self.warm_up // 4
            if self.chain is None:
                start = np.r_[np.full(d, np.log(0.3)), np.log([0.1, 1.0, 0.01])]
                self.chain, warm_up = Chain(start, float(np.log(0.05)), np.ones(d + 3)), self.warm_up
            density = SaasDensity(self.settings, Z, target)
            iterations = KEEP_EVERY * self.draws
            self.samples = hmc(density, self.chain, warm_up, iterations, KEEP_EVERY, self.stream(n))
            self.fitted = n
            self.models = []
        if not self.models:
            self.models = [_Drawn(self.settings, q) for q in self.samples]
        super().update(Z, y)

    def state_dict(self) -> dict[str, Any]:
        """The draws, the chain, and when they were made."""
        chain = None if self.chain is None else self.chain.as_lists()
        return {"samples": [q.tolist() for q in self.samples], "chain": chain, "n_fitted": self.fitted}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.samples = [np.array(q, dtype=np.float64) for q in state["samples"]]
        self.models, self.fitted = [], int(state["n_fitted"])
        self.chain = None
        if state["chain"] is not None:
            q, log_step, inverse_mass = state["chain"]
            self.chain = Chain(np.array(q), float(log_step), np.array(inverse_mass))
