"""RDUCB: a new random sum of small parts at every step (Ziomek, Bou-Ammar 2023).

A structure that is learnt from few data misleads; so the variables are tied by a random forest of
floor(0.2 D) edges, drawn again for each point, and the function is taken for a sum over its edges and
the variables alone.

Notation:
    parts c         the edges (i, j) and the variables that no edge touches
    e_i             exp(-(u_i - u_i')^2 / (2 l_i^2)), u in [0, 1]
    K = sum_c v_c prod_{i in c} e_i + eta I,    v_c = sqrt(sum_{i in c} v_i^2)
    score of c      mu_c - beta_t sigma_c,      beta_t = 0.5 ln 2t
The sum of the scores is minimised exactly on four values per variable by passing messages along the
trees; then the chosen quarter of each variable's interval is cut into four again.

The authors' code leaves y as it is, keeps v above 0.3 and fits by two evaluations of the likelihood;
here y is standardised, the v share a variance of 1, all have log-normal priors, and fits are those of
every method.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dsebo.events import Event, StructureChanged
from dsebo.gp.surrogate import Array, as_loss, inverse_and_logdet, minimised
from dsebo.methods._shared import (
    ModelConfig,
    fit_iterations_setting,
    n_init_setting,
    refit_setting,
    uniform_start,
)
from dsebo.methods.base import Candidate, Optimizer, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting

Indices = NDArray[np.int64]
WAYS = 4  # values per variable and level
LENGTHSCALE, NOISE = 0.5, 1e-2  # where fits start, and the centres of the priors
# Of the priors of log l, log v and log eta. With a wide one the noise takes all that a random forest
# cannot explain, and nothing is learnt (Sphere, D = 1000, 45 evaluations: 194, with this one 85).
SPREADS = (0.5, 0.5, 0.3)
LIMITS = ((np.log(0.02), np.log(20.0)), (-30.0, 3.0), (np.log(1e-4), 0.0))


class RducbConfig(ModelConfig):
    """RDUCB: a random sum of parts, drawn again at every step."""

    label = "RDUCB"
    coefficients = Coefficients(n_D=8.84e4, n2_d=178, n3_d=1.01)

    method: Literal["rducb"] = "rducb"
    size: float = setting(0.2, "Edges", symbol="|E|/D", ge=0, le=1)
    """How many pairs of variables may act together, as a share of D. 0: one pair only; 1: one tree that ties
    all of them. More pairs can show more, and each is known less well."""
    beta_scale: float = setting(0.5, "Exploration", symbol="β", ge=0, le=1e6)
    """How much uncertainty attracts: the bound of a part is μ − β ln(2t) σ. Small: refine what is good."""
    grid: int = setting(150, "Values per variable", advanced=True, ge=4, le=1_000_000)
    """How fine a variable is resolved: it is cut into four until so many values are told apart."""
    restart: bool = setting(False, "Forget with each forest", advanced=True)
    """Whether lengthscales and variances start again at every fit, or go on with each variable."""
    n_init: int = n_init_setting(10, "Random points of the box, evaluated before the model is used.")
    fit_iterations: int = fit_iterations_setting(5, "Each fit has another forest.")
    refit_every: float = refit_setting(0.05)

    def build(self, D: int, budget: int, seed: int) -> RDUCB:
        """See `MethodConfig.build`."""
        return RDUCB(self, D, seed)

    def check(self, D: int) -> None:
        """An edge needs two variables."""
        if D < 2:
            raise ValueError(f"D must be a whole number, 2 or more, for rducb (got {D}).")

    def extra_bytes(self, D: int, budget: int) -> int:
        """The scores of a level: 16 rows per edge, 4 per variable alone, each of n correlations."""
        rows = 16 * self.size * D + 4 * (1 - 2 * self.size) * D
        return int(8 * budget * (2 * min(max(rows, 4 * D), 4 * CHUNK) + 4 * D))


CHUNK = 4096  # rows of correlations at a time


# -- the forest -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forest:
    """Edges without a cycle, and the variables that they leave alone."""

    D: int
    edges: Indices  # (m, 2), each from a variable to its parent, leaves first
    alone: Indices  # the variables without an edge

    @property
    def trees(self) -> int:
        """How many trees, a variable alone being one."""
        return self.D - len(self.edges)

    def sizes(self) -> Indices:
        """Numbers of variables of the trees."""
        root = np.arange(self.D)
        for child, parent in self.edges[::-1]:  # parents first
            root[child] = root[parent]
        return np.bincount(root)[np.unique(root)]


def random_forest(D: int, size: float, rng: np.random.Generator) -> Forest:
    """max(1, floor(size D)) random edges, at most D - 1: pairs are drawn, and kept if they join two trees."""
    wanted = min(D - 1, max(1, int(size * D)))
    owner = list(range(D))

    def root(i: int) -> int:
        while owner[i] != i:
            owner[i] = owner[owner[i]]
            i = owner[i]
        return i

    neighbours: dict[int, list[int]] = {}
    edges = 0
    while edges < wanted:
        for i, j in rng.integers(D, size=(2 * wanted + 8, 2)).tolist():
            a, b = root(i), root(j)
            if a == b:
                continue
            owner[a] = b
            neighbours.setdefault(i, []).append(j)
            neighbours.setdefault(j, []).append(i)
            edges += 1
            if edges == wanted:
                break
    return Forest(D, _leaves_first(neighbours), np.setdiff1d(np.arange(D), list(neighbours)))


def _leaves_first(neighbours: dict[int, list[int]]) -> Indices:
    """(m, 2) the edges from a variable to its parent, so that a child's come before its own."""
    edges: list[tuple[int, int]] = []
    seen: set[int] = set()
    for start in neighbours:
        if start in seen:
            continue
        seen.add(start)
        waiting = [start]
        while waiting:
            here = waiting.pop()
            for other in neighbours[here]:
                if other not in seen:
                    seen.add(other)
                    edges.append((other, here))
                    waiting.append(other)
    return np.array(edges[::-1], dtype=np.int64).reshape(-1, 2)


