"""DSE-CMA-ES: DSEBO's shared embedding and growing subspace around CMA-ES, as the paper's discussion wishes.

To be read beside Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), appendix A. The package `cmaes` is
not used: covariance and step size, which an expansion has to extend, are no part of its interface.

Notation:
    lambda, mu, w   points of a generation, those recombined, weights of all by rank (negative for the worse)
    m, sigma, C     mean, step size and covariance: z ~ m + sigma N(0, C), cut to [-1, 1]^d
    p_sigma, p_c    evolution paths of the step size and of the covariance
    d, T, delta     as in `dsebo/expansion.py`
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dsebo.embedding import SharedEmbedding, pad
from dsebo.events import Event
from dsebo.expansion import Progress, Steps, converge, count, settled, start
from dsebo.methods._growth import GrowthConfig
from dsebo.methods._population import Distribution, generation_event
from dsebo.methods.base import Array, Candidate, Optimizer, Told, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class DseCmaEsConfig(GrowthConfig):
    """CMA-ES in a random subspace that grows."""

    label = "DSE-CMA-ES"
    family = "DSEBO"
    coefficients = Coefficients(n=2.22e5, n_D=26.5)

    method: Literal["dse-cma-es"] = "dse-cma-es"
    sigma: float = setting(0.3, "First step size", symbol="σ", gt=0, le=10)
    """How far the first generation spreads: its standard deviation, in a box from -1 to 1."""
    steps: Steps = setting("first", "Step is scaled from", symbol="Δd", advanced=True)
    """What k scales: the first step, so that none dies out; or the last one, as the paper has it."""

    def build(self, D: int, budget: int, seed: int) -> DSECMAES:
        """See `MethodConfig.build`."""
        return DSECMAES(self, D, budget, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """S, and the covariance with its factors."""
        return 8 * (D * self.d_h + 5 * self.d_h**2)


@dataclass(frozen=True)
class Rates:
    """What follows from the dimension alone (table 1 of the tutorial)."""

    d: int

    @property
    def size(self) -> int:
        """lambda (48)."""
        return 4 + math.floor(3 * math.log(self.d))

    @property
    def mu(self) -> int:
        """How many are recombined."""
        return self.size // 2

    @cached_property
    def raw(self) -> Array:
        """The weights before they are scaled (49)."""
        raw: Array = np.log((self.size + 1) / 2) - np.log(np.arange(1, self.size + 1))
        return raw

    @cached_property
    def mu_eff(self) -> float:
        """How many parents the better half's weights amount to."""
        better = self.raw[: self.mu]
        return float(better.sum() ** 2 / (better**2).sum())

    @cached_property
    def w(self) -> Array:
        """The better half's weights sum up to 1; the others' are as negative as C can bear (50 to 53)."""
        worse = self.raw[self.mu :]
        against = float(worse.sum() ** 2 / (worse**2).sum())
        limits = (
            1 + self.c_1 / self.c_mu,
            1 + 2 * against / (self.mu_eff + 2),
            (1 - self.c_1 - self.c_mu) / (self.d * self.c_mu),
        )
        positive, negative = self.raw[self.raw > 0].sum(), -self.raw[self.raw < 0].sum()
        w: Array = np.where(self.raw >= 0, self.raw / positive, min(limits) / negative * self.raw)
        return w

    @property
    def c_sigma(self) -> float:
        """How fast the path of the step size forgets (55)."""
        return (self.mu_eff + 2) / (self.d + self.mu_eff + 5)

    @property
    def damping(self) -> float:
        """d_sigma (55)."""
        return 1 + 2 * max(0.0, math.sqrt((self.mu_eff - 1) / (self.d + 1)) - 1) + self.c_sigma

    @property
    def c_c(self) -> float:
        """How fast the path of the covariance forgets (56)."""
        return (4 + self.mu_eff / self.d) / (self.d + 4 + 2 * self.mu_eff / self.d)

    @property
    def c_1(self) -> float:
        """The share of the path in C (57)."""
        return 2 / ((self.d + 1.3) ** 2 + self.mu_eff)

    @property
    def c_mu(self) -> float:
        """The share of the generation in C (58)."""
        wanted = 2 * (self.mu_eff - 2 + 1 / self.mu_eff) / ((self.d + 2) ** 2 + self.mu_eff)
        return min(1 - self.c_1 - 1e-8, wanted)

    @property
    def length(self) -> float:
        """Of a standard normal vector, as expected."""
        return math.sqrt(self.d) * (1 - 1 / (4 * self.d) + 1 / (21 * self.d**2))


