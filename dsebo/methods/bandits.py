"""Bayesian optimization in several random subspaces, a bandit choosing whose turn it is."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from dsebo.events import ArmPulled, Event
from dsebo.gp.acquisition import propose
from dsebo.gp.peer_acquisition import search_settings
from dsebo.gp.surrogate import Surrogate, SurrogateSettings
from dsebo.methods._arms import Array, History
from dsebo.methods._embeddings import GaussianEmbedding, fingerprint
from dsebo.methods._peer import Peer
from dsebo.methods._policies import Choice, policy_of
from dsebo.methods.base import Candidate, stream
from dsebo.methods.configs import BanditConfig


class BanditBO(Peer):
    """Arms are subspaces, each with its own embedding, GP-UCB and data, begun by one point.

    The length of a z tells its arm, as no two have the same dimension.
    """

    def __init__(self, config: BanditConfig, D: int, budget: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config, self.budget = config, budget
        self.dims = config.dimensions
        rng = stream(seed, 0)
        self.embeddings = [GaussianEmbedding(D, d, config.scale, rng) for d in self.dims]
        settings = SurrogateSettings(fit_iterations=config.fit_iterations, refit_every=config.refit_every)
        self.models = [Surrogate(settings) for _ in self.dims]
        self.search = search_settings(config, config.kappa_scale)
        self.policy = policy_of(config)

    def history(self, n: int | None = None) -> History:
        """The first n pulls, or all."""
        pulled = [self.dims.index(z.size) for z in self.observed.points[:n]]
        y = np.array(self.observed.values[:n], dtype=np.float64)
        arms = np.array(pulled, dtype=np.int64)
        return History(len(self.dims), arms, y, self.budget, self.config.reward)

    def choose(self, n: int, rng: np.random.Generator) -> Choice:
        """The arm after n pulls: each once, then as the policy says."""
        if n < len(self.dims):
            return Choice(n, np.empty(0), "its first point")
        return self.policy(self.history(n), rng)

    def ask(self) -> Candidate:
        """The next point of the chosen arm."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        arm = self.choose(t - 1, rng).arm
        d, half = self.dims[arm], self.embeddings[arm].half_width
        own = [i for i, z in enumerate(self.observed.points) if z.size == d]
        if not np.isfinite([self.observed.values[i] for i in own]).any():
            z = rng.uniform(-1.0, 1.0, size=d) * half
            return Candidate(t, z, self.lift(z), d)
        began = perf_counter()
        U = np.stack([self.observed.points[i] for i in own]) / half
        y = self.observed.values_for_model()[own]
        self.models[arm].update(U, y)
        fitted = perf_counter()
        z = propose(self.models[arm], self.search, U, y, 1.0, rng) * half
        return Candidate(t, z, self.lift(z), d, fitted - began, perf_counter() - fitted)

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
        return [
            ArmPulled(
                t,
                before,
                d,
                self.dims,
                tuple(seen.pulls.tolist()),
                tuple(seen.means.tolist()),
                tuple(seen.least.tolist()),
                tuple(choice.scores.tolist()),
                text,
            )
        ]

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
