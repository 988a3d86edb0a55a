from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dsebo.experiments.spec import ExperimentSpec
from dsebo.experiments.status import CENTRE, RUN_COLUMNS, race_standings, standings
from tests.experiments.frames import progress


def test_standings_have_the_centre_among_the_methods() -> None:
    rows = [
        ("A", 4.0, 10, 2.0, True),
        ("A", 6.0, 20, 4.0, False),
        ("B", 1.0, None, 1.0, True),
        ("C", None, None, 0.0, False),
    ]
    runs = pd.DataFrame(rows, columns=list(RUN_COLUMNS))
    table = standings(runs, 3.0)
    assert list(table["method"]) == ["B", CENTRE, "A", "C"]
    a = table.iloc[2]
    assert (a["runs"], a["ended"], a["mean"], a["best"]) == (2, 1, 5, 4)
    assert (a["d"], a["seconds"]) == (15, 3)
    assert a["std"] == pytest.approx(np.sqrt(2))
    assert np.isnan(table.iloc[0]["std"])
    assert np.isnan(table.iloc[3]["mean"])
    assert len(standings(runs, None)) == 3


def test_standings_of_a_race_are_of_the_runs_that_have_begun() -> None:
    spec = ExperimentSpec.race("dsebo:beta=3,random", {"D": 40, "d_e": 4, "budget": 12}, "1-2")
    frame = progress({("dsebo:beta=3",): [5.0, 3.0], ("random",): [2.0, None]}, ["method"], centre=1.0)
    table = race_standings(spec, frame)
    assert list(table["method"]) == [CENTRE, "Random search", "DSEBO, β = 3"]
    assert list(table["runs"]) == [1, 1, 2]
