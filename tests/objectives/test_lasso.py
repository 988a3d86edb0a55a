"""The Lasso tasks: LassoBench's values, its data, and what is refused."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

from benchmarks.references import BEST_RANDOM, best_constant, references
from dsebo.analysis.facts import facts
from dsebo.analysis.floor import NoFloor, applies
from dsebo.config import parse_flat, predict
from dsebo.run import run
from objectives import LassoConfig
from objectives.fields import ConfigError
from objectives.lasso import NOISES, PRESETS, Support, _call, true_weights
from objectives.references import CENTRE

HARD = LassoConfig(name="lasso-hard")
GOLDEN = [
    (np.zeros(1000), 7.87712228, 1e-6),
    (np.sin(np.arange(1000)), 115.36408025, 1e-6),
    (-np.ones(1000), 2.4765, 2e-5),
    (np.ones(1000), 99.149, 5e-6),
]


@pytest.mark.parametrize(("x", "value", "within"), GOLDEN)
def test_values_of_lasso_hard_are_those_of_lassobench(x: Any, value: float, within: float) -> None:
    assert float(HARD.build()(x[None])[0]) == pytest.approx(value, rel=within)


def test_the_noisy_task_has_other_data() -> None:
    quiet, noisy = (LassoConfig(noise=noise).build().at_centre() for noise in NOISES)
    assert quiet == pytest.approx(4.67685, rel=1e-5)
    assert noisy != pytest.approx(quiet, rel=0.1)


def test_the_presets_have_their_sizes_and_true_weights() -> None:
    sizes = [(p.features, p.samples, p.active) for p in PRESETS.values()]
    assert sizes == [(60, 30, 3), (100, 50, 5), (300, 150, 15), (1000, 500, 50)]
    for preset in PRESETS.values():
        weights = true_weights(preset)
        (active,) = np.nonzero(weights)
        assert list(active) == [i * preset.features // preset.active for i in range(preset.active)]
        assert list(weights[active[:3]]) == [1.0, -1.0, 1.0]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.full((1, 60), math.nan), "finite"),
        (np.full((1, 60), math.inf), "finite"),
        (np.full((1, 60), 1.5), r"\[-1, 1\]\^60"),
        (np.zeros((1, 59)), r"takes \(n, 60\)"),
        (np.zeros(60), r"takes \(n, 60\)"),
    ],
)
def test_bad_points_are_refused_in_a_sentence(x: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LassoConfig().build()(x)


@pytest.mark.parametrize("bad", [{"function": "lasso-huge"}, {"noise": "loud"}, {"noise": 0.5}, {"D": 60}])
def test_bad_settings_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        parse_flat({"function": "lasso-simple", **bad})


def test_without_celer_the_extra_is_named_and_stored_runs_can_be_read(monkeypatch: Any) -> None:
    config = parse_flat({"function": "lasso-hard", "method": "random"})
    monkeypatch.setitem(sys.modules, "celer", None)
    words = r"lasso-hard needs celer: pip install 'dsebo\[tasks\]'\."
    with pytest.raises(ConfigError, match=words):
        next(run(config))
    assert config.from_json(config.to_json()) == config
    assert facts(config).at_centre == pytest.approx(7.87712228, rel=1e-6)


@pytest.mark.slow
def test_reference_lines_are_what_is_computed() -> None:
    known = LassoConfig(name="lasso-simple").references()
    assert list(known) == [CENTRE, "best constant λ", BEST_RANDOM]
    assert known == pytest.approx(references(LassoConfig(name="lasso-simple")), rel=1e-9)


@pytest.mark.slow
def test_one_constant_penalty_beats_the_papers_dsebo() -> None:
    known = HARD.references()
    assert best_constant(HARD.build()) == pytest.approx(known["best constant λ"], rel=1e-9)


def test_what_a_reader_must_see_beside_every_curve() -> None:
    known = HARD.references()
    assert known["best constant λ"] < 3.86  # the paper's DSEBO
    assert known[CENTRE] < 31  # its REMBO, HesBO and random search
    assert 40 < known[BEST_RANDOM] < 55


def test_there_is_no_floor_and_no_gradient() -> None:
    with pytest.raises(NoFloor, match="lasso-hard has no gradients"):
        applies(parse_flat({"function": "lasso-hard"}))


def test_the_time_of_evaluations_is_predicted() -> None:
    flat = {"method": "random", "budget": 500}
    hard, plain = (predict(parse_flat({**flat, "function": name})) for name in ("lasso-hard", "sphere"))
    assert hard.seconds > 20 * plain.seconds  # both have D = 1000


def test_a_run_is_the_same_twice_and_its_support_is_seen() -> None:
    flat = {"function": "lasso-simple", "method": "random", "budget": 6}
    first, again = ([e.to_json() for e in run(parse_flat(flat))] for _ in range(2))
    values = [[e["y"] for e in events if e["event"] == "evaluated"] for events in (first, again)]
    assert values[0] == values[1]
    assert first[0]["at_centre"] == pytest.approx(4.67685, rel=1e-5)
    assert json.dumps(first[0]["config"]["objective"]) == (
        '{"kind": "lasso", "name": "lasso-simple", "noise": "noiseless"}'
    )


def test_the_support_is_counted() -> None:
    shown = Support(np.array([1.0, 0.0, -1.0, 0.0, 1.0]), np.array([0.3, 0.2, -0.1, 0.0, 0.0]))
    assert (shown.hits, shown.false) == (2, 1)
    assert shown.f1 == pytest.approx(2 * 2 / (3 + 3))
    assert isinstance(LassoConfig().build().portrait(np.zeros(60)), Support)


def test_values_do_not_depend_on_how_they_are_computed() -> None:
    """In a process without AVX-512 or, where the processor has none, here."""
    points = np.random.default_rng(0).uniform(-1, 1, (2, 60))
    batch = _call("lasso-simple", "noiseless", "values", points)
    alone = [float(LassoConfig().build()(point[None])[0]) for point in points]
    assert list(batch) == alone
