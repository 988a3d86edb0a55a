"""Methods with a Gaussian process on all D variables, and MCTS-VS that chooses among them."""

from __future__ import annotations

from typing import ClassVar, Literal

from dsebo.methods.configs.model import SearchConfig, n_init_setting
from dsebo.methods.cost import Coefficients
from objectives.fields import setting


class FullConfig(SearchConfig):
    """A model of all variables."""

    def model_dimension(self, D: int) -> float:
        """All of them."""
        return float(D)

    def extra_bytes(self, D: int, budget: int) -> int:
        """The starting points of a search, its restarts and what L-BFGS remembers of them."""
        return 8 * D * (4 * (self.raw_samples + self.local_samples) + 25 * self.restarts)


class VboConfig(FullConfig):
    """Vanilla Bayesian optimization (Hvarfner et al. 2024): a prior that grows with √D."""

    label: ClassVar[str] = "VBO"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=1.46e7, n_D=3.52e4, n2_d=137)
    method: Literal["vbo"] = "vbo"
    kernel: Literal["rbf", "matern"] = setting(
        "rbf", "Kernel", "Squared exponential or Matérn-5/2, one lengthscale a variable.", advanced=True
    )
    n_init: int = n_init_setting(10, "Scrambled Sobol points of the box.")


class SboSeConfig(FullConfig):
    """SBO-SE (Xu et al. 2024): no prior, lengthscales started at √D."""

    label: ClassVar[str] = "SBO-SE"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=1.3e7, n_D=1.32e4, n2_d=310, n3=55.7)
    method: Literal["sbo-se"] = "sbo-se"
    ucb_beta: float = setting(1.5, "Exploration", "The bound is μ − √β σ.", "β", ge=0, le=1e6)
    n_init: int = n_init_setting(20, "Latin hypercube points of the box.")
    fit_iterations: int = setting(
        40,
        "Iterations of a fit",
        "Cap of L-BFGS iterations; each fit starts at √D again.",
        advanced=True,
        ge=1,
        le=1000,
    )


class MctsVsConfig(FullConfig):
    """MCTS-VS (Song et al. 2022): a tree search over subsets of the variables."""

    label: ClassVar[str] = "MCTS-VS"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=6.33e6, n_D=9.65e3, n3=64.3)
    method: Literal["mcts-vs"] = "mcts-vs"
    C_p: float = setting(
        0.1, "Exploration of the tree", "In units of the values' deviation.", "C_p", ge=0, le=1e6
    )
    batches: int = setting(
        2, "Random halves", "Halves of a leaf tried a visit, each with its complement.", "N_v", ge=1, le=100
    )
    subset_samples: int = setting(
        3, "Samples a subset", "Evaluations spent on each of them.", "N_s", ge=1, le=1000
    )
    split_size: int = setting(
        3, "Least size to split", "Leaves with fewer variables stay.", "N_split", ge=2, le=100_000
    )
    right_turns: int = setting(
        5,
        "Right turns",
        "Visits to the worse side after which the tree is rebuilt.",
        "N_bad",
        ge=1,
        le=100_000,
    )
    top: int = setting(20, "Best points", "The other variables are copied from these.", "k", ge=1, le=100_000)
    n_init: int = n_init_setting(10, "Scrambled Sobol points of the box.")
    fit_iterations: int = setting(
        8,
        "Iterations of a fit",
        "Cap of L-BFGS iterations; each subset is fitted anew.",
        advanced=True,
        ge=1,
        le=1000,
    )

    def model_dimension(self, D: int) -> float:
        """Half of the variables at the root, less further down: a third on average."""
        return D / 3