def pass_messages(forest: Forest, singles: Array, pairs: Array) -> tuple[Indices, float]:
    """(the choice of each variable, the least sum of scores).

    Args:
        forest: Which variables act together.
        singles: (D, w) the score of each value of a variable alone; 0 for those on edges.
        pairs: (m, w, w) that of each pair of values of an edge: the child's, the parent's.
    """
    own = singles.copy()
    best = np.empty(pairs.shape[:2], dtype=np.int64)  # of the child, given the parent
    for k, (child, parent) in enumerate(forest.edges):
        total = pairs[k] + own[child][:, None]
        best[k] = total.argmin(axis=0)
        own[parent] += total.min(axis=0)
    choice = own.argmin(axis=1)
    roots = np.ones(forest.D, dtype=bool)
    roots[forest.edges[:, 0]] = False
    value = float(own[roots].min(axis=1).sum())
    for k in range(len(forest.edges) - 1, -1, -1):  # roots first
        child, parent = forest.edges[k]
        choice[child] = best[k, choice[parent]]
    return choice, value


# -- the sum of Gaussian processes ----------------------------------------------------------------


@dataclass
class Hyper:
    """By variable, whatever the forest; all as logarithms."""

    lengthscale: Array  # (D,)
    variance: Array  # (D,) v_i
    noise: float

    @classmethod
    def start(cls, D: int, parts: int) -> Hyper:
        """All alike; the parts share a variance of 1."""
        return cls(np.full(D, np.log(LENGTHSCALE)), np.full(D, -np.log(parts)), float(np.log(NOISE)))

    def flat(self) -> Array:
        """(2 D + 1,)."""
        return np.asarray(np.r_[self.lengthscale, self.variance, self.noise])

    @classmethod
    def of(cls, flat: Array) -> Hyper:
        """The inverse of `flat`."""
        D = (flat.size - 1) // 2
        return cls(flat[:D].copy(), flat[D:-1].copy(), float(flat[-1]))


