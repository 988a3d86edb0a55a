"""Optuna's own tests of samplers.

Left out: categorical parameters given to `sample_relative`, alone or among others. They are never in this
sampler's relative space; the independent sampler draws them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

optuna = pytest.importorskip("optuna")
suite = pytest.importorskip("optuna.testing.pytest_samplers")
from dsebo.integrations.optuna import DseboSampler  # noqa: E402


class TestSuite(
    suite.BasicSamplerTestCase,
    suite.RelativeSamplerTestCase,
    suite.SingleOnlySamplerTestCase,  # type: ignore[misc,name-defined]
):
    test_sample_relative_categorical = None
    test_sample_relative_mixed = None

    @pytest.fixture
    def sampler(self) -> Callable[[], DseboSampler]:
        return lambda: DseboSampler(20)
