"""Methods that search a random or learnt subspace of fixed dimension."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from dsebo.methods.configs.model import SubspaceConfig, n_init_setting
from dsebo.methods.cost import Coefficients
from objectives.fields import setting

Scale = Literal["own", "unit", "dsebo"]
SCALE_HELP = "Own: A of N(0, 1), z in ±√d. Unit: the same A, z in ±1. DSEBO's: variance 1/100, z in ±1."
_CLIPPED = {"own": "86 / 95 / 99 %", "unit": "58 / 75 / 86 %"}  # at d = 10, 30 and 100


def clipping_warning(scale: Scale) -> list[str]:
    """That most coordinates sit on the box's walls, unless the scale is DSEBO's."""
    if scale == "dsebo":
        return []
    return [
        f"At this scale most coordinates are clipped ({_CLIPPED[scale]} at d = 10 / 30 / 100): "
        "where the optimum is not on the walls, random search does better than a large subspace."
    ]


class RemboConfig(SubspaceConfig):
    """REMBO (Wang et al. 2016); at DSEBO's scale it is DSEBO that never expands."""

    label: ClassVar[str] = "REMBO"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=8.26e6, n2_d=1.1e3)
    method: Literal["rembo"] = "rembo"
    scale: Scale = setting("own", "Scale of the embedding", SCALE_HELP)
    acquisition: Literal["ei", "ucb"] = setting(
        "ei", "Acquisition", "Expected improvement, or DSEBO's bound; follows the scale."
    )
    n_init: int = n_init_setting(10, "Scrambled Sobol points of the z-box; 1 at DSEBO's scale.")
    kappa_scale: float = setting(
        0.1, "Exploration", "Factor on κ = 0.2 d log 2n of the bound.", "κ", advanced=True, ge=0, le=1e6
    )

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """With DSEBO's scale come its acquisition and its single random first point."""
        preset = {"acquisition": "ucb", "n_init": 1} if given.get("scale") == "dsebo" else {}
        return super().complete({**preset, **given}, D)

    def extra_bytes(self, D: int, budget: int) -> int:
        """A."""
        return 8 * D * self.d

    def warnings(self, budget: int) -> list[str]:
        """That most coordinates sit on the box's walls."""
        return clipping_warning(self.scale)


class HesboConfig(SubspaceConfig):
    """HeSBO (Nayebi et al. 2019): a count sketch, never clipped."""

    label: ClassVar[str] = "HeSBO"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=8.25e6, n2_d=765)
    method: Literal["hesbo"] = "hesbo"
    n_init: int = n_init_setting(10, "Scrambled Sobol points of [-1, 1]^d.")

    def extra_bytes(self, D: int, budget: int) -> int:
        """Bins and signs."""
        return 16 * D


class SirboConfig(SubspaceConfig):
    """SIRBO (Zhang et al. 2019): the subspace is learnt by sliced inverse regression."""

    label: ClassVar[str] = "SIRBO"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=4.75e6, n_D=3.24e4, n2_d=1.25e3)
    method: Literal["sirbo"] = "sirbo"
    n_init: int = n_init_setting(10, "Latin hypercube points of the box.")
    ridge: float = setting(
        0.01, "Ridge", "Added to the covariance of the points, which has rank n - 1.", "λ", gt=0, le=1e6
    )
    kappa_scale: float = setting(
        0.1, "Exploration", "Factor on κ = 0.2 d log 2n of the bound.", "κ", advanced=True, ge=0, le=1e6
    )
    refit_every: float = setting(
        0.05, "Refresh after", "Share of new data after which B is learnt anew.", advanced=True, ge=0, le=1
    )

    def extra_bytes(self, D: int, budget: int) -> int:
        """The points, which are all of x; B and the searches."""
        return 8 * D * (3 * budget + self.d + 4 * (self.raw_samples + self.local_samples))
