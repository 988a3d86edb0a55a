"""Colours and dashes: the same for a method everywhere."""

from __future__ import annotations

import pytest

from dsebo.charts import theme
from dsebo.charts.theme import STYLES, method_style, styles_of
from dsebo.config import METHODS


def test_every_method_has_a_style_of_its_own() -> None:
    styles = {method: method_style(method) for method in METHODS}
    assert len(set(styles.values())) == len(METHODS)
    assert set(STYLES) <= set(METHODS)


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
