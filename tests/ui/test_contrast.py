"""Contrast as WCAG 2 asks for at level AA, in both themes: 4.5 for words, 3 for lines and marks."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dsebo.charts import theme
from dsebo.charts.curves import OUT_OF_REACH, WITHIN_REACH

THEMES = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())["theme"]
CAPTION = 0.75  # as in style.css: the share of the text's colour
LINES = {
    *theme.COLOURS,
    *theme.SEQUENCE,
    *(colour for colour, _ in theme.STYLES.values()),
    *(colour for colour, _ in theme.SERIES),
    *(colour for colour, _ in theme.value_styles("beta", range(9)).values()),
    theme.GREY,
}


@pytest.fixture(params=["light", "dark"])
def named(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def over(colour: str, ground: str) -> str:
    """What a transparent colour looks like on a ground."""
    red, green, blue, alpha = (float(part) for part in colour[5:-1].split(","))
    solid = "#" + "".join(f"{round(part):02X}" for part in (red, green, blue))
    return theme.mixed(ground, solid, alpha)


def test_words_are_legible_on_every_ground(named: str) -> None:
    chosen: dict[str, Any] = THEMES[named]
    grounds = [chosen["backgroundColor"], chosen["secondaryBackgroundColor"], *chosen["sidebar"].values()]
    for ground in grounds:
        assert theme.contrast(chosen["textColor"], ground) >= 7
        caption = theme.mixed(ground, chosen["textColor"], CAPTION)
        assert theme.contrast(caption, ground) >= 4.5
        assert theme.contrast(chosen["linkColor"], ground) >= 4.5
    assert theme.contrast(chosen["backgroundColor"], chosen["primaryColor"]) >= 4.5  # words on a button


def test_coloured_words_and_lines_of_charts_are_legible(named: str) -> None:
    ground = THEMES[named]["backgroundColor"]
    for colour in theme.WORDS[named].values():
        assert theme.contrast(colour, ground) >= 4.5, colour
    for colour in LINES | {THEMES[named]["primaryColor"]}:
        assert theme.contrast(colour, ground) >= 3, colour
    # whatever colour a note has on the page is one that has a shade for words
    assert set(theme.WORDS["light"]) == set(theme.WORDS["dark"]) == {theme.VERMILLION, theme.PURPLE}


def test_the_areas_can_be_told_from_the_ground_and_from_one_another(named: str) -> None:
    ground = THEMES[named]["backgroundColor"]
    within, out = over(WITHIN_REACH, ground), over(OUT_OF_REACH, ground)
    assert theme.contrast(within, ground) >= 1.2
    assert theme.contrast(out, ground) >= 1.2
    assert theme.contrast(theme.PURPLE, out) >= 2  # the hatching of one of them
    assert theme.contrast(theme.PURPLE, within) >= 2  # the line between them