@dataclass(frozen=True)
class Normal(Distribution):
    """Where the next generation is drawn from."""

    first: int  # evaluations before it
    sigma: float
    C: Array  # (d, d)
    p_sigma: Array  # (d,)
    p_c: Array  # (d,)

    @property
    def step_size(self) -> float:
        """Sigma."""
        return self.sigma

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """(B, D): C = B D^2 B'."""
        squares, B = np.linalg.eigh((self.C + self.C.T) / 2)
        return B, np.sqrt(np.maximum(squares, 1e-14 * squares[-1]))

    def sample(self, rng: np.random.Generator) -> Array:
        """A point of the box (38 to 40)."""
        B, D = self.factors
        z = self.mean + self.sigma * (B @ (D * rng.standard_normal(D.size)))
        return np.clip(z, -1.0, 1.0)

    def updated(self, Z: Array, y: Array) -> Normal:
        """After a generation Z (lambda, d) with its values, infinite where failed."""
        rates, (B, D) = Rates(self.mean.size), self.factors
        steps = (Z[np.argsort(y, kind="stable")] - self.mean) / self.sigma
        mean_step = rates.w[: rates.mu] @ steps[: rates.mu]  # (41)
        whitened = (steps @ B / D) @ B.T  # C^(-1/2) of each step
        c, mu_eff = rates.c_sigma, rates.mu_eff
        white_step = rates.w[: rates.mu] @ whitened[: rates.mu]
        p_sigma = (1 - c) * self.p_sigma + math.sqrt(c * (2 - c) * mu_eff) * white_step  # (43)
        length = float(np.linalg.norm(p_sigma))
        sigma = self.sigma * math.exp(c / rates.damping * (length / rates.length - 1))  # (44)
        settled_length = length / math.sqrt(1 - (1 - c) ** (2 * (self.generation + 2)))
        h = 1.0 if settled_length < (1.4 + 2 / (rates.d + 1)) * rates.length else 0.0
        c_c, c_1, c_mu = rates.c_c, rates.c_1, rates.c_mu
        p_c = (1 - c_c) * self.p_c + h * math.sqrt(c_c * (2 - c_c) * mu_eff) * mean_step  # (45)
        # A bad step counts as if it had the expected length: else C could lose its sign (46).
        shrink = np.where(rates.w >= 0, 1.0, rates.d / ((whitened**2).sum(axis=1) + 1e-8))
        kept = 1 - c_1 - c_mu * rates.w.sum() + c_1 * (1 - h) * c_c * (2 - c_c)
        rank_mu = (steps.T * (rates.w * shrink)) @ steps
        C = kept * self.C + c_1 * np.outer(p_c, p_c) + c_mu * rank_mu  # (47)
        # Cut to the box: outside it all points are clipped alike, and nothing pulls back.
        mean = np.clip(self.mean + self.sigma * mean_step, -1.0, 1.0)  # (42)
        return Normal(self.generation + 1, mean, self.first + len(Z), sigma, C, p_sigma, p_c)

    def expanded(self, d: int) -> Normal:
        """The same in d dimensions: what was learnt stays, of the new dimensions nothing is known.

        The mean and both paths are padded with 0 (the shared embedding: x stays where it is), and C by the
        identity: along a new dimension the deviation is the present step size.
        """
        d_before = self.mean.size
        C = np.eye(d)
        C[:d_before, :d_before] = self.C
        mean, p_sigma, p_c = (pad(vector, d) for vector in (self.mean, self.p_sigma, self.p_c))
        return replace(self, C=C, mean=mean, p_sigma=p_sigma, p_c=p_c)


class DSECMAES(Optimizer):
    """An evolution strategy in a subspace that grows after a generation, when the strategy says so.

    What it has learnt depends on nothing but the seed and the values, so it is not stored: a loaded run goes
    through its generations again.
    """

    def __init__(self, config: DseCmaEsConfig, D: int, budget: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config, self.strategy = config, config.strategy(budget)
        self.embedding = SharedEmbedding(D, config.d_h, stream(seed, 0))
        self._begin()

    def _begin(self) -> None:
        """A uniform mean: the centre would be a gift on these functions."""
        self.progress: Progress = start(self.strategy)
        d = self.progress.d
        mean = stream(self.seed, 0).spawn(1)[0].uniform(-1.0, 1.0, size=d)
        self.state = Normal(0, mean, 0, self.config.sigma, np.eye(d), np.zeros(d), np.zeros(d))

    @property
    def d(self) -> int:
        """Dimension of the current subspace."""
        return self.progress.d

    @property
    def _left(self) -> int:
        """Points that the generation still has."""
        return self.state.first + Rates(self.d).size - len(self.observed)

    def next_point(self) -> Candidate:
        """The next point of the generation, embedded."""
        return self._point(len(self.observed) + 1)

    def next_points(self, q: int) -> list[Candidate]:
        """The next q points of the generation, or as many as it still has: none needs another's value."""
        n = len(self.observed)
        return [self._point(n + 1 + i) for i in range(min(q, self._left))]

    def _point(self, t: int) -> Candidate:
        z = self.state.sample(stream(self.seed, t))
        return Candidate(t, z, self.lift(z), self.d)

    def learn(self, candidate: Candidate, y: float) -> Told:
        """Count the value; after a generation learn from all of it, then expand if patience has run out."""
        self.observed.add(candidate.z, y)
        before = self.progress
        if np.isfinite(y):  # a failure spends budget, not patience
            self.progress = count(self.strategy, before, y)
        counted = Told(before.T, self.progress.count)
        if self._left > 0:
            return counted
        events: list[Event] = [self._next_generation(candidate.t)]
        if self.progress.count >= self.progress.T and not settled(self.strategy, self.progress):
            self.progress, event = converge(self.strategy, self.progress, candidate.t)
            events.append(event)
            self.state = self.state.expanded(self.d)
        return replace(counted, events=events)

    def _next_generation(self, t: int) -> Event:
        sigma, first = self.state.sigma, self.state.first
        Z, y = np.stack(self.observed.points[first:]), np.array(self.observed.values[first:])
        if np.isfinite(y).any():
            self.state = self.state.updated(Z, np.where(np.isfinite(y), y, np.inf))
        else:  # nothing to learn from
            self.state = replace(self.state, generation=self.state.generation + 1, first=first + len(y))
        return generation_event(t, self.state, sigma, y)

    def lift(self, z: Array) -> Array:
        """x = p(A_d z)."""
        return self.embedding.lift(z)

    def checksum(self) -> str:
        """A fingerprint of S."""
        return self.embedding.checksum()

    def load_own_state(self, state: dict[str, Any]) -> None:
        """Begin again, and go through the generations."""
        data, self.observed = self.observed, type(self.observed)()
        self._begin()
        for t, (z, y) in enumerate(data.as_data(), start=1):
            self.learn(Candidate(t, z, z, z.size), y)
