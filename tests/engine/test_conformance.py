"""Every method passes the same suite."""

from collections.abc import Callable
from typing import Any

import pytest

from dsebo.config import METHODS, RunConfig
from tests.conformance import CHECKS, config_of

# Settings under which a short run meets what the method is about (an expansion, for DSEBO).
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("dsebo", {"beta": 4, "d_l": 2, "d_h": 20}),
    ("dsebo", {"beta": 4, "d_l": 2, "d_h": 20, "variant": "authors"}),
    ("dsebo", {"beta": 6, "d_l": 2, "d_h": 12, "kernel": "rbf", "alpha_mode": "relative"}),
    ("random", {}),
    ("centre", {}),
]


def test_every_method_is_here() -> None:
    assert {method for method, _ in SETTINGS} == set(METHODS)


@pytest.mark.parametrize(("method", "settings"), SETTINGS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conforms(
    method: str, settings: dict[str, Any], check: Callable[[RunConfig], None]
) -> None:
    check(config_of(method, **settings))
