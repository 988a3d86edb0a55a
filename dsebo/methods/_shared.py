"""What methods with a Gaussian process share: their settings, and the loop of the simplest ones."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np

from dsebo.gp.acquisition import AcquisitionSettings, log_expected_improvement, propose
from dsebo.gp.designs import latin_hypercube, sobol, starting_point
from dsebo.gp.surrogate import Score, Surrogate, SurrogateSettings
from dsebo.methods._batches import Liar
from dsebo.methods.base import Array, Candidate, MethodConfig, Optimizer, stream
from dsebo.methods.cost import fits
from dsebo.objectives.fields import MAX_D, setting


def n_init_setting(default: int, help: str) -> Any:
    """The size of a starting design."""
    return setting(default, "Starting points", help, "n₀", ge=1, le=100_000)


def kappa_setting() -> Any:
    """The weight of exploration in DSEBO's bound."""
    help = (
        "How much uncertainty attracts: the bound is μ − √κ σ with κ = 0.2 d log 2n times this. "
        "Small: refine what is good; large: look elsewhere. Try 0.01, 0.1, 1."
    )
    return setting(0.1, "Exploration", help, "κ", advanced=True, ge=0, le=1e6)


def fit_iterations_setting(default: int, start: str) -> Any:
    """The cap of a fit; `start` says where it begins."""
    help = f"How far a fit of the Gaussian process goes: steps of L-BFGS at most. {start}"
    return setting(default, "Iterations per fit", help, advanced=True, ge=1, le=1000)


def refit_setting(default: float, label: str = "Refit after", what: str = "the model is fitted") -> Any:
    """How often something is learnt again."""
    help = f"The share of new data after which {what} again. 0: at every evaluation, which takes longest."
    return setting(default, label, help, advanced=True, ge=0, le=1)


def latin_start(optimizer: Optimizer, n_init: int) -> Candidate | None:
    """A point of a Latin hypercube of all variables; None once a model can be used."""
    n = len(optimizer.observed)
    if n >= max(2, n_init) and optimizer.observed.any_finite:
        return None
    design = latin_hypercube(n_init, optimizer.D, stream(optimizer.seed, 1))
    x = 2.0 * starting_point(design, n, stream(optimizer.seed, n + 1)) - 1.0
    return Candidate(n + 1, x, x)


def uniform_start(optimizer: Optimizer, n_init: int, rng: np.random.Generator) -> Candidate | None:
    """A random point of the box; None once a model can be used."""
    n = len(optimizer.observed)
    if n >= n_init and optimizer.observed.any_finite:
        return None
    x = rng.uniform(-1.0, 1.0, size=optimizer.D)
    return Candidate(n + 1, x, x)


class ModelConfig(MethodConfig):
    """How the Gaussian process is refitted. It is one of all variables, unless a method says otherwise."""

    fit_iterations: int = fit_iterations_setting(15, "Each fit goes on from the last.")
    refit_every: float = refit_setting(0.02)

    def surrogate_settings(self, **changes: Any) -> SurrogateSettings:
        """The model's settings, with what the method changes of them."""
        return SurrogateSettings(
            **{"fit_iterations": self.fit_iterations, "refit_every": self.refit_every, **changes}
        )

    def model_dimension(self, D: int) -> float:
        """All variables."""
        return float(D)

    def fit_work(self, n: int) -> float:
        """So many iterations, in so many fits."""
        return self.fit_iterations * fits(n, self.refit_every)


