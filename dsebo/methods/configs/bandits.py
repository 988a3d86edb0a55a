"""Bandit strategies over subspaces of different dimension, nine policies of one optimizer."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from dsebo.methods.configs.model import SearchConfig
from dsebo.methods.configs.subspace import SCALE_HELP, Scale, clipping_warning
from dsebo.methods.cost import Coefficients
from objectives.fields import setting

DIMENSIONS = (10, 20, 30, 50, 70, 90, 100)


class BanditConfig(SearchConfig):
    """Each arm is a subspace with its own embedding, GP-UCB and data, begun by one point."""

    largest: int = setting(
        100,
        "Largest arm",
        "Arms are the dimensions 10, 20, 30, 50, 70, 90, 100 up to this.",
        "d_max",
        ge=10,
        le=100,
    )
    scale: Scale = setting("unit", "Scale of the embeddings", SCALE_HELP)
    reward: Literal["value", "rank"] = setting(
        "value", "Reward", "−y of the point, as in the paper; or its rank among all, in [0, 1]."
    )
    kappa_scale: float = setting(
        0.1, "Exploration", "Factor on κ = 0.2 d log 2n of an arm's bound.", "κ", advanced=True, ge=0, le=1e6
    )

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """No arm above D."""
        return {"largest": max(10, min(D, 100)), **given}

    def check(self, D: int) -> None:
        """No arm above D; the smallest has 10 dimensions."""
        if DIMENSIONS[0] > D:
            raise ValueError(f"D = {D} is too small for a bandit: its smallest arm has d = 10.")
        if self.largest > D:
            raise ValueError(f"largest = {self.largest} is not allowed: from 10 to D = {D}.")

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
        said = clipping_warning(self.scale)
        if budget < len(self.dimensions):
            said.append(f"{budget} evaluations do not begin all {len(self.dimensions)} arms.")
        return said


class BanditExtremeConfig(BanditConfig):
    """The arm with the best value so far."""

    label: ClassVar[str] = "Bandit: Extreme"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=6.47e6, n2_d=67.1, n3=17.7)
    method: Literal["bandit-extreme"] = "bandit-extreme"


class BanditCUcbConfig(BanditConfig):
    """Mean reward plus √(2 ln T / n)."""

    label: ClassVar[str] = "Bandit: C-UCB"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=4.46e6, n_D=145, n2_d=302)
    method: Literal["bandit-c-ucb"] = "bandit-c-ucb"


class BanditEpsilonGreedyConfig(BanditConfig):
    """The best mean, or with probability ε any arm."""

    label: ClassVar[str] = "Bandit: ε-greedy"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=6.93e6, n_D=153, n2_d=42)
    method: Literal["bandit-epsilon-greedy"] = "bandit-epsilon-greedy"
    epsilon: float = setting(0.5, "Share of exploration", "Any arm this often.", "ε", ge=0, le=1)


class BanditSoftmaxConfig(BanditConfig):
    """An arm with probability ∝ exp(r̄ / τ)."""

    label: ClassVar[str] = "Bandit: Softmax"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=6.93e6, n_D=122, n2_d=168, n3_d=0.189)
    method: Literal["bandit-softmax"] = "bandit-softmax"
    temperature: float = setting(1.0, "Temperature", "High: any arm; low: the best mean.", "τ", gt=0, le=1e9)


class BanditSuccessiveHalvingConfig(BanditConfig):
    """Equal shares, the worse half of the arms leaving after each round."""

    label: ClassVar[str] = "Bandit: Successive halving"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=8.45e6, n2_d=1.42)
    method: Literal["bandit-successive-halving"] = "bandit-successive-halving"


class BanditUcbEConfig(BanditConfig):
    """Mean reward plus √(c / n)."""

    label: ClassVar[str] = "Bandit: UCB-E"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=5.39e6, n_D=189, n2_d=227, n3_d=0.0682)
    method: Literal["bandit-ucb-e"] = "bandit-ucb-e"
    exploration: float = setting(0.5, "Bonus", "The bonus is √(c / n).", "c", ge=0, le=1e9)


class BanditThompsonConfig(BanditConfig):
    """The best of one draw of N(r̄, s² / n) an arm."""

    label: ClassVar[str] = "Bandit: Thompson sampling"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=5.34e6, n2_d=245, n3_d=0.0728)
    method: Literal["bandit-thompson"] = "bandit-thompson"


class BanditExpectationConfig(BanditConfig):
    """The best mean."""

    label: ClassVar[str] = "Bandit: Expectation"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=5.94e6, n2_d=227, n3_d=0.0898)
    method: Literal["bandit-expectation"] = "bandit-expectation"


class BanditRandomConfig(BanditConfig):
    """Any arm."""

    label: ClassVar[str] = "Bandit: Random"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=7.75e6, n2_d=70.5)
    method: Literal["bandit-random"] = "bandit-random"
