"""The engine against a plain BoTorch loop, on one thread, in one process.

The engine runs its 500 evaluations. The plain loop's cold step is timed at a sample of them, on the
engine's own data of that moment, and the whole is extrapolated from the sample (trapezoids).
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.plain_botorch import propose
from dsebo.config import RunConfig
from dsebo.embedding import pad
from dsebo.events import Evaluated
from dsebo.gp.acquisition import kappa
from dsebo.methods.dsebo import DseboConfig
from dsebo.run import run
from dsebo.threads import one_thread

Array = NDArray[np.float64]
SAMPLE = (2, 5, 10, 20, 40, 70, 100, 150, 200, 250, 300, 350, 400, 450, 500)


def plain_seconds(config: RunConfig, evaluated: list[Evaluated]) -> float:
    """Seconds of the plain loop, extrapolated from the steps of SAMPLE."""
    assert isinstance(config.optimizer, DseboConfig)
    sampled = [t for t in SAMPLE if t <= len(evaluated)]
    seconds = []
    for t in sampled:
        d = evaluated[t - 1].d
        assert d is not None
        Z = np.stack([pad(event.z, d) for event in evaluated[: t - 1]])
        y = np.array([event.y for event in evaluated[: t - 1]])
        began = perf_counter()
        with one_thread():
            propose(Z, y, kappa(config.optimizer.kappa_scale, d, t - 1))
        seconds.append(perf_counter() - began)
    return float(np.interp(np.arange(2, len(evaluated) + 1), sampled, seconds).sum())


def measure(function: str, seed: int) -> None:
    config = RunConfig.parse({"objective": {"name": function}, "seed": seed})
    began = perf_counter()
    events = list(run(config))
    engine = perf_counter() - began
    evaluated = [event for event in events if isinstance(event, Evaluated)]
    parts = {
        part: sum(getattr(event, f"seconds_{part}") for event in evaluated)
        for part in ("fit", "acq", "eval", "other")
    }
    plain = plain_seconds(config, evaluated)
    first = sum(event.seconds for event in evaluated[:100])
    split = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
    print(
        f"{function}: engine {engine:.1f} s (first 100: {first:.1f} s; {split}), final d "
        f"{evaluated[-1].d}, best {evaluated[-1].best:.4g}; plain BoTorch loop {plain:.0f} s "
        f"(extrapolated from {len(SAMPLE)} steps); {plain / engine:.0f} times faster",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", default="sphere,levy")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    list(run(RunConfig.parse({"budget": 3})))  # imports and caches are not what is measured
    for function in arguments.functions.split(","):
        measure(function, arguments.seed)


if __name__ == "__main__":
    main()
