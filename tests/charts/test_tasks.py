"""The pictures of real tasks."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from dsebo.charts.scales import References, task_lines
from dsebo.charts.tasks import portrait_sketch
from dsebo.config import parse_flat
from dsebo.ui.run.picture import MOST, improvements
from objectives import LassoConfig
from objectives.lasso import Support
from objectives.limo import Molecule
from objectives.mslr import EXTRAPOLATED, Placement
from objectives.references import CENTRE

TRUE = np.array([1.0, 0.0, -1.0, 0.0])


def test_the_support_found_stands_beside_the_true_one() -> None:
    early, late = (Support(TRUE, np.array(found)) for found in ([0, 0.2, 0, 0], [0.9, 0, -0.8, 0.1]))
    figure = portrait_sketch([(3, early), (9, late)], budget=40, t=12).figure()
    true, hits, false, f1 = figure.data
    assert list(true.x) == [1, 3]
    assert list(hits.x) == [1, 3]
    assert list(false.x) == [4]
    assert list(f1.x) == [3, 9, 12]
    assert list(f1.y) == pytest.approx([0.0, 0.8, 0.8])
    assert "2 of 2 true features found, 1 others" in figure.layout.annotations[0].text
    assert "evaluation 9" in figure.layout.annotations[0].text


def test_the_molecule_is_drawn_and_its_value_over_time() -> None:
    early, late = Molecule("CCO"), Molecule("C" * 20)
    figure = portrait_sketch([(3, early), (9, late)], budget=40, t=12).figure()
    (image,) = figure.layout.images
    drawn = base64.b64decode(image.source.removeprefix("data:image/svg+xml;base64,")).decode()
    assert "<svg" in drawn
    assert drawn.count("class='bond-") >= 19
    label, over_time = figure.data
    assert "CCCCCCCC" in label.hovertemplate
    assert list(over_time.x) == [3, 9, 12]
    assert list(over_time.y) == pytest.approx([early.value, late.value, late.value])
    words = [note.text for note in figure.layout.annotations]
    assert "Penalised logP 6.98" in words[0]
    assert "evaluation 9" in words[0]
    assert "LIMO-style, our own smaller VAE" in words[1]


def test_a_point_has_its_place_among_all_rows() -> None:
    rows = np.linspace(0.0, 3.0, 1001)
    early, late = (Placement(rows, found, True) for found in (1.5, 3.2))
    figure = portrait_sketch([(3, early)], budget=40, t=5).figure()
    assert "place 501 among 1001 synthetic rows" in figure.layout.annotations[0].text
    assert list(figure.data[1].x) == [502]
    figure = portrait_sketch([(3, early), (9, late)], budget=40, t=12).figure()
    line, found, over_time = figure.data
    assert (line.x[0], line.x[-1]) == (1, 1001)
    assert (list(found.x), list(found.y)) == ([1002], [3.2])
    assert list(over_time.y) == pytest.approx([1.5, 3.2, 3.2])
    words = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
    assert "above all 1001 synthetic rows" in words
    assert EXTRAPOLATED in words


def test_a_picture_is_drawn_of_improvements_only() -> None:
    y = [np.nan, 5.0, 6.0, 4.0, np.nan, 4.0, 3.0]
    assert improvements(np.array(y)) == [2, 4, 7]
    assert improvements(np.array(y[:1])) == []
    many = improvements(np.arange(500.0, 0.0, -1.0))
    assert len(many) == MOST
    assert (many[0], many[-1]) == (1, 500)


def test_lines_of_a_task_are_drawn_beside_its_curves() -> None:
    config = LassoConfig(name="lasso-simple")
    lines = task_lines([config.model_dump()])
    assert lines == {name: value for name, value in config.references().items() if name != CENTRE}
    assert len(lines) == 2
    labels = [label for _, label in References(at_centre=4.7, of_task=lines).on_value_axis()]
    assert any(label.startswith("best constant λ ") for label in labels)
    noisy = config.model_copy(update={"noise": "noisy"})
    assert task_lines([config.model_dump(), noisy.model_dump()]) == {}
    assert task_lines([parse_flat({}).objective.model_dump()]) == {}
