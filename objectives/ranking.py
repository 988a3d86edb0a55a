"""A small network from the features of a document to its relevance: fitted by torch, evaluated in NumPy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .letor import FEATURES, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SIZES = (FEATURES, 128, 64, 32, 1)
SEED, BATCH, RATE = 1, 128, 1e-3
HELD_OUT = 0.2  # of the queries
MOST_EPOCHS, PATIENCE = 200, 10


@dataclass(frozen=True)
class Network:
    """Layers of weights and biases, sigmoids between them, none at the end: the output is not limited.

    Attributes:
        predictions: (n,) of all rows, ascending.
        made: How it was fitted.
    """

    layers: tuple[tuple[Array, Array], ...]
    predictions: Array
    made: dict[str, Any]

    def predict(self, x: Array) -> Array:
        """(n,) relevance at (n, 136) normalised features."""
        values = x
        for k, (weights, biases) in enumerate(self.layers):
            values = (_sigmoid(values) if k else values) @ weights + biases
        return values[:, 0]

    def save(self, file: Path) -> None:
        """In single precision, as it was fitted."""
        arrays: dict[str, Any] = {f"weights{k}": w.astype(np.float32) for k, (w, _) in enumerate(self.layers)}
        arrays |= {f"biases{k}": b.astype(np.float32) for k, (_, b) in enumerate(self.layers)}
        predictions = self.predictions.astype(np.float32)
        np.savez_compressed(file, predictions=predictions, made=np.array(json.dumps(self.made)), **arrays)

    @classmethod
    def read(cls, file: Path) -> Network:
        """What `save` wrote."""
        with np.load(file) as kept:
            layers = tuple(
                (kept[f"weights{k}"].astype(np.float64), kept[f"biases{k}"].astype(np.float64))
                for k in range(len(SIZES) - 1)
            )
            predictions = kept["predictions"].astype(np.float64)
            return cls(layers, predictions, json.loads(str(kept["made"])))


def _sigmoid(values: Array) -> Array:
    result: Array = 1.0 / (1.0 + np.exp(-values))
    return result


def normalised(features: Array, among: Array) -> Array:
    """Each feature by its quantile among the given rows, from -1 to 1; ties have the middle of theirs.

    Features of MSLR reach 2e8: with their means and deviations, or their least and largest values, nearly
    all rows would be at one place.
    """
    shares = np.empty_like(features)
    for k in range(features.shape[1]):
        known = np.sort(among[:, k])
        below, up_to = (np.searchsorted(known, features[:, k], side) for side in ("left", "right"))
        shares[:, k] = (below + up_to) / (2 * len(known))
    return 2 * shares - 1


def fit(rows: Rows, source: str, seed: int = SEED) -> Network:
    """Adam on the squared error, until the queries held out have not got better for ten epochs."""
    import torch

    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(rows.queries))
    held_out = np.isin(rows.queries, names[: max(1, round(HELD_OUT * len(names)))])
    x = normalised(rows.features, rows.features[~held_out])
    inputs, targets = (torch.from_numpy(a.astype(np.float32)) for a in (x, rows.relevance))
    train, test = (torch.from_numpy(np.flatnonzero(chosen)) for chosen in (~held_out, held_out))
    parameters = []
    for fan_in, fan_out in pairwise(SIZES):
        reach = (6 / (fan_in + fan_out)) ** 0.5
        parameters.append(torch.tensor(rng.uniform(-reach, reach, (fan_in, fan_out)), dtype=torch.float32))
        parameters.append(torch.zeros(fan_out))
    for parameter in parameters:
        parameter.requires_grad_()
    optimizer = torch.optim.Adam(parameters, lr=RATE)

    def predict(batch: torch.Tensor) -> torch.Tensor:
        values = inputs[batch]
        for k in range(0, len(parameters), 2):
            values = (values.sigmoid() if k else values) @ parameters[k] + parameters[k + 1]
        return values[:, 0]

    best, kept, epoch, since = float("inf"), [p.detach().clone() for p in parameters], 0, 0
    while since < PATIENCE and epoch < MOST_EPOCHS:
        epoch += 1
        order = torch.from_numpy(rng.permutation(train.numpy()))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            optimizer.zero_grad()
            with torch.enable_grad():  # an objective is evaluated without
                loss = ((predict(batch) - targets[batch]) ** 2).mean()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            error = float(((predict(test) - targets[test]) ** 2).mean())
        since += 1
        if error < best:
            best, since, kept = error, 0, [p.detach().clone() for p in parameters]
    arrays = [p.double().numpy() for p in kept]
    layers = tuple(zip(arrays[::2], arrays[1::2], strict=True))
    origin = {
        "source": source,
        "rows": len(x),
        "queries": len(names),
        "seed": seed,
        "epochs": epoch - since,
        "error held out": round(best, 4),
        "variance held out": round(float(targets[test].var()), 4),
    }
    return Network(layers, np.sort(Network(layers, np.empty(0), {}).predict(x)), origin)
