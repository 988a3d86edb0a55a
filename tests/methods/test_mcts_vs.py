"""MCTS-VS: the tree finds the variables that matter."""

import numpy as np

from dsebo.events import Restarted, Split
from tests.methods.helpers import optimizer_of, play, sphere


def test_mcts_vs_finds_the_two_active_variables_of_ten() -> None:
    """By the score of each variable, summed over four runs: one split may send it the wrong way.

    Many halves a visit, and the other variables from any point rather than the best ones: once all
    the best points are good, subsets without an active variable look as good as those with one.
    """
    settings = {"subset_samples": 1, "batches": 10, "top": 500, "raw_samples": 20, "acq_iterations": 5}
    scores = np.zeros(10)
    for seed in range(1, 5):
        optimizer = optimizer_of("mcts-vs", 10, seed=seed, fit_iterations=4, **settings)
        _, _, events = play(optimizer, lambda x: (x[3] - 0.5) ** 2 + (x[7] + 0.5) ** 2, 110)
        scores += optimizer.tree.scores
        assert any(isinstance(event, Split) for event in events)
    assert set(np.argsort(-scores)[:2].tolist()) == {3, 7}


def test_mcts_vs_tree_finds_them_when_subsets_tell_the_truth() -> None:
    """A subset's value is the number of active variables it lacks, with noise."""
    rng = np.random.default_rng(0)
    tree = optimizer_of("mcts-vs", 10, n_init=2, C_p=1.0).tree
    for _ in range(300):
        held = [] if tree.subset is None else [i for i in (3, 7) if i in tree.subset]
        tree.tell(2.0 - len(held) + 0.3 * rng.normal())
    assert set(np.argsort(-tree.scores)[:2].tolist()) == {3, 7}


def test_mcts_vs_tree_splits_at_the_mean_and_turns_left() -> None:
    """Subsets that hold variable 0 get 0, the others 1: it ends alone on the better side."""
    tree = optimizer_of("mcts-vs", 8, n_init=2, subset_samples=1).tree
    tree.tell(1.0)
    tree.tell(1.0)
    for _ in range(12):
        assert tree.subset is not None
        tree.tell(0.0 if 0 in tree.subset else 1.0)
    assert tree.root.parts is not None
    assert 0 in tree.root.parts[0].variables
    assert int(np.argmax(tree.scores)) == 0
    parts = tree.root.parts
    assert sorted(np.r_[parts[0].variables, parts[1].variables]) == list(range(8))


def test_mcts_vs_rebuilds_after_right_turns() -> None:
    optimizer = optimizer_of("mcts-vs", 8, n_init=2, subset_samples=1, right_turns=2, C_p=50.0)
    rng = np.random.default_rng(0)
    events = [event for _ in range(60) for event in optimizer.tree.tell(rng.random())]
    assert any(isinstance(event, Restarted) for event in events)


def test_mcts_vs_copies_the_other_variables_from_good_points() -> None:
    optimizer = optimizer_of("mcts-vs", 12, n_init=6, top=2, acq_iterations=3)
    play(optimizer, sphere(0.1), 6)
    X, y = np.stack(optimizer.observed.points), np.array(optimizer.observed.values)
    candidate, subset = optimizer.ask(), optimizer.tree.subset
    others = np.setdiff1d(np.arange(12), subset)
    top = X[np.argsort(y)[:2]]
    assert candidate.d == subset.size == 6
    assert all(candidate.x[i] in top[:, i] for i in others)
