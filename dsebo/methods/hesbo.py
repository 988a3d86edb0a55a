"""HeSBO: Bayesian optimization in a hashing-enhanced subspace (Nayebi et al. 2019, Algorithm 1)."""

from __future__ import annotations

from typing import Literal

from dsebo.methods._batches import BatchConfig
from dsebo.methods._embeddings import SignedBins, random_signs
from dsebo.methods._shared import BoxBO, SubspaceConfig, n_init_setting
from dsebo.methods.base import Array, stream
from dsebo.methods.cost import Coefficients


class HesboConfig(BatchConfig, SubspaceConfig):
    """HeSBO: a count sketch, never clipped."""

    label = "HeSBO"
    coefficients = Coefficients(n=8.25e6, n2_d=765)

    method: Literal["hesbo"] = "hesbo"
    n_init: int = n_init_setting(10, "Scrambled Sobol points of [-1, 1]^d, before the model is used.")

    def build(self, D: int, budget: int, seed: int) -> HeSBO:
        """See `MethodConfig.build`."""
        return HeSBO(self, D, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """Bins and signs."""
        return 16 * D


class HeSBO(BoxBO):
    """A count sketch: h(i) and s(i) uniform, x_i = s(i) z_h(i), z in [-1, 1]^d."""

    def __init__(self, config: HesboConfig, D: int, seed: int) -> None:
        super().__init__(config, config.surrogate_settings(), config.n_init, config.d, D, seed)
        rng = stream(seed, 0)
        self.sketch = SignedBins(rng.integers(config.d, size=D), random_signs(D, rng))  # line 1

    def lift(self, z: Array) -> Array:
        """x_i = s(i) z_h(i)."""
        return self.sketch.lift(z)

    def checksum(self) -> str:
        """A fingerprint of h and s."""
        return self.sketch.checksum()
