"""Runs that differ in more than two settings, as lines through their settings."""

from __future__ import annotations

import numpy as np
import pytest

from dsebo.charts.parallel import parallel_figure
from dsebo.charts.theme import SEQUENCE


def test_settings_and_values_on_axes_that_tell_them_apart() -> None:
    settings = [
        {"K": k, "c": c, "method": m} for k in (10, 1000) for c in (1.0, 3.0) for m in ("dsebo", "random")
    ]
    best = [float(v) for v in np.geomspace(0.1, 100, len(settings))]
    lines = parallel_figure(settings, ["K", "c", "method"], best).data[0]
    K, c, method, final = lines.dimensions
    assert [axis.label for axis in lines.dimensions] == ["K, log axis", "c", "method", "best value, log axis"]
    assert list(K.tickvals) == pytest.approx([1, 3])
    assert list(K.ticktext) == ["10", "1000"]
    assert list(c.tickvals) == [1, 3]
    assert list(method.ticktext) == ["DSEBO", "Random search"]
    assert final.ticktext[0] == "0.1"
    assert final.ticktext[-1] == "100"
    # blue is low, as the words under it say
    assert not lines.line.reversescale
    assert lines.line.colorscale[0] == (0, SEQUENCE[0])
    assert np.argmin(lines.line.color) == 0


def test_no_tick_stands_on_another_and_the_first_axis_has_room_for_its_names() -> None:
    settings = [{"method": name, "c": c} for name in ("random", "bandit-successive-halving") for c in (1, 2)]
    figure = parallel_figure(settings, ["method", "c"], [0.233, 0.809, 0.852, 20.8])
    assert list(figure.data[0].dimensions[-1].ticktext) == ["0.233", "0.809", "20.8"]
    longest = max(map(len, figure.data[0].dimensions[0].ticktext))
    assert figure.layout.margin.l >= 8 * longest > 70


def test_between_the_ends_of_a_logarithmic_axis_are_round_numbers() -> None:
    best = [float(v) for v in np.geomspace(0.13, 890, 12)]
    figure = parallel_figure([{"c": c} for c in range(12)], ["c"], best)
    assert list(figure.data[0].dimensions[-1].ticktext) == ["0.13", "1", "10", "100", "890"]
