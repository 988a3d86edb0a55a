"""A figure far from the printed one has an experiment that says what would bring it nearer."""

import pandas as pd
import pytest

from benchmarks import peer_experiments
from benchmarks.peer_changes import EXPERIMENTS, NO_MODEL, Experiment
from benchmarks.peer_experiments import FAR, Far, Tried, all_tried, far_figures
from benchmarks.peers import deviations
from dsebo.config import RunConfig

FIGURES = far_figures()


@pytest.mark.parametrize("far", FIGURES, ids=lambda far: f"{far.function}-{far.method}")
def test_each_far_figure_has_been_looked_into(far: Far) -> None:
    assert abs(far.apart) > FAR
    assert far.tried
    assert f"| {far.function} | {far.method} |" in peer_experiments.TABLE.read_text()


def test_the_committed_table_is_that_of_the_committed_runs() -> None:
    """`python -m benchmarks.peer_experiments` writes it: also after `benchmarks.peers` has added rows."""
    assert peer_experiments.TABLE.read_text() == peer_experiments.table()


def test_the_nearest_change_is_the_one_with_the_least_distance() -> None:
    paper = (10.0, 2.0)
    near, over = (
        Tried("sphere", pd.Series(values), paper, Experiment("hesbo", name))
        for name, values in {"near": [11.0, 13.0], "over": [90.0]}.items()
    )
    assert deviations(near.best, paper) == 1.0
    assert Far("sphere", pd.Series([1.0]), paper, "hesbo", (over, near)).nearest is near


@pytest.mark.parametrize(
    ("method", "words", "rows", "worse"),
    [
        ("alebo", (" of its polytope", " of its polytope, d = 50"), 12, 7),
        ("alebo", (" of its polytope, with half its b", " of its polytope, with half its b, d = 50"), 12, 12),
        ("rducb", ("",), 6, 6),
    ],
)
def test_what_is_printed_is_no_better_than_random_points_without_a_model(
    method: str, words: tuple[str, ...], rows: int, worse: int
) -> None:
    """The Paper page says so of ALEBO; of RDUCB it finds it in the runs it has."""
    changes = {NO_MODEL + after for after in words}
    of_all = [one for one in all_tried() if one.experiment.method == method]
    tried = [one for one in of_all if one.experiment.change in changes]
    assert len(tried) == rows
    assert {one.best.size for one in tried} == {10}
    assert sum(one.apart < 0 for one in tried) == worse


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: f"{one.method}-{one.change}")
def test_each_change_is_one_that_its_method_knows(experiment: Experiment) -> None:
    given = {
        "objective": {"name": experiment.functions[0], **experiment.objective},
        "optimizer": {"method": experiment.method, **experiment.settings},
    }
    assert RunConfig.parse(given).optimizer.method == experiment.method
