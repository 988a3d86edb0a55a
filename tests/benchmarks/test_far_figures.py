"""A figure far from the printed one has an experiment that says what would bring it nearer."""

import pandas as pd
import pytest

from benchmarks import peer_experiments
from benchmarks.peer_changes import EXPERIMENTS, Experiment
from benchmarks.peer_experiments import FAR, Far, Tried, far_figures
from benchmarks.peers import deviations
from dsebo.config import RunConfig

FIGURES = far_figures()


@pytest.mark.parametrize("far", FIGURES, ids=lambda far: f"{far.function}-{far.method}")
def test_each_far_figure_has_been_looked_into(far: Far) -> None:
    assert abs(far.apart) > FAR
    assert far.tried
    assert f"| {far.function} | {far.method} |" in peer_experiments.TABLE.read_text()


def test_the_committed_table_is_that_of_the_committed_runs() -> None:
    assert peer_experiments.TABLE.read_text() == peer_experiments.table()


def test_the_nearest_change_is_the_one_with_the_least_distance() -> None:
    paper = (10.0, 2.0)
    near, over = (
        Tried("sphere", pd.Series(values), paper, Experiment("hesbo", name))
        for name, values in {"near": [11.0, 13.0], "over": [90.0]}.items()
    )
    assert deviations(near.best, paper) == 1.0
    assert Far("sphere", pd.Series([1.0]), paper, "hesbo", (over, near)).nearest is near


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: f"{one.method}-{one.change}")
def test_each_change_is_one_that_its_method_knows(experiment: Experiment) -> None:
    given = {
        "objective": {"name": experiment.functions[0], **experiment.objective},
        "optimizer": {"method": experiment.method, **experiment.settings},
    }
    assert RunConfig.parse(given).optimizer.method == experiment.method
