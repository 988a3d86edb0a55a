"""Runs beside each other: in what two of them differ."""

from __future__ import annotations

from dsebo.config import parse_flat
from dsebo.ui.experiments.compare import differences


def test_settings_and_forks_that_differ() -> None:
    plain, other = (parse_flat({"beta": beta, "min_step": 1}).model_dump(mode="json") for beta in (4, 8))
    assert differences(plain, plain) == []
    assert differences(plain, other) == [("β", "4", "8")]
    forked = {**plain, "forks": [{"run": "1a2b3c4d5e6f", "at": 17, "before": {}, "decide": 7}]}
    assert differences(plain, forked) == [("fork", "–", "fork of 1a2b3c4d at 17, Δd = 7")]
    random = parse_flat({"method": "random"}).model_dump(mode="json")
    assert ("β", "4", "–") in differences(plain, random)
