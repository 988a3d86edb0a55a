"""VAEBO: Bayesian optimization in the code of a variational auto-encoder, as the paper ran it.

The auto-encoder is trained on the points evaluated so far, without their values, and again after
every 20. Its loss sets the mean squared error over D, at most 1/3, against `kl_weight` times a sum
over the d numbers of the code: at the authors' 0.5 nothing pays, the code carries nothing, and the
decoder gives the mean of the data whatever z is. That is shown, not mended: the event `retrained`
tells what the code carries; `kl_weight` = 0.5 / D is the weight of a true bound, `rank_weights` give
good points more weight.

Notation:
    encoder         x -> 256 -> 128 -> mu, log sigma^2 (d each)
    decoder         z -> 128 -> 256 -> x
    model           a Gaussian process on mu(x); log EI over the box of z; x = clip(decode(z))
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dsebo.events import Event, Retrained
from dsebo.gp.acquisition import log_expected_improvement, propose
from dsebo.gp.surrogate import Array, Surrogate
from dsebo.methods._shared import ModelOptimizer, SubspaceConfig, latin_start, n_init_setting
from dsebo.methods.base import Candidate, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting

if TYPE_CHECKING:
    import torch

WIDE = 2000  # variables above which one hidden layer of 64 must do
BATCH, RATE, MOST_NORM, LOG_VARIANCE = 50, 1e-3, 1.0, 10.0
RANK = 1e-3  # k of the weights 1 / (k n + rank)
COLLAPSED = 0.1  # nats below which a code carries nothing
ACTIVE = 0.01  # variance of mu above which a number of the code is in use


class VaeboConfig(SubspaceConfig):
    """VAEBO: the subspace is learnt by an auto-encoder, from the points alone."""

    label = "VAEBO"
    coefficients = Coefficients(n=6.05e7, n_D=1.17e4)
    offered = ({"kl_weight": 0.0005},)

    method: Literal["vaebo"] = "vaebo"
    kl_weight: float = setting(0.5, "Weight of the prior", symbol="w", ge=0, le=1e6)
    """How much the code is pressed towards N(0, 1). At 0.5, the authors' value, it carries nothing and every
    proposal is near the mean of the data. 0.5/D is the weight of a true bound: then the code learns, by heart
    where points have no structure. Try 0.5, 0.0005."""
    z_box: float = setting(1.0, "Box of the code", symbol="±z", gt=0, le=1000)
    """How far the code is searched: each number of it in ± this. The authors' file has ±d, by a slip."""
    rank_weights: bool = setting(False, "Weights by rank")
    """Whether good points count for more in training: the one thing that tells it where to look."""
    retrain_every: int = setting(20, "Retrained after", ge=1, le=100_000)
    """Evaluations between two trainings, each from scratch."""
    train_steps: int = setting(200, "Training steps", advanced=True, ge=1, le=100_000)
    """Steps of Adam per training, each on 50 points."""
    n_init: int = n_init_setting(10, "Latin hypercube points of the box, evaluated before the model is used.")

    def build(self, D: int, budget: int, seed: int) -> VAEBO:
        """See `MethodConfig.build`."""
        return VAEBO(self, D, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """The points, and the weights with their gradients and Adam's moments."""
        weights = 2 * (D * hidden(D)[0] + sum(hidden(D)) * self.d + 256 * 128)
        return 8 * D * 3 * budget + 4 * 6 * weights

    def search_work(self) -> float:
        """The search, and a training shared out over its evaluations."""
        return super().search_work() + 35.0 * self.train_steps / self.retrain_every


def hidden(D: int) -> tuple[int, ...]:
    """The widths of the hidden layers."""
    return (256, 128) if D <= WIDE else (64,)


@dataclass
class Trained:
    """A trained auto-encoder, and what it has come to."""

    encoder: torch.nn.Module
    decoder: torch.nn.Module
    error: float
    variance: float
    nats: float
    active: int
    losses: tuple[float, ...]

    def encode(self, X: Array) -> Array:
        """(n, d) mu of points (n, D)."""
        import torch

        with torch.no_grad():
            both = self.encoder(torch.from_numpy(X.astype(np.float32)))
        return np.asarray(both[:, : both.shape[1] // 2].numpy(), dtype=np.float64)

    def decode(self, z: Array) -> Array:
        """(D,) the point of a code, inside the box."""
        import torch

        with torch.no_grad():
            x = self.decoder(torch.from_numpy(z.astype(np.float32))[None])[0]
        return np.clip(np.asarray(x.numpy(), dtype=np.float64), -1.0, 1.0)


def train(
    X: Array, weights: Array, d: int, kl_weight: float, steps: int, rng: np.random.Generator
) -> Trained:
    """An auto-encoder of the points (n, D), from scratch; the same numbers for the same generator."""
    import torch

    D, widths = X.shape[1], hidden(X.shape[1])
    draws = torch.Generator().manual_seed(int(rng.integers(2**62)))
    encoder = _layers((D, *widths, 2 * d), draws)
    decoder = _layers((d, *widths[::-1], D), draws)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    adam = torch.optim.Adam(parameters, lr=RATE)
    points = torch.from_numpy(X.astype(np.float32))
    chances = torch.from_numpy(weights / weights.sum())
    losses = []
    for _ in range(steps):
        batch = points[torch.multinomial(chances, BATCH, replacement=True, generator=draws)]
        mu, log_variance = _split(encoder(batch))
        noise = torch.randn(mu.shape, generator=draws)
        again = decoder(mu + torch.exp(0.5 * log_variance) * noise)
        loss = ((again - batch) ** 2).mean() + kl_weight * _nats(mu, log_variance).mean()
        adam.zero_grad()
        loss.backward()
        # Without this the authors' schedule ends in numbers that are none.
        torch.nn.utils.clip_grad_norm_(parameters, MOST_NORM)
        adam.step()
        losses.append(float(loss.detach()))
    with torch.no_grad():
        mu, log_variance = _split(encoder(points))
        error = float(((decoder(mu) - points) ** 2).mean())
        nats = float(_nats(mu, log_variance).mean())
        active = int((mu.var(dim=0, correction=0) > ACTIVE).sum())
    pieces = np.array_split(np.array(losses), min(20, len(losses)))
    curve = tuple(float(piece.mean()) for piece in pieces)
    return Trained(encoder, decoder, error, float(X.var(axis=0).mean()), nats, active, curve)


def _layers(widths: tuple[int, ...], draws: torch.Generator) -> torch.nn.Module:
    """Linear layers with ReLU between them, drawn from the generator and not from torch's own."""
    import torch

    layers: list[torch.nn.Module] = []
    for i, (a, b) in enumerate(pairwise(widths)):
        layer: torch.nn.Linear = torch.nn.utils.skip_init(torch.nn.Linear, a, b)  # type: ignore[no-untyped-call]
        reach = 1.0 / np.sqrt(a)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-reach, reach, generator=draws)
        layers += [layer] if i == 0 else [torch.nn.ReLU(), layer]
    return torch.nn.Sequential(*layers)


def _split(both: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(mu, log sigma^2)."""
    mu, log_variance = both.chunk(2, dim=1)
    return mu, log_variance.clamp(-LOG_VARIANCE, LOG_VARIANCE)


def _nats(mu: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
    """(n,) KL from N(mu, sigma^2) to N(0, 1), summed over the code."""
    return 0.5 * (mu**2 + log_variance.exp() - 1.0 - log_variance).sum(dim=1)


class VAEBO(ModelOptimizer):
    """z of an evaluation is x itself: what a code means changes with each training."""

    def __init__(self, config: VaeboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config, self.search = config, config.search_settings()
        self.learnt_from = 0  # number of data that the auto-encoder was trained on
        self.gp = self._new_model()
        self._trained: tuple[int, Trained] | None = None  # with that number; the data and the seed give it

    @property
    def d(self) -> int | None:
        """Length of the code; None until it is learnt."""
        return self.config.d if self.learnt_from else None

    def _new_model(self) -> Surrogate:
        return Surrogate(self.config.surrogate_settings())

    @property
    def trained(self) -> Trained:
        """The auto-encoder of the first `learnt_from` data; not stored, as they give it again."""
        n = self.learnt_from
        if self._trained is None or self._trained[0] != n:
            y = np.array(self.observed.values[:n])
            y = np.where(np.isfinite(y), y, np.inf)  # of these n: it must not change later
            rank = np.argsort(np.argsort(y, kind="stable"), kind="stable")
            weights: Array = np.ones(n)
            if self.config.rank_weights:
                weights /= RANK * n + rank
            own = self.config
            X, rng = np.stack(self.observed.points[:n]), stream(self.seed, n).spawn(1)[0]
            self._trained = n, train(X, weights, own.d, own.kl_weight, own.train_steps, rng)
        return self._trained[1]

    def next_point(self) -> Candidate:
        """A starting point, or what the best code decodes to."""
        if (first := latin_start(self, self.config.n_init)) is not None:
            return first
        n, t = len(self.observed), len(self.observed) + 1
        rng = stream(self.seed, t)
        began = perf_counter()
        if self.learnt_from == 0 or n - self.learnt_from >= self.config.retrain_every:
            self.learnt_from, self.gp = n, self._new_model()
        trained, box = self.trained, self.config.z_box
        codes = np.clip(trained.encode(np.stack(self.observed.points)), -box, box)
        data = (codes / box + 1.0) / 2.0, self.observed.values_for_model()
        learnt = perf_counter() - began
        u, fit, acq = propose(self.gp, self.search, log_expected_improvement, data, (0.0, 1.0), rng)
        x = trained.decode(box * (2.0 * u - 1.0))
        return Candidate(t, x, x, self.config.d, learnt + fit, acq)

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """What the auto-encoder has come to, with its first point."""
        n = candidate.t - 1
        if candidate.d is None or self.learnt_from != n:
            return []
        now, d = self.trained, self.config.d
        text = (
            f"Evaluation {candidate.t}: trained on {n} points, error {now.error:.2g} where they vary by "
            f"{now.variance:.2g}; {now.active} of {d} numbers of the code are in use. The code carries "
            f"{now.nats:.1f} nats"
        )
        text += ": every proposal is near the mean of the data." if now.nats < COLLAPSED else "."
        return [Retrained(candidate.t, now.error, now.variance, now.nats, now.active, d, now.losses, text)]

    def own_state(self) -> dict[str, Any]:
        """When it was trained, and the model's hyper-parameters."""
        return {"learnt_from": self.learnt_from, **super().own_state()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.learnt_from, self._trained = int(state["learnt_from"]), None
        super().load_own_state(state)