class SumOfParts:
    """K and the gradient of the likelihood, one part after the other: all e_i at once would be 2 GB."""

    def __init__(self, U: Array, target: Array, forest: Forest) -> None:
        self.U, self.target, self.forest = U, target, forest
        n = len(U)
        self.pairs = np.triu_indices(n, 1)
        self.times = np.arange(n - 1, -1, -1)  # how often each point is the first of a pair
        self.columns = np.ascontiguousarray(U.T)

    def _parts(self) -> list[tuple[int, ...]]:
        return [(int(i),) for i in self.forest.alone] + [(int(i), int(j)) for i, j in self.forest.edges]

    def variance(self, hyper: Hyper, part: tuple[int, ...]) -> float:
        """v_c."""
        return float(np.sqrt(sum(np.exp(2.0 * hyper.variance[i]) for i in part)))

    def _correlation(self, hyper: Hyper, part: tuple[int, ...]) -> tuple[Array, list[Array]]:
        """(its correlations above the diagonal, the squared scaled differences of its variables)."""
        scaled = [self._scaled(hyper, i) for i in part]
        exponent = scaled[0].copy() if len(scaled) == 1 else scaled[0] + scaled[1]
        exponent *= -0.5
        return np.exp(exponent, out=exponent), scaled

    def _scaled(self, hyper: Hyper, i: int) -> Array:
        """(n (n - 1) / 2,) squared differences of one variable, in units of its lengthscale."""
        u = self.columns[i]
        r2 = np.repeat(u, self.times)  # one array all through: new ones took most of the time
        r2 -= u.take(self.pairs[1])
        r2 *= r2
        r2 *= np.exp(-2.0 * hyper.lengthscale[i])
        return r2

    def _covariance(self, hyper: Hyper) -> Array:
        n = len(self.U)
        above, diagonal = np.zeros(len(self.pairs[0])), float(np.exp(hyper.noise))
        for part in self._parts():
            v = self.variance(hyper, part)
            k = self._correlation(hyper, part)[0]
            k *= v
            above += k
            diagonal += v
        K = np.zeros((n, n))
        K[self.pairs] = above
        K += K.T
        K.flat[:: n + 1] = diagonal
        return K

    def factorise(self, hyper: Hyper) -> tuple[Array, Array]:
        """(K^-1, K^-1 y)."""
        inverse, _ = inverse_and_logdet(self._covariance(hyper))
        return inverse, inverse @ self.target

    def log_posterior(self, flat: Array, centre: Array) -> tuple[float, Array]:
        """The log likelihood and priors around `centre`, and the gradient by `Hyper.flat`."""
        hyper, D, n = Hyper.of(flat), self.forest.D, len(self.U)
        inverse, logdet = inverse_and_logdet(self._covariance(hyper))
        a = inverse @ self.target
        value = -0.5 * float(self.target @ a + logdet + n * np.log(2.0 * np.pi))
        W = 0.5 * (np.multiply.outer(a, a) - inverse)
        above, trace = 2.0 * W[self.pairs], float(np.trace(W))
        gradient = np.zeros_like(flat)
        gradient[-1] = float(np.exp(hyper.noise)) * trace
        for part in self._parts():
            v = self.variance(hyper, part)
            k, scaled = self._correlation(hyper, part)
            k *= above
            by_v = float(k.sum()) + trace
            for i, r2 in zip(part, scaled, strict=True):
                gradient[i] += v * float(k @ r2)
                gradient[D + i] += by_v * float(np.exp(2.0 * hyper.variance[i])) / v
        spread = np.repeat(SPREADS, (D, D, 1))
        away = (flat - centre) / spread
        return value - 0.5 * float(away @ away), gradient - away / spread

    def scores(
        self, hyper: Hyper, known: tuple[Array, Array], points: Array, beta: float
    ) -> tuple[Array, Array, Array]:
        """(singles (D, w), pairs (m, w, w), the part means of those) at points (D, w) of each variable."""
        D, w = points.shape
        singles, means = np.zeros((D, w)), np.zeros((D, w))
        pairs = np.empty((len(self.forest.edges), w, w))
        e = np.exp(
            -0.5
            * ((points[:, :, None] - self.columns[:, None, :]) * np.exp(-hyper.lengthscale)[:, None, None])
            ** 2
        )
        v = np.exp(hyper.variance)
        for some in np.array_split(self.forest.alone, max(1, len(self.forest.alone) * w // CHUNK)):
            if some.size:
                singles[some], means[some] = self._bound(e[some], v[some], known, beta)
        edges = self.forest.edges
        for these in np.array_split(np.arange(len(edges)), max(1, len(edges) * w * w // CHUNK)):
            child, parent = edges[these, 0], edges[these, 1]
            both = e[child][:, :, None, :] * e[parent][:, None, :, :]
            together = np.hypot(v[child], v[parent])
            pairs[these] = self._bound(both, together, known, beta)[0]
        return singles, pairs, means

    @staticmethod
    def _bound(k: Array, v: Array, known: tuple[Array, Array], beta: float) -> tuple[Array, Array]:
        """(mu - beta sigma, mu) of correlations (parts, ..., n), each part with its variance."""
        shape, n = k.shape[:-1], k.shape[-1]
        rows = (v.reshape(-1, *[1] * (k.ndim - 1)) * k).reshape(-1, n)
        variance = np.repeat(v, rows.shape[0] // len(v)) - np.einsum("ij,ij->i", rows @ known[0], rows)
        mu = rows @ known[1]
        bound = mu - beta * np.sqrt(np.maximum(variance, 1e-12))
        return bound.reshape(shape), mu.reshape(shape)


class RDUCB(Optimizer):
    """The least sum of the parts' lower bounds, found by messages on zooming grids."""

    has_model: ClassVar[bool] = True

    def __init__(self, config: RducbConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.hyper: Hyper | None = None
        self.n_fitted = 0
        self._told: tuple[int, int, float, Forest, Array, Array] | None = None

    def next_point(self) -> Candidate:
        """A random point, or the least bound under this step's forest."""
        n, t = len(self.observed), len(self.observed) + 1
        rng = stream(self.seed, t)
        if (first := uniform_start(self, self.config.n_init, rng)) is not None:
            return first
        began = perf_counter()
        U = (np.stack(self.observed.points) + 1.0) / 2.0
        target = self.observed.standardized_values()
        forest = random_forest(self.D, self.config.size, rng)
        model = SumOfParts(U, target, forest)
        hyper = self._fitted(model, n)
        known = model.factorise(hyper)
        fitted = perf_counter()
        u = self._zoom(model, hyper, known, t, rng)
        x = self._not_again(2.0 * u - 1.0, rng)
        return Candidate(t, x, x, None, fitted - began, perf_counter() - fitted)

    def _fitted(self, model: SumOfParts, n: int) -> Hyper:
        """The hyper-parameters, refitted under this step's forest if it is time to."""
        from scipy.optimize import Bounds

        start = Hyper.start(self.D, model.forest.trees)
        if self.hyper is None:
            self.hyper = start
        if n - self.n_fitted >= max(1, int(self.config.refit_every * n)):
            first = start.flat() if self.config.restart else self.hyper.flat()
            centre, D = start.flat(), self.D
            loss = as_loss(lambda flat: model.log_posterior(flat, centre), n)
            low, high = (np.repeat([pair[side] for pair in LIMITS], (D, D, 1)) for side in (0, 1))
            evaluations = self.config.fit_iterations
            if end := minimised(loss, first, Bounds(low, high), evaluations, maxfun=evaluations):
                self.hyper = Hyper.of(end[0])
            self.n_fitted = n
        return self.hyper

    def _zoom(
        self, model: SumOfParts, hyper: Hyper, known: tuple[Array, Array], t: int, rng: np.random.Generator
    ) -> Array:
        """(D,) the point: each level keeps the best quarter of each variable's interval."""
        low, width = np.zeros(self.D), 1.0
        beta = self.config.beta_scale * float(np.log(2.0 * t))
        levels = int(np.ceil(np.log(self.config.grid) / np.log(WAYS)))
        for _ in range(levels):
            width /= WAYS
            places = np.arange(WAYS) + rng.random((self.D, WAYS))
            points = low[:, None] + width * places
            singles, pairs, _ = model.scores(hyper, known, points, beta)
            choice, value = pass_messages(model.forest, singles, pairs)
            low = low + width * choice
        u = points[np.arange(self.D), choice]
        self._told = (t, levels, beta, model.forest, pairs, np.array([value]))
        return np.clip(u, 0.0, 1.0)

    def _not_again(self, x: Array, rng: np.random.Generator) -> Array:
        """The point, moved by one value of the grid in one variable where it has been evaluated."""
        while any(np.array_equal(x, other) for other in self.observed.points):
            i = int(rng.integers(self.D))
            x = x.copy()
            x[i] = np.clip(x[i] + rng.choice([-2.0, 2.0]) / self.config.grid, -1.0, 1.0)
        return x

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """The forest of a step with a fit, and the edges whose scores differ most between values."""
        if self._told is None or self._told[0] != candidate.t or self.n_fitted != candidate.t - 1:
            return []
        t, levels, beta, forest, pairs, value = self._told
        spread = np.ptp(pairs.reshape(len(pairs), -1), axis=1)
        most = np.argsort(-spread, kind="stable")[:10]
        sizes = forest.sizes()
        text = (
            f"Evaluation {t}: {len(forest.edges)} random pairs in {forest.trees} parts, the largest of "
            f"{int(sizes.max())} variables. β = {beta:.2g}; {levels} levels; the bound of the point is "
            f"{float(value[0]):.3g}."
        )
        assert self.hyper is not None
        strongest = np.argsort(-self.hyper.variance, kind="stable")[:3]
        text += f" All fits so far give most to {', '.join(f'x{i}' for i in strongest)}."
        members = tuple(tuple(sorted(int(i) for i in forest.edges[k])) for k in most)
        weights = tuple(float(s) for s in spread[most])
        return [StructureChanged(t, forest.trees, members, weights, (), text)]

    def own_state(self) -> dict[str, Any]:
        """Lengthscale and variance of each variable, the noise, and when they were fitted."""
        flat = None if self.hyper is None else self.hyper.flat().tolist()
        return {"hyper": flat, "n_fitted": self.n_fitted}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        flat = state["hyper"]
        self.hyper = None if flat is None else Hyper.of(np.array(flat, dtype=np.float64))
        self.n_fitted = int(state["n_fitted"])
