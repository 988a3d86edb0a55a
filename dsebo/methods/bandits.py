"""Bayesian optimization in several random subspaces, a bandit choosing whose turn it is.

Nine strategies of one optimizer: each differs in nothing but the rule that chooses the next arm.
Notation: r the mean reward of an arm, s² its variance (1 until n = 2), n its pulls, T the horizon.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from dsebo.events import ArmPulled, Event
from dsebo.gp.acquisition import propose_by_bound
from dsebo.gp.surrogate import Surrogate
from dsebo.methods._arms import Choice, History, largest
from dsebo.methods._embeddings import GaussianEmbedding, Scale, clipping_warning, fingerprint, scale_setting
from dsebo.methods._shared import SearchConfig, kappa_setting
from dsebo.methods.base import Array, Candidate, Optimizer, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting

DIMENSIONS = (10, 20, 30, 50, 70, 90, 100)


class BanditConfig(SearchConfig):
    """Each arm is a subspace with its own embedding, GP-UCB and data, begun by one point."""

    family = "Bandits"

    largest: int = setting(100, "Largest arm", symbol="d_max", ge=10, le=100)
    """Which subspaces compete: those of dimension 10, 20, 30, 50, 70, 90, 100 up to this."""
    scale: Scale = scale_setting("unit")
    reward: Literal["value", "rank"] = setting("value", "Reward")
    """What the bandit collects: −y of the point, as in the paper, or its rank among all, in [0, 1], which
    does not depend on the scale of the function."""
    kappa_scale: float = kappa_setting()

    @abstractmethod
    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """The next arm, from the pulls so far; every arm has been begun."""

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """No arm above D."""
        return {"largest": max(10, min(D, 100)), **given}

    def build(self, D: int, budget: int, seed: int) -> BanditBO:
        """See `MethodConfig.build`."""
        return BanditBO(self, D, budget, seed)

    def check(self, D: int) -> None:
        """No arm above D; the smallest has 10 dimensions."""
        if DIMENSIONS[0] > D:
            raise ValueError(f"D must be {DIMENSIONS[0]} or more for a bandit, its smallest arm (got {D}).")
        if self.largest > D:
            raise ValueError(f"largest must be a whole number from 10 to D = {D} (got {self.largest}).")

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The arms."""
        return tuple(d for d in DIMENSIONS if d <= self.largest)

    def model_dimension(self, D: int) -> float:
        """That of the arms, on average."""
        return sum(self.dimensions) / len(self.dimensions)

    def extra_bytes(self, D: int, budget: int) -> int:
        """The embeddings of all arms."""
        return 8 * D * sum(self.dimensions)

    def warnings(self, budget: int) -> list[str]:
        """That most coordinates sit on the box's walls; that not every arm is begun."""
        texts = clipping_warning(self.scale)
        if budget < len(self.dimensions):
            texts.append(f"{budget} evaluations do not begin all {len(self.dimensions)} arms.")
        return texts


class BanditExtremeConfig(BanditConfig):
    """The arm with the best value so far."""

    label = "Bandit: Extreme"
    coefficients = Coefficients(n=6.47e6, n2_d=67.1, n3=17.7)

    method: Literal["bandit-extreme"] = "bandit-extreme"

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        return largest(seen.best_rewards, "largest single reward")


class BanditCUcbConfig(BanditConfig):
    """Mean reward plus √(2 ln T / n)."""

    label = "Bandit: C-UCB"
    coefficients = Coefficients(n=4.46e6, n_D=145, n2_d=302)

    method: Literal["bandit-c-ucb"] = "bandit-c-ucb"

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        bonus = np.sqrt(2.0 * math.log(seen.horizon) / seen.pulls)
        return largest(seen.means + bonus, "largest upper bound")


