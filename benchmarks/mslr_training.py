"""Fits the network of `mslr` to its generated, synthetic set: `python -m benchmarks.mslr_training`.

Writes objectives/data/mslr_network.npz, with how it was made, in about ten seconds.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import torch

from dsebo.objectives.letor import SEED, generated
from dsebo.objectives.mslr import NETWORK
from dsebo.objectives.ranking import Network, fit


def main() -> None:
    torch.set_num_threads(1)
    network = fit(generated(), f"synthetic set of seed {SEED}")
    made = {**network.made, "versions": {name: version(name) for name in ("torch", "numpy")}}
    network = Network(network.layers, network.predictions, made)
    network.save(NETWORK)
    print(made, f"{NETWORK.stat().st_size / 1e6:.2f} MB")
    print("predictions:", np.quantile(network.predictions, [0, 0.5, 0.99, 1]).round(3))


if __name__ == "__main__":
    main()
