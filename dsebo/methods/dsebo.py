"""DSEBO, to be read beside Algorithm 2 of the paper's appendix B; `variant = adaptive` has our own rules."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import ValidationInfo, field_validator

from dsebo.embedding import BlockEmbedding, SharedEmbedding
from dsebo.events import Event, Moved, RegionChanged
from dsebo.expansion import PROBED_IN, Progress, Strategy, Variant, after_evaluation, converge, count, start
from dsebo.gp.acquisition import (
    Proposal,
    kappa,
    log_expected_improvement,
    lower_bound,
    propose,
    propose_by_bound,
)
from dsebo.gp.isotropic import IsotropicSurrogate
from dsebo.gp.surrogate import Kernel, LengthscalePrior, Lengthscales, Score, Surrogate, Targets
from dsebo.methods._batches import Liar
from dsebo.methods._growth import GrowthConfig
from dsebo.methods._moves import PROBE, Moves
from dsebo.methods._probes import Probes
from dsebo.methods._region import Region, after_value
from dsebo.methods._shared import SearchConfig, kappa_setting
from dsebo.methods._trials import Trials
from dsebo.methods.base import Array, Candidate, Optimizer, Told, stream, values_for_model
from dsebo.methods.cost import BASE_BYTES, Coefficients, Prediction
from dsebo.objectives.fields import MAX_SEED, ConfigError, must, setting

_DRAW = 16e-9  # seconds for an entry of S
_TOUCH = 2e-9  # seconds for an entry of A_d in a lift, or of x in an evaluation (some of them)

Acquisition = Literal["bound", "log-ei"]
FirstPoint = Literal["random", "centre"]

# The trust region in z: its half-width, the box's being 1.
FIRST, LEAST, WIDEST = 0.8, 0.02, 1.6  # FIRST also after an expansion, so that new dimensions are tried
SUCCESSES, FAILURES = 3, 10  # in a row, after which it doubles or halves
BLOCK_STREAM = 2**41  # random numbers apart from those of any step of the run


class DseboConfig(GrowthConfig, SearchConfig):
    """DSEBO; the symbols are the paper's."""

    label = "DSEBO"
    family = "DSEBO"
    offered = ({"variant": "adaptive"}, {"variant": "authors"})
    coefficients = Coefficients(n=8.03e6, n3=24.9)  # of fit and acquisition
    fork_keeps: ClassVar[Mapping[str, str]] = {
        "variant": "its rules have counted the patience until there",
        "d_l": "the run has begun with it",
        "d_h": "S has been drawn with entries of variance 1/d_h",
        "embedding_seed": "S has been drawn with it",
        "embeddings": "the run has begun with them",
        "blocks": "its variables have been dealt to them",
    }

    method: Literal["dsebo"] = "dsebo"
    variant: Variant = setting("paper", "Variant")
    """As the paper describes the method; as its authors' code does it, which steps and waits differently and
    has another Gaussian process; or with our own rules, which no paper has and which end lower."""
    stop: float = setting(0.0, "Stop below", symbol="τ", advanced=True, ge=0, le=1)
    """No more dimensions once two slopes in a row are below this share of the second largest. 0: grow on to
    d_h."""
    blocks: int = setting(0, "Blocks that are moved", symbol="B", advanced=True, ge=0, le=1000)
    """The variables are dealt to so many random blocks. Between steps of the search one block is moved, and
    nothing else: at first each block once, then while that gains more. 0: no moves. Try 100."""
    probes: int = setting(0, "Blocks that are probed", symbol="P", advanced=True, ge=0, le=1000)
    """Once, at d = 17: each of so many random blocks of variables (of all B, where there are some) is moved
    alone. That tells how many variables matter; it grows to 1.5 times as many dimensions. 0: no probes. Try
    100."""
    first_point: FirstPoint = setting("random", "First point", symbol="z₁", advanced=True)
    """Anywhere in the first subspace, or the centre of the box, z = 0, which all subspaces share."""
    acquisition: Acquisition = setting("bound", "Acquisition", symbol="a", advanced=True)
    """What the next point minimises: the bound μ − √κ σ, or −log of the expected improvement, which needs no
    κ."""
    region: bool = setting(False, "Trust region", symbol="L", advanced=True)
    """Search only around the best point, in a box that doubles after 3 successes and halves after 10 failures
    in a row."""
    kappa_scale: float = kappa_setting()
    kernel: Kernel = setting("matern", "Kernel", advanced=True)
    """How smooth the function is taken to be: Matérn-5/2 (less) or squared exponential (very)."""
    lengthscales: Lengthscales = setting("per-dimension", "Lengthscales", symbol="ℓ", advanced=True)
    """One for each dimension of z, or one for all of them, as S mixes all variables alike into each."""
    least_noise: float = setting(1e-4, "Least noise", symbol="η_min", advanced=True, ge=1e-8, le=1)
    """The least variance of noise, of the targets' variance, that a fit may find."""
    most_data: int = setting(0, "Data of the model", symbol="N", advanced=True, ge=0, le=100_000)
    """With one lengthscale: how many of the data, those nearest to the best point, a fit takes. 0: all."""
    lengthscale_prior: LengthscalePrior = setting(
        "dimension-scaled", "Prior of the lengthscales", advanced=True
    )
    """How far values are expected to hold: growing with √d (BoTorch's prior now), or Gamma(3, 6) (BoTorch's
    then)."""
    fit_outputscale: bool = setting(False, "Fit the output scale", advanced=True)
    """Whether the height of the function is learnt too; else it is the targets' variance."""
    targets: Targets = setting("standardised", "Targets", advanced=True)
    """What the Gaussian process is fitted to: values with mean 0 and variance 1, or with mean 0 only."""
    embedding_seed: int | None = setting(None, "Seed of the embedding", advanced=True, ge=0, le=MAX_SEED)
    """Draws S alone, to see another embedding in the same run. Empty: it follows the run's seed."""
    embeddings: int = setting(1, "Embeddings", symbol="m", advanced=True, ge=1, le=16)
    """How many embeddings are tried first: they share a tenth of the budget, and the one with the best value
    goes on; no blocks are moved then. Try 1, 4."""

    AUTHORS: ClassVar[dict[str, Any]] = {
        "kappa_scale": 1.0,
        "kernel": "matern",
        "lengthscale_prior": "gamma",
        "fit_outputscale": True,
        "targets": "centred",
    }
    ADAPTIVE: ClassVar[dict[str, Any]] = {
        "beta": 23.0,
        "growth": "steady",
        "steps": "first",
        "first_point": "centre",
        "acquisition": "log-ei",
        "region": True,
        "lengthscales": "common",
        "least_noise": 1e-6,
        "most_data": 150,
        "refit_every": 0.1,
        "restarts": 2,
        "raw_samples": 30,
        "local_samples": 30,
        "acq_iterations": 6,
        "blocks": 100,
    }

    @property
    def arithmetic(self) -> int:
        """For `adaptive` 2 fitted less often than 1, 3 had only the nearest data, and 4 moves blocks.

        For other rules 2 has a wider trust region after an expansion, and 3 probes blocks.
        """
        return 4 if self.variant == "adaptive" else 3 if self.probes else 2 if self.region else 1

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d_h = min(D, 100), d_l = 5 or d_h if that is less; what else belongs to the variant."""
        of_variant = {"authors": cls.AUTHORS, "adaptive": cls.ADAPTIVE}.get(str(given.get("variant")), {})
        return {**of_variant, **super().complete(given, D)}

    @field_validator("embeddings")
    @classmethod
    def _without_probes(cls, embeddings: int, info: ValidationInfo) -> int:
        if embeddings > 1 and info.data.get("probes"):
            raise ValueError(f"embeddings must be 1 where there are probes (got {embeddings}).")
        return embeddings

    def n_blocks(self, D: int) -> int:
        """How many blocks D variables are dealt to, to be moved or probed; a variable at least in each."""
        return min(D, self.blocks or self.probes) if self.embeddings == 1 else 0

    @property
    def columns(self) -> int:
        """Of S."""
        return self.d_h + (self.embeddings - 1) * self.d_l

    def longest_point(self, D: int) -> int:
        """The most coordinates that z can have."""
        return self.columns + self.n_blocks(D)

    def embedding(self, D: int, seed: int) -> SharedEmbedding:
        """S as a run of that seed draws it, with the blocks if any."""
        own = seed if self.embedding_seed is None else self.embedding_seed
        drawn, blocks = stream(own, 0), self.n_blocks(D)
        if blocks:
            return BlockEmbedding(D, self.d_h, blocks, drawn, stream(own, BLOCK_STREAM))
        return SharedEmbedding(D, self.columns, drawn, 1.0 / self.d_h)

    def build(self, D: int, budget: int, seed: int) -> DSEBO:
        """See `MethodConfig.build`."""
        return DSEBO(self, D, budget, seed)

    def strategy(self, budget: int) -> Strategy:
        """See `GrowthConfig.strategy`; with the variant, and what may end the growth."""
        shared = super().strategy(budget)
        return replace(shared, variant=self.variant, stop=self.stop, probes=self.probes)

    def warnings(self, budget: int) -> list[str]:
        """See `GrowthConfig.warnings`; trials of embeddings that leave little of the budget."""
        tried = Trials(self.embeddings, self.d_l, budget).last
        texts = super().warnings(budget)
        if 2 * tried > budget:
            texts.append(
                f"{self.embeddings} embeddings take {tried} evaluations to be tried: the budget of {budget} "
                f"leaves {max(0, budget - tried)} for the best of them."
            )
        return texts

    def surrogate(self) -> Surrogate:
        """The Gaussian process, before it has seen data."""
        kind = IsotropicSurrogate if self.lengthscales == "common" else Surrogate
        return kind(
            self.surrogate_settings(
                kernel=self.kernel,
                lengthscale_prior=self.lengthscale_prior,
                fit_outputscale=self.fit_outputscale,
                targets=self.targets,
                lengthscales=self.lengthscales,
                most_data=self.most_data,
                noise_bounds=(self.least_noise, 10.0),
            )
        )

    def model_dimension(self, D: int) -> float:
        """As if all of the run were in the largest subspace."""
        return float(self.d_h)

    def embedding_seconds(self, D: int, n: int) -> float:
        """Drawing S, and lifting and evaluating n points."""
        return _DRAW * D * self.d_h + n * _TOUCH * D * (self.d_h + 20)

    def predict(self, D: int, budget: int) -> Prediction:
        """The time of S is known without a fit of coefficients; its points are kept once."""
        n = min(budget, self.most_data or budget) if self.lengthscales == "common" else budget
        modelling = self.coefficients.seconds(n, D, self.d_h) * self.effort(n)
        if budget > n:  # every further step takes what the last one does
            last = modelling - self.coefficients.seconds(n - 1, D, self.d_h) * self.effort(n - 1)
            modelling += (budget - n) * last
        points = 8 * budget * self.longest_point(D)
        kernel = 8 * 6 * n * n  # the kernel matrix, its factor and some copies
        more_samples = max(0, self.sample_bytes(budget) - DseboConfig().sample_bytes(budget))
        memory = BASE_BYTES + 8 * D * self.columns + points + kernel + more_samples
        return Prediction(self.embedding_seconds(D, budget) + modelling, memory)


class DSEBO(Liar):
    """Bayesian optimization in a random subspace that grows when progress stalls."""

    has_model: ClassVar[bool] = True

    def __init__(self, config: DseboConfig, D: int, budget: int, seed: int) -> None:
        super().__init__(D, seed)
        self.trials = Trials(config.embeddings, config.d_l, budget)
        self.embedding = config.embedding(D, seed)  # line 1
        self.strategy = config.strategy(budget)
        self.longest_point = config.longest_point(D)
        self.progress: Progress = start(self.strategy)  # line 2
        self.surrogate = config.surrogate()
        self.search = config.search_settings(config.kappa_scale)
        if config.acquisition == "log-ei":  # its line searches would take as many calls again
            self.search = replace(self.search, calls=config.acq_iterations + 5)
        self.acquisition = config.acquisition
        self.starts_at_centre = config.first_point == "centre"
        self.region = Region(FIRST) if config.region else None
        self.probes: Probes | None = None  # once they have begun
        self.moves = self._no_moves()
        self.moves_blocks = config.blocks > 0  # else they are only probed
        self._padded, self._n_padded = np.zeros((0, config.columns)), 0
        self._fork_point: dict[str, Any] | None = None

    @property
    def d(self) -> int:
        """Dimension of the current subspace."""
        return self.progress.d

    def next_point(self) -> Candidate:
        """Lines 10 and 11: the next z of the current subspace, embedded."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        if not self.observed.any_finite:  # t = 1 (again, while the first point fails)
            central = self.starts_at_centre and t == 1
            z = np.zeros(self.d) if central else rng.uniform(-1.0, 1.0, size=self.d)
            z = self._spread(t, z)
            return Candidate(t, z, self.lift(z), self.d)
        if (move := self._next_move(t, rng)) is not None:
            return Candidate(t, move, self.lift(move), self.d)
        z, *seconds = self._propose(t, self._model_data(t), rng)
        z = z if self.moves is None else self.moves.placed(z)
        return Candidate(t, z, self.lift(z), self.d, *seconds)

    def _no_moves(self) -> Moves | None:
        """What is known of the blocks before the first evaluation; None where there are none."""
        S = self.embedding
        return Moves(S.d_h, S.blocks, self.strategy.budget) if isinstance(S, BlockEmbedding) else None

    def _next_move(self, t: int, rng: np.random.Generator) -> Array | None:
        """The best z with one block moved, where a probe or a move is due."""
        moves, probes = self.moves, self.probes
        if moves is None:
            return None
        moves.take(self.observed)
        best = self.observed.points[moves.best_at]
        if probes is not None and probes.include(t):
            return moves.moved(best, t - probes.first, PROBE)
        is_time = self.strategy.probes == 0 or self.progress.most is not None
        if not (self.moves_blocks and is_time and moves.due(t)):
            return None
        return moves.moved(best, *moves.step(rng))

    def _moved(self, t: int) -> np.ndarray | None:
        """Which coordinates of z evaluation t may move; None: all d that there are."""
        several = self.trials.embeddings > 1
        return self.trials.active(t, self.d, self.observed.values) if several else None

    def _spread(self, t: int, z: Array) -> Array:
        """z of d coordinates among those that stay 0."""
        moved = self._moved(t)
        if moved is None:
            return z
        whole = np.zeros(moved.size)
        whole[moved] = z
        return whole

    def _propose(self, t: int, data: tuple[Array, Array], rng: np.random.Generator) -> Proposal:
        """The best point of the acquisition over the box, or over the part of it that is trusted."""
        box, moved = self.progress.box, self._moved(t)
        if moved is not None:
            return self._propose_among(moved, data, rng)
        if self.region is None and self.acquisition == "bound":
            return propose_by_bound(self.surrogate, self.search, data, box, rng)
        Z, y = data
        centre, half = (0.0, box) if self.region is None else (Z[int(np.argmin(y))], self.region.length)
        low, high = np.clip(centre - half, -box, box), np.clip(centre + half, -box, box)
        return propose(self.surrogate, self.search, self._score, data, (low, high), rng)

    def _propose_among(
        self, moved: np.ndarray, data: tuple[Array, Array], rng: np.random.Generator
    ) -> Proposal:
        """The same where some coordinates stay 0: around the best point of those that have them all 0."""
        Z, y = data
        own = ~Z[:, ~moved].any(axis=1)
        centre = Z[own][int(np.argmin(y[own]))] if own.any() else np.zeros(moved.size)
        half = 2.0 if self.region is None else self.region.length
        box = self.progress.box
        low, high = (np.where(moved, np.clip(centre + side, -box, box), 0.0) for side in (-half, half))
        return propose(self.surrogate, self.search, self._score, data, (low, high), rng)

    def _score(self, lowest: float) -> Score:
        """The acquisition of the model as it stands; noise is no improvement, so `lowest` is not taken."""
        gp = self.surrogate.now
        if self.acquisition == "bound":
            return lower_bound(kappa(self.search.kappa_scale, gp.lengthscale.size, gp.weights.size))
        expected = self.surrogate.target - gp.noise * gp.weights  # the posterior mean at the data
        return log_expected_improvement(float(expected.min()))

    def learn(self, candidate: Candidate, y: float) -> Told:
        """Lines 13 to 22: keep the value; expand when the subspace has converged."""
        of_move = self._keep(candidate, y)
        before, self._fork_point = self.progress, None
        if self.probes is not None and self.probes.include(candidate.t):
            return Told(
                before.T, before.count, [*(of_move or ()), *self._take_probe(self.probes, candidate.t, y)]
            )
        if candidate.t <= self.trials.last:
            return Told(before.T, before.count, self._take_trial(candidate.t, y))
        if not np.isfinite(y):  # a failure spends budget, not patience
            return Told(before.T, before.count)
        changed = self._move_region(candidate.t, y) if of_move is None else of_move
        self.progress, event = after_evaluation(self.strategy, before, candidate.t, y)
        if event is None:
            self._begin_probes(candidate.t)
            return Told(before.T, self.progress.count, changed)
        undecided = count(self.strategy, before, y).to_json()
        self._fork_point = {**self.own_state(), "progress": undecided}
        told = [*changed, event, *self._enter(candidate.t, before.d)]
        self._begin_probes(candidate.t)
        return Told(before.T, before.T, told)

    def _keep(self, candidate: Candidate, y: float) -> list[Event] | None:
        """Record the value. None of a step of the search; of a move, what it led to."""
        moves = self.moves
        if moves is None:
            self.observed.add(candidate.z, y)
            return None
        moves.take(self.observed)
        move = moves.move_of(candidate.z) if moves.is_move(candidate.z) else None
        before = moves.best
        self.observed.add(candidate.z, y)
        moves.take(self.observed)
        if move is None:
            return None
        if not y < before:
            return []
        self._lower_region(y)
        return [self._moved_event(candidate.t, *move, before - y, moves.gained)]

    def _moved_event(self, t: int, block: int, far: float, gain: float, gained: float) -> Moved:
        """A move that gained, in words."""
        assert isinstance(self.embedding, BlockEmbedding)
        variables = np.flatnonzero(self.embedding.block == block)
        n, plural = variables.size, "s" if variables.size != 1 else ""
        text = (
            f"Evaluation {t}: block {block + 1} of {self.embedding.blocks} ({n} variable{plural}) was moved "
            f"alone, by {far:+.2g}. Gain {gain:.3g}: it stays moved."
        )
        return Moved(t, block, tuple(int(i) for i in variables[:10]), far, gain, gained, text)

    def _take_trial(self, t: int, y: float) -> list[Event]:
        """No patience is spent in the first phase; with its last value the embedding is chosen."""
        self._see(y)
        return [self.trials.chosen(self.observed.values)] if t == self.trials.last else []

    def _see(self, y: float) -> None:
        """Take a value for what is best and worst, and for nothing else."""
        now = self.progress
        if np.isfinite(y):
            self.progress = replace(now, best=min(now.best, y), worst=max(now.worst, y))
            self._lower_region(y)

    def _lower_region(self, y: float) -> None:
        """What the trust region is to beat, by a value that was not its own."""
        self.region = self.region and replace(self.region, best=min(self.region.best, y))

    def _begin_probes(self, t: int) -> None:
        """After evaluation t, once the subspace is large enough."""
        strategy = self.strategy
        waits = self.probes is None and self.progress.most is None
        if strategy.probes and self.moves and waits and self.d >= min(PROBED_IN, strategy.d_h):
            first = t + 1 + len(self.pending)  # what was asked with the last point is no probe
            self.probes = Probes(first, self.moves.changes.size)

    def _take_probe(self, probes: Probes, t: int, y: float) -> list[Event]:
        """No patience is spent; with the last one, it is known how far the subspace has to grow."""
        self._see(y)
        if probes.include(t + 1):
            return []
        event = probes.result(self.observed.values, self.strategy, self.d)
        self.progress = replace(self.progress, most=event.most)
        return [event]

    def _move_region(self, t: int, y: float) -> list[Event]:
        """Double or halve the trust region; begin with the first one again where it has become too small."""
        before = self.region
        if before is None:
            return []
        self.region = after_value(before, y, SUCCESSES, FAILURES, WIDEST)
        if self.region.length < LEAST:
            self.region = Region(FIRST, best=self.region.best)
        now = self.region.length
        if now == before.length:
            return []
        grows = y <= self.region.best
        why = f"{SUCCESSES} successes" if grows else f"{FAILURES} failures"
        what = (
            "doubles"
            if grows
            else "halves"
            if now < before.length
            else "has become too small and starts again"
        )
        text = f"Evaluation {t}: {why} in a row. The trust region {what}, ±{before.length:.3g} → ±{now:.3g}."
        return [RegionChanged(t, before.length, now, self.region.best, text)]

    def _enter(self, t: int, d_before: int) -> list[Event]:
        """Widen the trust region where new dimensions are to be tried."""
        before = self.region
        if before is None or self.d == d_before:
            return []
        self.region = Region(max(FIRST, before.length), best=before.best)
        now = self.region.length
        if now == before.length:
            return []
        text = (
            f"Evaluation {t}: there are new dimensions to try. The trust region widens, "
            f"±{before.length:.3g} → ±{now:.3g}."
        )
        return [RegionChanged(t, before.length, now, before.best, text)]

    def retrace(self, z: Array, y: float) -> Told:
        """The model is fitted as in `ask`; the search, most of the time, is left out."""
        t = len(self.observed) + 1
        if self.moves is not None:
            self.moves.take(self.observed)
        if self.observed.any_finite and not (self.moves is not None and self.moves.is_move(z)):
            self.surrogate.update(*self._model_data(t))
        return self.tell(Candidate(t, z, z, self.d), y)

    def may_have_asked(self, z: Array) -> bool:
        """See `Optimizer.may_have_asked`; with the blocks, or coordinates of other embeddings."""
        moved = self._moved(len(self.observed) + 1)
        size = self.d if moved is None else moved.size
        return z.size == size or (self.moves is not None and z.size == self.longest_point)

    def fork_point(self) -> dict[str, Any] | None:
        """At a convergence: the value counted, no step taken."""
        return self._fork_point

    def take_over(self, before: Optimizer, point: dict[str, Any], decide: int | None) -> list[Event]:
        """Take the step of that convergence by this strategy, or as given."""
        assert isinstance(before, DSEBO)
        if decide is not None and decide > self.strategy.d_h:
            raise ConfigError(must("decide", f"a whole number from 0 to d_h = {self.strategy.d_h}", decide))
        if self.surrogate.settings.lengthscales != before.surrogate.settings.lengthscales:
            point = {**point, "surrogate": self.surrogate.state_dict()}  # not the same parameters: none yet
        self.load_state_dict({**point, "data": before.observed.as_data()})
        if self.surrogate.settings != before.surrogate.settings:
            self.surrogate.n_fitted = 0  # what was fitted to another model holds no longer: fit at once
        self._fork_point = point
        t, d = len(self.observed), self.d
        self.progress, event = converge(self.strategy, self.progress, t, decide, before.strategy)
        return [event, *self._enter(t, d)]

    def imagined(self) -> Self:
        """See `Liar.imagined`; S is shared."""
        other = super().imagined()
        other.surrogate, other._padded = deepcopy(self.surrogate), self._padded.copy()
        other.moves = self.moves and self.moves.copy()
        return other

    def _model_data(self, t: int) -> tuple[Array, Array]:
        """(n, d), (n,) what the model is fitted to for evaluation t: all, but for moves of blocks."""
        Z = self._shared_data(t)
        if self.moves is None:
            return Z, self.observed.values_for_model()
        self.moves.take(self.observed)
        numbers, y = self.moves.of_model(self.observed.values)
        return Z[numbers], values_for_model(y)

    def _shared_data(self, t: int) -> Array:
        """(n, d) every z so far, padded with zeros to the subspace of evaluation t (Algorithm 3)."""
        points, known = self.observed.points, len(self._padded)
        if len(points) > known:  # room for as many again: a row is written once, not at every step
            more = np.zeros((max(64, len(points)), self._padded.shape[1]))
            self._padded = np.vstack([self._padded, more])
        for row in range(self._n_padded, len(points)):
            own = points[row][: self._padded.shape[1]]  # without the blocks
            self._padded[row, : own.size] = own
        self._n_padded = len(points)
        moved = self._moved(t)
        return np.ascontiguousarray(self._padded[: len(points), : self.d if moved is None else moved.size])

    def lift(self, z: Array) -> Array:
        """x = p(A_d z)."""
        return self.embedding.lift(z)

    def checksum(self) -> str:
        """A fingerprint of S."""
        return self.embedding.checksum()

    def own_state(self) -> dict[str, Any]:
        """Where the expansion stands, the model's hyper-parameters, trust region and probes if any."""
        state = {"progress": self.progress.to_json(), "surrogate": self.surrogate.state_dict()}
        parts = {"region": self.region, "probes": self.probes}
        return state | {name: part.to_json() for name, part in parts.items() if part is not None}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self._padded, self._n_padded = np.zeros((0, self._padded.shape[1])), 0
        self.progress = Progress.from_json(state["progress"])
        self.surrogate.load_state_dict(state["surrogate"])
        if self.region is not None and "region" in state:  # a fork may have one where its parent has none
            self.region = Region.from_json(state["region"])
        self.moves, probes = self._no_moves(), state.get("probes", {})
        self.probes = Probes(**probes) if "blocks" in probes else None  # before 0.3 there were other ones