class SearchConfig(ModelConfig):
    """How the acquisition is searched by gradients."""

    restarts: int = setting(5, "Restarts", advanced=True, ge=1, le=1000)
    """How many of the best samples are followed to a local minimum of the acquisition."""
    raw_samples: int = setting(100, "Raw samples", advanced=True, ge=1, le=100_000)
    """Random points of the box, from which the starts of the search are chosen."""
    local_samples: int = setting(50, "Local samples", advanced=True, ge=0, le=100_000)
    """Points around the best evaluations, from which starts are chosen too."""
    acq_iterations: int = setting(40, "Iterations of the search", advanced=True, ge=0, le=10_000)
    """How far the acquisition is followed: steps of L-BFGS at most. 0: the best sample is taken as it is."""

    def search_settings(self, kappa_scale: float = 0.1) -> AcquisitionSettings:
        """How the acquisition is searched."""
        return AcquisitionSettings(
            kappa_scale, self.restarts, self.raw_samples, self.local_samples, self.acq_iterations
        )

    def search_work(self) -> float:
        """All samples, and the restarts at every iteration."""
        return float(self.raw_samples + self.local_samples + self.restarts * self.acq_iterations)

    def sample_bytes(self, n: int) -> int:
        """Of all samples."""
        return 3 * 8 * n * (self.raw_samples + self.local_samples)


class SubspaceConfig(SearchConfig):
    """A subspace of one fixed dimension d."""

    d: int = setting(30, "Subspace dimension", symbol="d", ge=1, le=MAX_D)
    """How many dimensions are searched, from the first evaluation to the last. Too few miss the optimum, too
    many need more evaluations. Default min(D, 30)."""

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d = min(D, 30)."""
        return {"d": min(D, 30), **given}

    def check(self, D: int) -> None:
        """d may not exceed D."""
        if self.d > D:
            raise ValueError(f"d must be a whole number from 1 to D = {D} (got {self.d}).")

    def model_dimension(self, D: int) -> float:
        """That of the subspace."""
        return float(self.d)


class FullConfig(SearchConfig):
    """A model of all variables, searched by gradients."""

    def extra_bytes(self, D: int, budget: int) -> int:
        """The starting points of a search, its restarts and what L-BFGS remembers of them."""
        return 8 * D * (4 * (self.raw_samples + self.local_samples) + 25 * self.restarts)


class ModelOptimizer(Optimizer):
    """A method with one Gaussian process, whose hyper-parameters are its state."""

    gp: Surrogate
    has_model: ClassVar[bool] = True

    def own_state(self) -> dict[str, Any]:
        """The model's hyper-parameters."""
        return {"surrogate": self.gp.state_dict()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.gp.load_state_dict(state["surrogate"])


class ModelLiar(Liar, ModelOptimizer):
    """A method with one Gaussian process that proposes several points at once."""

    def imagined(self) -> Self:
        """See `Liar.imagined`."""
        other = super().imagined()
        other.gp = deepcopy(self.gp)
        return other


class BoxBO(ModelLiar):
    """Ordinary Bayesian optimization in a box; a method says which model, design and acquisition.

    z in [-1, 1]^d; the model sees u = (z + 1) / 2, as the authors' priors are for [0, 1]^d. d is None
    where z is x itself.
    """

    def __init__(
        self, config: SearchConfig, settings: SurrogateSettings, n_init: int, d: int | None, D: int, seed: int
    ) -> None:
        super().__init__(D, seed)
        self.n_init, self._d = n_init, d
        self.gp = Surrogate(settings)
        self.search = config.search_settings()

    @property
    def d(self) -> int | None:
        """Dimension of z; None where z is x itself."""
        return self._d

    def design(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """(n, d) the starting points in [0, 1]^d."""
        return sobol(n, d, rng)

    def score(self, best: float) -> Score:
        """The acquisition, given the least standardised value so far: expected improvement."""
        return log_expected_improvement(best)

    def next_point(self) -> Candidate:
        """A starting point, or the best point of the acquisition."""
        t, d = len(self.observed) + 1, self.d or self.D
        rng = stream(self.seed, t)
        if t <= self.n_init or not self.observed.any_finite:
            design = self.design(self.n_init, d, stream(self.seed, 1))
            z = 2.0 * starting_point(design, t - 1, rng) - 1.0
            return Candidate(t, z, self.lift(z), self.d)
        U = (np.stack(self.observed.points) + 1.0) / 2.0
        data = U, self.observed.values_for_model()
        u, *seconds = propose(self.gp, self.search, self.score, data, (0.0, 1.0), rng)
        z = np.clip(2.0 * u - 1.0, -1.0, 1.0)
        return Candidate(t, z, self.lift(z), self.d, *seconds)
