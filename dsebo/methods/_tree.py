"""The tree of MCTS-VS: which variables to work on next, from the values alone.

Notation (Song et al. 2022):
    node            a subset of the variables; its children split it into the better and the worse
    score           of a variable: the mean, over the subsets that held it, of their best value
    UCT             best score of a node + 2 C_p sqrt(2 sqrt(n_parent) / n)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dsebo.events import Event, Restarted, Split, SubspaceChanged
from dsebo.methods.base import stream
from dsebo.methods.configs import MctsVsConfig

Variables = NDArray[np.int64]
Array = NDArray[np.float64]


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
