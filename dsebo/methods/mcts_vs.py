"""MCTS-VS: Bayesian optimization on subsets of the variables that a tree search chooses.

Song et al. 2022, Algorithm 1; the tree is in `mcts_tree`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsebo.events import Event
from dsebo.gp.peer_acquisition import log_expected_improvement, propose, search_settings
from dsebo.gp.peer_surrogate import GaussianProcess, GPSettings
from dsebo.methods._peer import Array, Peer, sobol, starting_point
from dsebo.methods._tree import VariableTree
from dsebo.methods.base import Candidate, stream
from dsebo.methods.configs import MctsVsConfig


class MCTSVS(Peer):
    """A Gaussian process on the chosen variables; the others are copied from good points."""

    def __init__(self, config: MctsVsConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.search = search_settings(config)
        self.tree = VariableTree(config, D, seed)
        self.gp = self._new_model()

    def _new_model(self) -> GaussianProcess:
        """Fitted once for each subset."""
        return GaussianProcess(GPSettings(fit_iterations=self.config.fit_iterations, refit_every=1))

    def ask(self) -> Candidate:
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

    def own_state(self) -> dict[str, Any]:
        """The hyper-parameters of the subset's model; the tree follows from the values."""
        return {"surrogate": self.gp.state_dict()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.gp.load_state_dict(state["surrogate"])
        self.tree = VariableTree(self.config, self.D, self.seed)
        for y in self.observed.values:
            self.tree.tell(y)