class BanditEpsilonGreedyConfig(BanditConfig):
    """The best mean, or with probability ε any arm."""

    label = "Bandit: ε-greedy"
    coefficients = Coefficients(n=6.93e6, n_D=153, n2_d=42)

    method: Literal["bandit-epsilon-greedy"] = "bandit-epsilon-greedy"
    epsilon: float = setting(0.5, "Share of exploration", symbol="ε", ge=0, le=1)
    """How often any arm is pulled instead of the best one."""

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        if rng.random() < self.epsilon:
            return Choice(int(rng.integers(seen.arms)), seen.means, "drawn at random")
        return largest(seen.means, "largest mean reward")


class BanditSoftmaxConfig(BanditConfig):
    """An arm with probability ∝ exp(r̄ / τ)."""

    label = "Bandit: Softmax"
    coefficients = Coefficients(n=6.93e6, n_D=122, n2_d=168, n3_d=0.189)

    method: Literal["bandit-softmax"] = "bandit-softmax"
    temperature: float = setting(1.0, "Temperature", symbol="τ", gt=0, le=1e9)
    """How even the choice is, in units of the reward. High τ: any arm; low τ: the best mean."""

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        means = seen.means
        weights = np.exp((means - means.max()) / self.temperature)  # shifted: no overflow
        chances = weights / weights.sum()
        return Choice(int(rng.choice(seen.arms, p=chances)), chances, "drawn by its probability")


