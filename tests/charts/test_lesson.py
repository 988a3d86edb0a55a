"""What is drawn over a lesson's chart."""

from __future__ import annotations

from dsebo.charts.lesson import distribution


def test_the_distribution() -> None:
    bars = distribution(["9", "12", "9"], "12", numeric=True).data[0]
    assert list(bars.x) == ["9", "12"]
    assert list(bars.y) == [2, 1]
    assert list(bars.text) == ["", "the answer"]
    words = distribution(["Yes", "<b>"], "", numeric=False).data[0]
    assert "<" not in "".join(words.x)
