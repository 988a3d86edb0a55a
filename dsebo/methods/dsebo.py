"""DSEBO, to be read beside Algorithm 2 of the paper's appendix B."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsebo.embedding import SharedEmbedding, pad
from dsebo.expansion import Progress, Strategy, after_evaluation, start
from dsebo.gp.acquisition import AcquisitionSettings, propose
from dsebo.gp.surrogate import Surrogate, SurrogateSettings
from dsebo.methods.base import Candidate, Observations, Told, stream
from dsebo.methods.config import DseboConfig

Array = NDArray[np.float64]


class DSEBO:
    """Bayesian optimization in a random subspace that grows when progress stalls.

    Args:
        config: Its settings, in the paper's symbols.
        D: Number of variables.
        budget: The number of evaluations that the patience T is reckoned with.
        seed: Seed of everything random.
    """

    done = False

    def __init__(self, config: DseboConfig, D: int, budget: int, seed: int) -> None:
        self.config, self.seed = config, seed
        embedding_seed = seed if config.embedding_seed is None else config.embedding_seed
        self.embedding = SharedEmbedding(D, config.d_h, stream(embedding_seed, 0))  # line 1
        self.strategy = Strategy(
            d_l=config.d_l,
            d_h=config.d_h,
            beta=config.beta,
            budget=budget,
            alpha=config.alpha,
            alpha_mode=config.alpha_mode,
            variant=config.variant,
            min_step=config.min_step,
        )
        self.progress: Progress = start(self.strategy)  # line 2
        self.surrogate = Surrogate(
            SurrogateSettings(
                kernel=config.kernel,
                lengthscale_prior=config.lengthscale_prior,
                fit_outputscale=config.fit_outputscale,
                targets=config.targets,
                fit_iterations=config.fit_iterations,
                refit_every=config.refit_every,
            )
        )
        self.acquisition = AcquisitionSettings(
            kappa_scale=config.kappa_scale,
            restarts=config.restarts,
            raw_samples=config.raw_samples,
            local_samples=config.local_samples,
            iterations=config.acq_iterations,
        )
        self.observed = Observations()

    def ask(self) -> Candidate:
        """Lines 10 and 11: the next z of the current subspace, embedded."""
        t = len(self.observed) + 1
        d, box = self.progress.d, self.progress.box
        rng = stream(self.seed, t)
        if not self.observed.any_finite:  # t = 1 (again, while the first point fails)
            z = rng.uniform(-1.0, 1.0, size=d)
            return Candidate(t, z, self.lift(z), d)
        began = perf_counter()
        Z, y = self._shared_data(), self.observed.values_for_model()
        self.surrogate.update(Z, y)  # lines 6 and 14
        fitted = perf_counter()
        z = propose(self.surrogate, self.acquisition, Z, y, box, rng)
        proposed = perf_counter()
        return Candidate(t, z, self.lift(z), d, fitted - began, proposed - fitted)

    def tell(self, candidate: Candidate, y: float) -> Told:
        """Lines 13 to 22: keep the value; expand when the subspace has converged."""
        self.observed.add(candidate.z, y)
        before = self.progress
        if not np.isfinite(y):  # a failure spends budget, not patience
            return Told(before.T, before.count)
        self.progress, event = after_evaluation(self.strategy, before, candidate.t, y)
        if event is None:
            return Told(before.T, self.progress.count)
        return Told(before.T, before.T, [event])

    def _shared_data(self) -> Array:
        """(n, d) every z so far, padded with zeros to the current subspace (Algorithm 3)."""
        return np.stack([pad(z, self.progress.d) for z in self.observed.points])

    def lift(self, z: Array) -> Array:
        """x = p(A_d z)."""
        return self.embedding.lift(z)

    def checksum(self) -> str:
        """A fingerprint of S."""
        return self.embedding.checksum()

    def state_dict(self) -> dict[str, Any]:
        """See `Optimizer.state_dict`."""
        return {
            "progress": self.progress.to_json(),
            "surrogate": self.surrogate.state_dict(),
            "data": self.observed.as_data(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Optimizer.load_state_dict`."""
        self.progress = Progress.from_json(state["progress"])
        self.surrogate.load_state_dict(state["surrogate"])
        self.observed.load(state["data"])
