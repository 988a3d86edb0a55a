"""DuMBO: several sums of parts at once, whose points must agree (Bardou, Thiran, Begin 2024).

The variables are divided into parts, and the function is taken for a sum over them. Which division is
right is not known: at every step a chain of random splits and merges, accepted by the likelihood, gives
five. Each has its own best point; rounds of ADMM pull these together, and their mean is evaluated.

Notation:
    mu_f, v_f       mean and variance of part f given all data (`dsebo.gp.sums`)
    N_f             the parts of all divisions that share a variable with f, itself included
    score of f      mu_f - beta_t sqrt(v_f / |N_f|^2 + sum_{g in N_f, not f} v_g / |N_g|^2)
                    beta_t = sqrt(0.2 D ln 2t); the v_g are those of the round before
    x^k, xbar       the point of division k and the mean of these;  p^k its prices, rho their step
ADMM: x^k minimises scores + p^k (x - xbar) + rho/2 |x - xbar|^2, then p^k += rho (x^k - xbar).

The parts of a division share no variable, so that the point of a division is one search in D variables.
The authors start with one part of all variables and score moves by a posterior at the data, divided by
their number; here moves are accepted by the likelihood, with the exact odds of being proposed, and where
D > 50 the chain begins at a random division and keeps parts small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np

from dsebo.events import Event, StructureChanged
from dsebo.gp.sums import Bound, Data, Indices, Move, Posterior, Pull, Sum, propose
from dsebo.gp.surrogate import Array
from dsebo.methods._shared import (
    ModelConfig,
    fit_iterations_setting,
    n_init_setting,
    refit_setting,
    uniform_start,
)
from dsebo.methods.base import Candidate, Optimizer, Told, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import MAX_D, setting

STARTS, FIRST = 10, 3  # random starting points of the first round, and how many times its iterations


class DumboConfig(ModelConfig):
    """DuMBO: several sums of parts, whose points must agree."""

    label = "DuMBO"
    coefficients = Coefficients(n=5.71e7, n_D=2.18e4, n2_d=594, n3=55.1, n3_d=1.6)

    method: Literal["dumbo"] = "dumbo"
    decompositions: int = setting(5, "Decompositions", ge=1, le=50)
    """How many ways to divide the variables into parts are used at once, each with a point of its own. 1: no
    agreement is needed, and all hangs on one of them. Try 3, 5."""
    d_max: int = setting(20, "Largest part", ge=1, le=MAX_D)
    """How many variables may act together. 1: a sum of functions of one variable each. Default D up to 50
    variables, then 20."""
    beta_scale: float = setting(1.0, "Exploration", symbol="β", ge=0, le=1e6)
    """How much uncertainty attracts: the bound of a part is μ − β σ with β = √(0.2 D ln 2t) times this. The
    authors' 1 is large where there are many parts. Small: refine what is good. Try 0.1, 1."""
    rounds: int = setting(10, "Rounds", advanced=True, ge=1, le=1000)
    """How often the points are pulled together, at most."""
    tolerance: float = setting(0.05, "Agreement", advanced=True, gt=0, le=1)
    """The rounds end when no coordinate of any point is further from the mean, as a share of the box."""
    acq_iterations: int = setting(10, "Iterations per round", advanced=True, ge=1, le=10_000)
    """How far the point of a decomposition is followed in a round: steps of L-BFGS at most; three times as
    many in the first round."""
    n_init: int = n_init_setting(2, "Random points of the box, evaluated before the model is used.")
    fit_iterations: int = fit_iterations_setting(10, "Each fit goes on from the last.")
    refit_every: float = refit_setting(0.05)

    def build(self, D: int, budget: int, seed: int) -> DuMBO:
        """See `MethodConfig.build`."""
        return DuMBO(self, D, seed)

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d_max = D up to 50 variables, then 20."""
        return {"d_max": D if D <= 50 else 20, **given}

    def check(self, D: int) -> None:
        """d_max may not exceed D."""
        if self.d_max > D:
            raise ValueError(f"d_max must be a whole number from 1 to D = {D} (got {self.d_max}).")

    def extra_bytes(self, D: int, budget: int) -> int:
        """Scaled points and covariances of each decomposition, and what the searches remember."""
        return 8 * (self.decompositions * (budget * D + 2 * budget**2 + 30 * D) + budget * D)

    def search_work(self) -> float:
        """The iterations of all rounds of all decompositions."""
        return float(self.decompositions * self.acq_iterations * (FIRST + self.rounds - 1))


# -- agreement -------------------------------------------------------------------------------------


class Neighbours:
    """Which parts of several divisions share a variable; a division may count several times."""

    def __init__(self, labels: Sequence[Indices], times: Sequence[int]) -> None:
        self.times, self.pairs = times, [[_met(own, other) for other in labels] for own in labels]
        self.sharing = [
            np.sum([float(m) * np.bincount(mine) for m, (mine, _) in zip(times, row, strict=True)], axis=0)
            for row in self.pairs
        ]

    def others(self, variances: Sequence[Array]) -> list[Array]:
        """What the neighbours of each part add under its root, for each division."""
        shares = [v / n**2 for v, n in zip(variances, self.sharing, strict=True)]
        return [
            np.sum(
                [
                    m * np.bincount(mine, share[other])
                    for m, share, (mine, other) in zip(self.times, shares, row, strict=True)
                ],
                axis=0,
            )
            - own
            for row, own in zip(self.pairs, shares, strict=True)
        ]


def _met(one: Indices, other: Indices) -> tuple[Indices, Indices]:
    """The pairs of parts of two divisions that share a variable, each once."""
    width = int(other.max()) + 1
    met = np.unique(one * width + other)
    return met // width, met % width


@dataclass(frozen=True)
class Agreement:
    """What the rounds came to."""

    x: Array  # (D,) the mean of the copies
    gaps: tuple[float, ...]  # after each round, the furthest that a coordinate of a copy is from it
    apart: Array  # (D,) how far, at the end

    def agreed(self, tolerance: float) -> bool:
        """Whether the rounds ended because the copies agree."""
        return self.gaps[-1] < tolerance


# (copies (K, D), their mean, prices (K, D), their step) -> the copies of the next round
Round = Callable[[Array, Array, Array, float], Array]


def agree(search: Round, start: Array, times: Sequence[int], rounds: int, tolerance: float) -> Agreement:
    """ADMM: each division's copy of the point, pulled to their mean.

    Args:
        search: Minimises what each division wants and the price of standing apart; step 0: no price yet.
        start: (D,) where all copies begin.
        times: How often each division counts.
    """
    weights = np.array(times, dtype=float)
    copies = np.tile(start, (weights.size, 1))
    prices, mean, step = np.zeros_like(copies), start, 1.0
    gaps: list[float] = []
    for number in range(rounds):
        copies = search(copies, mean, prices, step if number else 0.0)
        before, mean = mean, weights @ copies / weights.sum()
        away = copies - mean
        prices += step * away
        gaps.append(float(np.abs(away).max()))
        if gaps[-1] < tolerance:
            break
        apart = float(np.sqrt((weights @ away**2).sum()))
        moved = step * float(np.linalg.norm(mean - before))
        step *= 2.0 if apart > 10.0 * moved else 0.5 if moved > 10.0 * apart else 1.0
    return Agreement(mean, tuple(gaps), np.abs(away).max(axis=0))


@dataclass(frozen=True)
class Link:
    """A division of the chain, its (K + eta I)^-1, and how many steps the chain stayed there."""

    sum: Sum
    inverse: Array
    times: int


@dataclass(frozen=True)
class Step:
    """What one `ask` came to, until its value is told."""

    t: int
    last: Sum  # the end of the chain, from which the next begins
    accepted: int
    likelihoods: tuple[float, float]  # of the first division and the last
    agreement: Agreement


class DuMBO(Optimizer):
    """A chain of divisions at each step, and the point that their models agree on."""

    has_model: ClassVar[bool] = True

    def __init__(self, config: DumboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.sum = Sum.start(D, config.d_max, stream(seed, 0))
        self.n_fitted = 0
        self._step: Step | None = None

    def next_point(self) -> Candidate:
        """A random point, or the one that this step's divisions agree on."""
        n, t = len(self.observed), len(self.observed) + 1
        rng = stream(self.seed, t)
        if (first := uniform_start(self, self.config.n_init, rng)) is not None:
            return first
        began = perf_counter()
        target = self.observed.standardized_values()
        data = Data((np.stack(self.observed.points) + 1.0) / 2.0, target)
        if n - self.n_fitted >= max(1, int(self.config.refit_every * n)):
            self.sum = data.fitted(self.sum, self.config.fit_iterations)
            self.n_fitted = n
        chain, likelihoods = self._chain(data, rng)
        fitted = perf_counter()
        agreement = self._agreed(data, chain, t, rng)
        self._step = Step(t, chain[-1].sum, len(chain) - 1, likelihoods, agreement)
        x = np.clip(2.0 * agreement.x - 1.0, -1.0, 1.0)
        return Candidate(t, x, x, None, fitted - began, perf_counter() - fitted)

    def _chain(self, data: Data, rng: np.random.Generator) -> tuple[list[Link], tuple[float, float]]:
        """The divisions of this step, each once; the log likelihoods of the first and the last."""
        now, K = self.sum, data.covariance(self.sum)
        first, inverse = data.likelihood(K, now.noise)
        chain, value = [Link(now, inverse, 1)], first
        for _ in range(self.config.decompositions - 1):
            move = propose(now.parts, self.config.d_max, rng)
            if move is not None and (new := self._tried(data, now, K, move)) is not None:
                after, K_after, value_after, inverse_after = new
                if np.log(rng.random()) < value_after - value + move.log_odds:
                    now, K, value = after, K_after, value_after
                    chain.append(Link(now, inverse_after, 1))
                    continue
            chain[-1] = replace(chain[-1], times=chain[-1].times + 1)
        return chain, (first, value)

    @staticmethod
    def _tried(data: Data, now: Sum, K: Array, move: Move) -> tuple[Sum, Array, float, Array] | None:
        """(the division after a move, its covariance, log likelihood, inverse); None: it has none."""
        after, gone, come = now.moved(move)
        K_after = K + (data.covariance(come) - data.covariance(gone))
        try:
            return after, K_after, *data.likelihood(K_after, after.noise)
        except np.linalg.LinAlgError:
            return None

    def _agreed(self, data: Data, chain: list[Link], t: int, rng: np.random.Generator) -> Agreement:
        """The rounds of this step."""
        models = [Posterior(data, link.sum, link.inverse) for link in chain]
        times = [link.times for link in chain]
        near = Neighbours([link.sum.labels(self.D) for link in chain], times)
        beta = self.config.beta_scale * float(np.sqrt(0.2 * self.D * np.log(2.0 * t)))

        def search(copies: Array, mean: Array, prices: Array, step: float) -> Array:
            others = near.others([model.variances(x) for model, x in zip(models, copies, strict=True)])
            iterations = self.config.acq_iterations * (1 if step else FIRST)
            rows = zip(models, copies, near.sharing, others, prices, strict=True)
            return np.stack(
                [
                    model.search(x, Bound(beta, sharing, added), Pull(mean, price, step), iterations)
                    for model, x, sharing, added, price in rows
                ]
            )

        best = data.U[int(np.argmin(data.target))]
        points = np.vstack([rng.random((STARTS, self.D)), best])
        bound = Bound(beta, near.sharing[0], np.zeros(near.sharing[0].size))
        scores = np.stack([models[0].score(x, bound)[0] for x in points])
        which = scores.argmin(axis=0)[chain[0].sum.labels(self.D)]  # each part from where it is best
        start = points[which, np.arange(self.D)]
        return agree(search, start, times, self.config.rounds, self.config.tolerance)

    def learn(self, candidate: Candidate, y: float) -> Told:
        """See `Optimizer.learn`; the chain goes on from where this step has left it."""
        if self._step is None or self._step.t != candidate.t:  # asked before it was stored
            self.next_point()
        return super().learn(candidate, y)

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """The division of a step with a fit, and how the copies came to agree."""
        step, self._step = self._step, None
        if step is None or step.t != candidate.t:
            return []
        before, self.sum = self.sum, step.last
        if self.n_fitted != candidate.t - 1:
            return []
        return [_told(step, before, self.config)]

    def own_state(self) -> dict[str, Any]:
        """The kept division, its hyper-parameters, and when they were fitted."""
        hyper = self.sum.flat().tolist()
        # In their order, also within a part: sums in another order differ in their last bits.
        parts = [part.tolist() for part in self.sum.parts]
        return {"parts": parts, "hyper": hyper, "n_fitted": self.n_fitted}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        parts = [np.array(part, dtype=np.int64) for part in state["parts"]]
        self.sum = Sum.of(parts).with_flat(np.array(state["hyper"], dtype=np.float64))
        self.n_fitted = int(state["n_fitted"])
        self._step = None


