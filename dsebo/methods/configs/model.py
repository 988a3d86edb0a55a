"""Settings that every method with a Gaussian process shares."""

from __future__ import annotations

from typing import Any

from dsebo.methods.cost import CostedConfig
from objectives.fields import MAX_D, setting


class ModelConfig(CostedConfig):
    """How the Gaussian process is refitted."""

    fit_iterations: int = setting(
        15,
        "Iterations of a fit",
        "Cap of L-BFGS iterations; each fit starts from the last.",
        advanced=True,
        ge=1,
        le=1000,
    )
    refit_every: float = setting(
        0.02,
        "Refit after",
        "Share of new data after which hyper-parameters are refitted.",
        advanced=True,
        ge=0,
        le=1,
    )


class SearchConfig(ModelConfig):
    """How the acquisition is searched by gradients."""

    restarts: int = setting(
        5, "Restarts", "Starting points of the acquisition's search.", advanced=True, ge=1, le=1000
    )
    raw_samples: int = setting(
        100,
        "Raw samples",
        "Random points among which the restarts are chosen.",
        advanced=True,
        ge=1,
        le=100_000,
    )
    local_samples: int = setting(
        50,
        "Local samples",
        "Points around the best ones, chosen from likewise.",
        advanced=True,
        ge=0,
        le=100_000,
    )
    acq_iterations: int = setting(
        40,
        "Iterations of the acquisition",
        "Cap of L-BFGS iterations; 0: the best sample is taken as it is.",
        advanced=True,
        ge=0,
        le=10_000,
    )


class SubspaceConfig(SearchConfig):
    """A subspace of one fixed dimension d."""

    d: int = setting(
        30, "Subspace dimension", "Number of variables of the subspace; min(D, 30).", "d", ge=1, le=MAX_D
    )

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d = min(D, 30)."""
        return {"d": min(D, 30), **given}

    def check(self, D: int) -> None:
        """d may not exceed D."""
        if self.d > D:
            raise ValueError(f"d = {self.d} is not allowed: a whole number from 1 to D = {D}.")

    def model_dimension(self, D: int) -> float:
        """That of the subspace."""
        return float(self.d)


def n_init_setting(default: int, help: str) -> Any:
    """The size of a starting design."""
    return setting(default, "Starting points", help, "n₀", ge=1, le=100_000)
