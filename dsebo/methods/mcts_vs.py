"""MCTS-VS: Bayesian optimization on subsets of the variables that a tree search chooses.

Notation (Song et al. 2022, Algorithm 1):
    node            a subset of the variables; its children split it into the better and the worse
    score           of a variable: the mean, over the subsets that held it, of their best value
    UCT             best score of a node + 2 C_p sqrt(2 sqrt(n_parent) / n)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dsebo.events import Event, Restarted, Split, SubspaceChanged
from dsebo.gp.acquisition import log_expected_improvement, propose
from dsebo.gp.designs import sobol, starting_point
from dsebo.gp.surrogate import Surrogate
from dsebo.methods._shared import FullConfig, ModelOptimizer, fit_iterations_setting, n_init_setting
from dsebo.methods.base import Array, Candidate, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting

Variables = NDArray[np.int64]


class MctsVsConfig(FullConfig):
    """MCTS-VS: a tree search over subsets of the variables."""

    label = "MCTS-VS"
    coefficients = Coefficients(n=6.33e6, n_D=9.65e3, n3=64.3)

    method: Literal["mcts-vs"] = "mcts-vs"
    C_p: float = setting(0.1, "Exploration of the tree", symbol="C_p", ge=0, le=1e6)
    """How often variables that look worse are tried, in deviations of the values. 0: never."""
    batches: int = setting(2, "Random halves", symbol="N_v", ge=1, le=100)
    """How thoroughly a leaf is tested: random halves per visit, each with its complement."""
    subset_samples: int = setting(3, "Samples per subset", symbol="N_s", ge=1, le=1000)
    """Evaluations spent on each of these halves."""
    split_size: int = setting(3, "Least size to split", symbol="N_split", ge=2, le=100_000)
    """How fine the tree grows: smaller leaves stay."""
    right_turns: int = setting(5, "Right turns", symbol="N_bad", ge=1, le=100_000)
    """When the tree is doubted: after so many visits to the worse side it is rebuilt."""
    top: int = setting(20, "Best points", symbol="k", ge=1, le=100_000)
    """The variables that are not at work are copied from these."""
    n_init: int = n_init_setting(10, "Scrambled Sobol points of the box, before the tree is used.")
    fit_iterations: int = fit_iterations_setting(8, "Each subset starts from the first values again.")

    def build(self, D: int, budget: int, seed: int) -> MCTSVS:
        """See `MethodConfig.build`."""
        return MCTSVS(self, D, seed)

    def model_dimension(self, D: int) -> float:
        """Half of the variables at the root, less further down: a third on average."""
        return D / 3


class MCTSVS(ModelOptimizer):
    """A Gaussian process on the chosen variables; the others are copied from good points."""

    def __init__(self, config: MctsVsConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.search = config.search_settings()
        self.tree = VariableTree(config, D, seed)
        self.gp = self._new_model()

    @property
    def d(self) -> int | None:
        """Number of variables at work; None while the starting design is evaluated."""
        return None if self.tree.subset is None else self.tree.subset.size

    def _new_model(self) -> Surrogate:
        """Fitted once for each subset."""
        return Surrogate(self.config.surrogate_settings(refit_every=1))

    def next_point(self) -> Candidate:
        """A starting point, or the point of largest expected improvement on the subset."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        subset = self.tree.subset
        if subset is None:
            design = sobol(self.config.n_init, self.D, stream(self.seed, 1))
            x = 2.0 * starting_point(design, t - 1, rng) - 1.0
            return Candidate(t, x, x)
        if self.tree.fresh:
            self.gp = self._new_model()
        X, y = np.stack(self.observed.points), self.observed.values_for_model()
        data = (X[:, subset] + 1.0) / 2.0, y
        u, *seconds = propose(self.gp, self.search, log_expected_improvement, data, (0, 1), rng)
        x = self._mixed(X, y, rng)
        x[subset] = np.clip(2.0 * u - 1.0, -1.0, 1.0)
        return Candidate(t, x, x, subset.size, *seconds)

    def _mixed(self, X: Array, y: Array, rng: np.random.Generator) -> Array:
        """(D,) each variable from one of the best points, drawn for each."""
        top = X[np.argsort(y, kind="stable")[: self.config.top]]
        return np.asarray(top[rng.integers(len(top), size=self.D), np.arange(self.D)])

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """What the tree makes of it."""
        return self.tree.tell(y)

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The model of the subset; the tree follows from the values."""
        super().load_own_state(state)
        self.tree = VariableTree(self.config, self.D, self.seed)
        for y in self.observed.values:
            self.tree.tell(y)


@dataclass(eq=False)
class Node:
    """A set of variables, and its two parts if it has been split (left: the better ones)."""

    variables: Variables
    visits: int = 1
    parts: tuple[Node, Node] | None = None


@dataclass
class Visit:
    """Work at one leaf: some subsets of its variables, a few evaluations each."""

    path: list[Node]
    subsets: list[Variables]
    bests: list[float] = field(default_factory=list)  # of the subsets that are done
    values: list[float] = field(default_factory=list)  # of the one at work


class VariableTree:
    """A Monte Carlo tree search over subsets of D variables.

    It depends on nothing but the seed and the values, so it can be grown again from them.
    """

    def __init__(self, config: MctsVsConfig, D: int, seed: int) -> None:
        self.config, self.seed = config, seed
        self.root = Node(np.arange(D))
        self.sums, self.counts = np.zeros(D), np.zeros(D)
        self.right_turns = 0
        self.values: list[float] = []
        self.visit: Visit | None = None  # None while the starting design is evaluated

    @property
    def subset(self) -> Variables | None:
        """The variables at work; None while the starting design is evaluated."""
        return None if self.visit is None else self.visit.subsets[len(self.visit.bests)]

    @property
    def fresh(self) -> bool:
        """Whether the subset has no evaluation of its own yet."""
        return self.visit is not None and not self.visit.values

    @property
    def scores(self) -> Array:
        """(D,) of each variable, the higher the better, in deviations of all values."""
        y = np.array(self.values)
        spread = y.std() if y.std() > 1e-12 else 1.0
        return np.asarray((y.mean() - self.sums / np.maximum(self.counts, 1.0)) / spread)

    def tell(self, y: float) -> list[Event]:
        """Take the value of the next point; move on to the next subset, leaf or tree."""
        self._record(y)
        t = len(self.values)
        if self.visit is None:
            ready = t >= self.config.n_init and np.isfinite(self.values[-1])
            return self._begin_visit(t, None) if ready else []
        self.visit.values.append(self.values[-1])
        if len(self.visit.values) < self.config.subset_samples:
            return []
        before = self.visit.subsets[len(self.visit.bests)].size
        self.visit.bests.append(min(self.visit.values))
        self.visit.values = []
        if len(self.visit.bests) < len(self.visit.subsets):
            return [self._changed(t, before)]
        return [*self._end_visit(t, self.visit), *self._begin_visit(t, before)]

    def _record(self, y: float) -> None:
        """Keep y, a failed one at the worst so far (infinite until one has succeeded)."""
        finite = [value for value in [*self.values, y] if np.isfinite(value)]
        worst = max(finite, default=np.inf)
        self.values.append(y)
        self.values = [value if np.isfinite(value) else worst for value in self.values]

    def _begin_visit(self, t: int, before: int | None) -> list[Event]:
        """Choose a leaf, and random halves of it with their complements."""
        events: list[Event] = []
        if self.right_turns >= self.config.right_turns:
            events.append(self._rebuild(t))
        path = self._descend()
        rng = stream(self.seed, t + 1).spawn(1)[0]
        subsets: list[Variables] = []
        for _ in range(self.config.batches):
            shuffled = rng.permutation(path[-1].variables)
            half = (shuffled.size + 1) // 2
            subsets += [np.sort(part) for part in (shuffled[:half], shuffled[half:]) if part.size]
        self.visit = Visit(path, subsets)
        return [*events, self._changed(t, before)]

    def _descend(self) -> list[Node]:
        """From the root to a leaf, by UCT."""
        scores, path, turned = self.scores, [self.root], False
        while path[-1].parts is not None:
            n = path[-1].visits
            left, right = path[-1].parts
            uct = [self._uct(node, n, scores) for node in (left, right)]
            path.append(right if uct[1] > uct[0] else left)
            turned = turned or path[-1] is right
        self.right_turns += turned
        return path

    def _uct(self, node: Node, n_parent: int, scores: Array) -> float:
        bonus = 2.0 * self.config.C_p * np.sqrt(2.0 * np.sqrt(n_parent) / node.visits)
        return float(scores[node.variables].max() + bonus)

    def _end_visit(self, t: int, visit: Visit) -> list[Event]:
        """Score the variables, count the visit up the tree, split the leaf at the mean score."""
        for subset, best in zip(visit.subsets, visit.bests, strict=True):
            self.sums[subset] += best
            self.counts[subset] += 1.0
        for node in visit.path:
            node.visits += 1
        leaf, scores = visit.path[-1], self.scores
        own = scores[leaf.variables]
        better = own > own.mean()
        if leaf.variables.size < self.config.split_size or not better.any():
            return []
        leaf.parts = Node(leaf.variables[better]), Node(leaf.variables[~better])
        sizes = tuple(part.variables.size for part in leaf.parts)
        text = (
            f"Evaluation {t}: {leaf.variables.size} variables split at their mean score into "
            f"{sizes[0]} better and {sizes[1]} worse ones."
        )
        return [Split(t, leaf.variables.size, sizes[0], sizes, text)]

    def _rebuild(self, t: int) -> Restarted:
        """Begin again at the root; the scores stay."""
        self.root, self.right_turns = Node(self.root.variables), 0
        text = (
            f"Evaluation {t}: {self.config.right_turns} visits to the worse side; the tree is "
            f"rebuilt from all {self.root.variables.size} variables."
        )
        return Restarted(t, min(self.values), text)

    def _changed(self, t: int, before: int | None) -> SubspaceChanged:
        subset = self.subset
        assert subset is not None
        assert self.visit is not None
        top = subset[np.argsort(-self.scores[subset], kind="stable")[:10]]
        depth = len(self.visit.path) - 1
        text = (
            f"Evaluation {t}: on to {subset.size} variables of a leaf of "
            f"{self.visit.path[-1].variables.size}, {depth} below the root."
        )
        return SubspaceChanged(t, before, subset.size, tuple(int(i) for i in top), None, text)