class BanditSuccessiveHalvingConfig(BanditConfig):
    """Equal shares, the worse half of the arms leaving after each round."""

    label = "Bandit: Successive halving"
    coefficients = Coefficients(n=8.45e6, n2_d=1.42)

    method: Literal["bandit-successive-halving"] = "bandit-successive-halving"

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        alive, start = list(range(seen.arms)), 0
        rounds = math.ceil(math.log2(seen.arms)) if seen.arms > 1 else 0
        arm, why = None, "the winner"
        for number in range(1, rounds + 1):
            share = max(1, seen.horizon // (rounds * len(alive)))
            end = start + share * len(alive)
            if len(seen) < end:
                arm, why = alive[(len(seen) - start) % len(alive)], f"round {number}, {len(alive)} arms left"
                break
            means = seen.first(end).means
            alive = sorted(sorted(alive, key=lambda arm: -means[arm])[: math.ceil(len(alive) / 2)])
            start = end
        scores = np.full(seen.arms, np.nan)
        scores[alive] = seen.means[alive]
        return Choice(alive[0] if arm is None else arm, scores, why)


class BanditUcbEConfig(BanditConfig):
    """Mean reward plus √(c / n)."""

    label = "Bandit: UCB-E"
    coefficients = Coefficients(n=5.39e6, n_D=189, n2_d=227, n3_d=0.0682)

    method: Literal["bandit-ucb-e"] = "bandit-ucb-e"
    exploration: float = setting(0.5, "Bonus", symbol="c", ge=0, le=1e9)
    """How much an arm with few pulls n attracts: √(c / n) is added to its mean reward."""

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        return largest(seen.means + np.sqrt(self.exploration / seen.pulls), "largest upper bound")


class BanditThompsonConfig(BanditConfig):
    """The best of one draw of N(r̄, s² / n) per arm."""

    label = "Bandit: Thompson sampling"
    coefficients = Coefficients(n=5.34e6, n2_d=245, n3_d=0.0728)

    method: Literal["bandit-thompson"] = "bandit-thompson"

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        return largest(rng.normal(seen.means, np.sqrt(seen.variances / seen.pulls)), "largest draw")


class BanditExpectationConfig(BanditConfig):
    """The best mean."""

    label = "Bandit: Expectation"
    coefficients = Coefficients(n=5.94e6, n2_d=227, n3_d=0.0898)

    method: Literal["bandit-expectation"] = "bandit-expectation"

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        return largest(seen.means, "largest mean reward")


class BanditRandomConfig(BanditConfig):
    """Any arm."""

    label = "Bandit: Random"
    coefficients = Coefficients(n=7.75e6, n2_d=70.5)

    method: Literal["bandit-random"] = "bandit-random"

    def choose(self, seen: History, rng: np.random.Generator) -> Choice:
        """See `BanditConfig.choose`."""
        chances = np.full(seen.arms, 1.0 / seen.arms)
        return Choice(int(rng.integers(seen.arms)), chances, "drawn at random")


class BanditBO(Optimizer):
    """Arms are subspaces, each with its own embedding, GP-UCB and data, begun by one point.

    The length of a z tells its arm, as no two have the same dimension.
    """

    has_model: ClassVar[bool] = True

    def __init__(self, config: BanditConfig, D: int, budget: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config, self.budget = config, budget
        self.dims = config.dimensions
        rng = stream(seed, 0)
        self.embeddings = [GaussianEmbedding(D, d, config.scale, rng) for d in self.dims]
        self.models = [Surrogate(config.surrogate_settings()) for _ in self.dims]
        self.search = config.search_settings(config.kappa_scale)

    @property
    def d(self) -> int | None:
        """Dimension of the arm pulled last."""
        return self.observed.points[-1].size if self.observed.points else None

    def history(self, n: int | None = None) -> History:
        """The first n pulls, or all."""
        pulled = [self.dims.index(z.size) for z in self.observed.points[:n]]
        y = np.array(self.observed.values[:n], dtype=np.float64)
        arms = np.array(pulled, dtype=np.int64)
        return History(len(self.dims), arms, y, self.budget, self.config.reward)

    def choose(self, n: int, rng: np.random.Generator) -> Choice:
        """The arm after n pulls: each once, then as the strategy says."""
        if n < len(self.dims):
            return Choice(n, np.empty(0), "its first point")
        return self.config.choose(self.history(n), rng)

    def next_point(self) -> Candidate:
        """The next point of the chosen arm."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        arm = self.choose(t - 1, rng).arm
        d, half = self.dims[arm], self.embeddings[arm].half_width
        own = [i for i, z in enumerate(self.observed.points) if z.size == d]
        if not np.isfinite([self.observed.values[i] for i in own]).any():
            z = rng.uniform(-1.0, 1.0, size=d) * half
            return Candidate(t, z, self.lift(z), d)
        U = np.stack([self.observed.points[i] for i in own]) / half
        data = U, self.observed.values_for_model()[own]
        u, *seconds = propose_by_bound(self.models[arm], self.search, data, 1.0, rng)
        z = u * half
        return Candidate(t, z, self.lift(z), d, *seconds)

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """The pull, with what the strategy compared before it and the arms as they stand now."""
        t = candidate.t
        choice = self.choose(t - 1, stream(self.seed, t))
        seen = self.history()
        d = self.dims[choice.arm]
        before = None if t == 1 else self.observed.points[-2].size
        moves = "" if before in (None, d) else f", after d = {before}"
        text = (
            f"Evaluation {t}: arm d = {d}{moves} ({choice.why}); pulled "
            f"{seen.pulls[choice.arm]} times, mean reward {seen.means[choice.arm]:.6g}."
        )
        table = (seen.pulls, seen.means, seen.least, choice.scores)
        pulls, means, bests, scores = (tuple(row.tolist()) for row in table)
        return [ArmPulled(t, before, d, self.dims, pulls, means, bests, scores, text)]

    def lift(self, z: Array) -> Array:
        """x = clip(A z) with the embedding of z's arm."""
        return self.embeddings[self.dims.index(z.size)].lift(z)

    def checksum(self) -> str:
        """A fingerprint of all embeddings."""
        prints = "".join(embedding.checksum() for embedding in self.embeddings)
        return fingerprint(np.frombuffer(prints.encode(), dtype=np.uint8))

    def own_state(self) -> dict[str, Any]:
        """Each arm's hyper-parameters; its pulls are in the evaluations."""
        return {"surrogates": [model.state_dict() for model in self.models]}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        for model, saved in zip(self.models, state["surrogates"], strict=True):
            model.load_state_dict(saved)
