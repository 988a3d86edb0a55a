"""BAxUS: a trust region in nested subspaces of bins (Papenmeier et al. 2022, Algorithm 1).

Notation:
    d_i, d_0, s     dimension of stage i, of the first, number of splits
    b               new bins that each bin gives at a split
    m_i             evaluations that stage i may spend without success
    bins, signs     x_j = sign_j z_bin(j): a sparse embedding with balanced bins
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from dsebo.events import Event, Restarted, Split
from dsebo.methods._embeddings import SignedBins, fingerprint, random_signs
from dsebo.methods._region import Region, RegionConfig, RegionOptimizer
from dsebo.methods._shared import n_init_setting
from dsebo.methods.base import Array, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class BaxusConfig(RegionConfig):
    """BAxUS: a trust region in subspaces that split their bins."""

    label = "BAxUS"
    # By hand, within 1.4 of what was measured: the fit lets short runs at D = 5000 spoil the others.
    coefficients = Coefficients(n=8e6, n_D=5e3, n2_d=917)

    method: Literal["baxus"] = "baxus"
    b: int = setting(3, "New bins per split", symbol="b", ge=1, le=1000)
    """How fast the subspace grows: each bin of variables splits into b + 1, so d is multiplied by it."""
    n_init: int = n_init_setting(10, "Sobol points of the first subspace, before the model is used.")

    def build(self, D: int, budget: int, seed: int) -> BAxUS:
        """See `MethodConfig.build`."""
        return BAxUS(self, D, budget, seed)

    def model_dimension(self, D: int) -> float:
        """What a usual budget comes to: the last splits come late, if at all."""
        return min(D, 60)


def first_dimension(D: int, b: int) -> tuple[int, int]:
    """(d_0, s) with d_0 (b + 1)^s nearest to D, d_0 from 1 to b."""
    options = [(d_0, s) for d_0 in range(1, min(b, D) + 1) for s in range(D.bit_length() + 1)]
    return min(options, key=lambda option: (abs(option[0] * (b + 1) ** option[1] - D), option))


def nested_bins(D: int, b: int, rng: np.random.Generator) -> list[np.ndarray]:
    """(D,) bins of every stage, each splitting those of the stage before into b + 1 (or fewer)."""
    d_0, splits = first_dimension(D, b)
    order = rng.permutation(D)
    bins = np.empty(D, dtype=np.int64)
    bins[order] = np.arange(D) % d_0  # balanced
    stages = [bins]
    for _ in range(splits):
        stages.append(split_bins(stages[-1], b, rng))
    if stages[-1].max() + 1 < D:  # d_0 (b + 1)^s fell short of D
        stages.append(np.arange(D))
    return stages


def split_bins(bins: np.ndarray, b: int, rng: np.random.Generator) -> np.ndarray:
    """(D,) finer bins: the members of each bin dealt, in random order, to b + 1 new ones."""
    D = bins.size
    order = rng.permutation(D)
    order = order[np.argsort(bins[order], kind="stable")]  # by bin, shuffled inside
    sizes = np.bincount(bins)
    within = np.arange(D) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # rank inside its bin
    pieces = np.minimum(sizes, b + 1)
    first = np.cumsum(pieces) - pieces  # number of the first new bin of each old one
    fine = np.empty(D, dtype=np.int64)
    fine[order] = first[bins[order]] + within % pieces[bins[order]]
    return fine


def parents(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """(d_fine,) the coarse bin that each fine one came from."""
    parent = np.empty(int(fine.max()) + 1, dtype=np.int64)
    parent[fine] = coarse
    return parent


class BAxUS(RegionOptimizer):
    """TuRBO in a subspace that refines its bins whenever the region collapses."""

    config: BaxusConfig

    def __init__(self, config: BaxusConfig, D: int, budget: int, seed: int) -> None:
        self.budget, self.stage = budget, 0
        rng = stream(seed, 0)
        stages = nested_bins(D, config.b, rng)
        signs = random_signs(D, rng)
        self.stages = [SignedBins(bins, signs) for bins in stages]
        self.dims = [int(bins.max()) + 1 for bins in stages]
        self.parents = [parents(*pair) for pair in pairwise(stages)]
        super().__init__(config, D, seed)

    @property
    def d(self) -> int:
        """Dimension of the current subspace."""
        return self.dims[self.stage]

    @property
    def failure_tolerance(self) -> int:
        """min(m_i / k, d_i): k halvings end a stage, m_i proportional to d_i and m_0 + ... = m."""
        config = self.config
        halvings = max(1, math.floor(math.log2(config.L_init / config.L_min)))
        share = self.budget * self.d / sum(self.dims)
        return max(1, min(math.floor(share / halvings), self.d))

    def refine(self, z: Array) -> Array:
        """The same point in the current subspace: each new bin takes its parent's value."""
        for stage in range(self.dims.index(z.size), self.stage):
            z = z[self.parents[stage]]
        return z

    def collapse(self, t: int) -> Event:
        """Split the bins; start again when none can split."""
        return self._split(t) if self.stage + 1 < len(self.dims) else self._restart(t)

    def _split(self, t: int) -> Split:
        """Every bin splits; its lengthscale is copied, L is reset, all data stay."""
        coarse, self.stage = self.d, self.stage + 1
        if self.gp.log_params is not None:
            log = self.gp.log_params
            self.gp.log_params = np.r_[log[:-2][self.parents[self.stage - 1]], log[-2:]]
        self.gp.n_fitted = 0  # refit at once
        self.region = Region(self.config.L_init, best=self.region.best)
        sizes = np.sort(np.bincount(self.stages[self.stage].bins))[::-1][:10]
        text = (
            f"Evaluation {t}: the region is below L_min = {self.config.L_min:.3g}; the bins split, "
            f"d = {coarse} → {self.d}, and L = {self.region.length:.3g} again. Every point stays "
            f"where it is. Best {self.region.best:.6g}."
        )
        return Split(t, coarse, self.d, tuple(int(size) for size in sizes), text)

    def _restart(self, t: int) -> Restarted:
        """No bin is left to split: a new region, from new points of the last subspace."""
        best = self.region.best
        self.restart()
        text = (
            f"Evaluation {t}: the region is below L_min at d = {self.d} = D; a new one starts from "
            f"{self.config.n_init} points. Best of the one given up {best:.6g}."
        )
        return Restarted(t, best, text)

    def lift(self, z: Array) -> Array:
        """x_j = sign_j z_bin(j), with the bins of the stage that z belongs to."""
        return self.stages[self.dims.index(z.size)].lift(z)

    def checksum(self) -> str:
        """A fingerprint of all bins and the signs."""
        return fingerprint(*(stage.bins for stage in self.stages), self.stages[0].signs)

    def own_state(self) -> dict[str, Any]:
        """The stage, and what every region has."""
        return {"stage": self.stage, **super().own_state()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        super().load_own_state(state)
        self.stage = int(state["stage"])
