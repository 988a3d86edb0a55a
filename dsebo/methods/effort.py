"""How much more a step takes than at a method's default settings: what the cost is scaled by.

A step is 0.4 fit and 0.6 acquisition, as measured for DSEBO at its defaults (benchmarks/README.md).
"""

from __future__ import annotations

import math

from dsebo.methods.config import MethodConfig

FIT_SHARE = 0.4


def effort(config: MethodConfig, n: int) -> float:
    """Over a run of n evaluations; 1 at the defaults and for a method without a model."""
    usual = type(config)()
    fit = fit_work(config, n) / fit_work(usual, n)
    search = search_work(config) / search_work(usual)
    return FIT_SHARE * fit + (1.0 - FIT_SHARE) * search


def fit_work(config: MethodConfig, n: int) -> float:
    """Iterations of all fits."""
    refit_every = float(getattr(config, "refit_every", 1.0))
    return float(getattr(config, "fit_iterations", 1)) * fits(n, refit_every)


def fits(n: int, refit_every: float) -> float:
    """How many fits: one a step at first, then one after each `refit_every` n further data."""
    grown = n * refit_every
    return float(n) if grown <= 1.0 else (1.0 + math.log(grown)) / refit_every


def search_work(config: MethodConfig) -> float:
    """Points at which a step computes the acquisition; of a region, features of candidates."""
    samples = getattr(config, "raw_samples", 0) + getattr(config, "local_samples", 0)
    followed = getattr(config, "restarts", 0) * getattr(config, "acq_iterations", 0)
    drawn = getattr(config, "candidates", 0) * getattr(config, "features", 0)
    return float(samples + followed + drawn) or 1.0


def search_bytes(config: MethodConfig, n: int) -> int:
    """Correlations of all samples with the data, their derivatives and a copy, beyond the usual."""
    usual = type(config)()
    more = sum(
        getattr(config, name, 0) - getattr(usual, name, 0) for name in ("raw_samples", "local_samples")
    )
    return 3 * 8 * n * max(0, int(more))
