"""Colours and dashes: the same for a method everywhere."""

from __future__ import annotations

import itertools
import math

import pytest

from dsebo.charts import theme
from dsebo.charts.theme import DASHES, SEQUENCE, STYLES, method_style, styles_for, styles_of, value_styles
from dsebo.config import METHODS


def test_every_method_has_a_style_of_its_own() -> None:
    styles = {method: method_style(method) for method in METHODS}
    assert len(set(styles.values())) == len(METHODS)
    assert set(STYLES) <= set(METHODS)


def lab(colour: str) -> tuple[float, float, float]:
    """A hex colour in CIELAB, white point D65, where distances are about as seen."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_two_colours_of_methods_are_never_nearly_the_same() -> None:
    used = {method_style(method)[0] for method in METHODS}
    for palette in (used, {colour for colour, _ in theme.SERIES}, set(theme.COLOURS)):
        for one, other in itertools.combinations(sorted(palette), 2):
            assert math.dist(lab(one), lab(other)) >= 25, (one, other)  # blue and sky: 16
    assert method_style("dsebo")[0] != method_style("hesbo")[0]


def test_a_method_that_nobody_listed_has_a_style_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    toys = [f"toy-{i}" for i in range(15)]
    alone = method_style("toy-0")
    monkeypatch.setattr(theme, "METHODS", {**METHODS, **dict.fromkeys(toys, METHODS["random"])})
    styles = {method: method_style(method) for method in (*METHODS, *toys)}
    assert len(set(styles.values())) == len(styles)
    assert styles["toy-0"] == alone
    assert {method: styles[method] for method in STYLES} == STYLES


def test_a_method_that_runs_twice_keeps_its_colour() -> None:
    methods = {"REMBO": "rembo", "REMBO, DSEBO's scale": "rembo", "Random search": "random"}
    styles = styles_of(methods)
    assert styles["REMBO"] == STYLES["rembo"]
    assert styles["REMBO, DSEBO's scale"][0] == styles["REMBO"][0]
    assert len(set(styles.values())) == 3
    assert styles_of({"Random search": "random"})["Random search"] == styles["Random search"]
    many = styles_of({f"DSEBO, β = {i}": "dsebo" for i in range(20)})
    assert len(set(many.values())) == 20


def test_numbers_are_in_order_on_a_scale_and_names_are_not() -> None:
    styles = value_styles("beta", [32, 1, 8, 12, 8])
    assert list(styles) == [1, 8, 12, 32]
    assert (styles[1][0], styles[32][0]) == (SEQUENCE[0], SEQUENCE[-1])
    assert len({colour for colour, _ in styles.values()}) == 4
    assert value_styles("beta", [12]) == {12: theme.series_style(0)}
    assert value_styles("variant", ["paper", "authors"])["paper"] == theme.series_style(0)
    assert value_styles("method", ["random", "rembo:d=5"]) == {
        "random": STYLES["random"],
        "rembo:d=5": STYLES["rembo"],
    }


def test_one_value_has_one_colour_whatever_else_varies() -> None:
    cells = {f"{b} {h}": {"beta": b, "d_h": h} for b in (1, 8, 12) for h in (60, 100)}
    styles = styles_for(cells)
    alone = value_styles("d_h", [60, 100])
    assert all(styles[label][0] == alone[cell["d_h"]][0] for label, cell in cells.items())
    for dash, beta in zip(DASHES, (1, 8, 12), strict=False):
        assert {styles[f"{beta} {d_h}"][1] for d_h in (60, 100)} == {dash}
    # what goes along with another setting needs no dash of its own
    assert styles_for({"a": {"D": 10, "d_h": 5}, "b": {"D": 90, "d_h": 9}})["b"] == (SEQUENCE[-1], DASHES[1])
    methods = {"DSEBO": {"method": "dsebo", "beta": 12}, "TuRBO": {"method": "turbo", "beta": None}}
    assert styles_for(methods) == {"DSEBO": STYLES["dsebo"], "TuRBO": STYLES["turbo"]}
    assert len(set(styles_for({"a": {}, "b": {}}).values())) == 2
    # one thing at a time: colours of their own, and none that another method has
    told = [("dsebo", 5, 12, 100), ("dsebo", 1, 32, 100), ("dsebo", 1, 12, 20), ("random", 1, None, None)]
    mixed = styles_for({str(t): dict(zip(("method", "c", "beta", "d_h"), t, strict=True)) for t in told})
    assert len({colour for colour, _ in mixed.values()}) == 4
    assert mixed[str(told[-1])] == STYLES["random"]