def _told(step: Step, now: Sum, config: DumboConfig) -> StructureChanged:
    """The parts that weigh most, the rounds, and the variables whose copies are furthest apart."""
    gaps = step.agreement.gaps
    weights = np.exp(now.variance)
    most = np.argsort(-weights, kind="stable")[:10]
    apart = np.argsort(-step.agreement.apart, kind="stable")[:10]
    F, largest = len(now.parts), max(part.size for part in now.parts)
    parts = f"{F} parts, the largest of {largest}" if F > 1 else f"one part of all {largest} variables"
    agreed = "agree" if step.agreement.agreed(config.tolerance) else "do not agree yet"
    text = (
        f"Evaluation {step.t}: {parts}; "
        f"{step.accepted} of {config.decompositions - 1} moves accepted, log likelihood "
        f"{step.likelihoods[0]:.4g} → {step.likelihoods[1]:.4g}. After round {len(gaps)} the copies "
        f"{agreed}: at most {gaps[-1]:.2g} of the box from their mean."
    )
    return StructureChanged(
        step.t,
        F,
        tuple(tuple(int(i) for i in now.parts[f][:10]) for f in most),
        tuple(float(share) for share in weights[most] / weights.sum()),
        gaps,
        text,
        tuple(int(i) for i in apart),
        tuple(float(gap) for gap in step.agreement.apart[apart]),
    )
