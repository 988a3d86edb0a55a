"""REMBO: Bayesian optimization in a random embedding (Wang et al. 2016, Algorithm 2)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dsebo.gp.acquisition import Proposal, log_expected_improvement, propose, propose_by_bound
from dsebo.gp.designs import sobol, starting_point
from dsebo.gp.surrogate import Surrogate
from dsebo.methods._batches import BatchConfig
from dsebo.methods._embeddings import GaussianEmbedding, Scale, clipping_warning, scale_setting
from dsebo.methods._shared import ModelLiar, SubspaceConfig, kappa_setting, n_init_setting
from dsebo.methods.base import Array, Candidate, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class RemboConfig(BatchConfig, SubspaceConfig):
    """REMBO; at DSEBO's scale it is DSEBO that never expands."""

    label = "REMBO"
    offered = ({"scale": "dsebo"},)
    coefficients = Coefficients(n=8.26e6, n2_d=1.1e3)

    method: Literal["rembo"] = "rembo"
    scale: Scale = scale_setting("own")
    acquisition: Literal["ei", "ucb"] = setting("ei", "Acquisition")
    """What makes a point worth evaluating: expected improvement, or DSEBO's bound μ − √κ σ. DSEBO's scale
    brings its bound."""
    n_init: int = n_init_setting(
        10, "Scrambled Sobol points of the z-box, before the model is used. 1 at DSEBO's scale."
    )
    kappa_scale: float = kappa_setting()

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """With DSEBO's scale come its acquisition and its single random first point."""
        preset = {"acquisition": "ucb", "n_init": 1} if given.get("scale") == "dsebo" else {}
        return super().complete({**preset, **given}, D)

    def build(self, D: int, budget: int, seed: int) -> REMBO:
        """See `MethodConfig.build`."""
        return REMBO(self, D, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """A."""
        return 8 * D * self.d

    def warnings(self, budget: int) -> list[str]:
        """That most coordinates sit on the box's walls."""
        return clipping_warning(self.scale)


class REMBO(ModelLiar):
    """x = clip(A z) with one Gaussian A; a Gaussian process on z."""

    def __init__(self, config: RemboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.embedding = GaussianEmbedding(D, config.d, config.scale, stream(seed, 0))  # line 1
        self.gp = Surrogate(config.surrogate_settings())
        self.search = config.search_settings(config.kappa_scale)

    @property
    def d(self) -> int:
        """Dimension of z."""
        return self.config.d

    def next_point(self) -> Candidate:
        """Lines 4 and 5: the z that maximises the acquisition over the box, embedded."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        starting = t <= self.config.n_init or not self.observed.any_finite
        u, *seconds = Proposal(self._start(t, rng), 0.0, 0.0) if starting else self._propose(rng)
        z = u * self.embedding.half_width
        return Candidate(t, z, self.lift(z), self.d, *seconds)

    def _start(self, t: int, rng: np.random.Generator) -> Array:
        """A point of the starting design, in [-1, 1]^d."""
        if self.config.n_init == 1:  # as DSEBO starts
            return rng.uniform(-1.0, 1.0, size=self.d)
        design = sobol(self.config.n_init, self.d, stream(self.seed, 1))
        return 2.0 * starting_point(design, t - 1, rng) - 1.0

    def _propose(self, rng: np.random.Generator) -> Proposal:
        """The next u = z / half-width: the model sees [-1, 1]^d whatever the box."""
        data = np.stack(self.observed.points) / self.embedding.half_width, self.observed.values_for_model()
        if self.config.acquisition == "ei":
            return propose(self.gp, self.search, log_expected_improvement, data, (-1, 1), rng)
        return propose_by_bound(self.gp, self.search, data, 1.0, rng)

    def lift(self, z: Array) -> Array:
        """x = clip(A z)."""
        return self.embedding.lift(z)

    def checksum(self) -> str:
        """A fingerprint of A."""
        return self.embedding.checksum()
