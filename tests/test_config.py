"""The config: defaults, JSON both ways, and one sentence for everything that is not allowed."""

import json
import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsebo.config import BARE, METHODS, RunConfig, all_specs, parse_flat
from objectives.fields import MAX_SEED, ConfigError

SAMPLE = {
    "objective": {
        "name": "sphere",
        "D": 1000,
        "d_e": 30,
        "c": 1.0,
        "K": 10000,
        "coordinates": "first",
        "coordinates_seed": 0,
    },
    "optimizer": {"method": "dsebo", "variant": "paper", "d_l": 5, "d_h": 100, "beta": 12, "alpha": 0.5},
    "budget": 500,
    "seed": 1,
}


def test_the_designs_sample_is_the_default() -> None:
    assert RunConfig.parse(SAMPLE) == RunConfig.parse({})
    assert json.loads(RunConfig.parse({}).to_json())["optimizer"]["embedding_seed"] is None


def test_json_both_ways() -> None:
    config = RunConfig.parse({"objective": {"name": "levy", "D": 77}, "optimizer": {"beta": 3.5}})
    assert RunConfig.from_json(config.to_json()) == config


def test_defaults_that_depend_on_other_settings() -> None:
    small = RunConfig.parse({"objective": {"D": 3, "d_e": 2}})
    assert (small.optimizer.d_h, small.optimizer.d_l) == (3, 3)  # type: ignore[union-attr]
    assert RunConfig.parse({"objective": {"name": "griewank"}}).objective.c == 10
    authors = RunConfig.parse({"optimizer": {"variant": "authors", "kappa_scale": 0.5}}).optimizer
    assert (authors.targets, authors.kappa_scale) == ("centred", 0.5)  # type: ignore[union-attr]


def test_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        RunConfig.parse({}).seed = 2  # type: ignore[misc]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"objective": {"d_e": 1001}}, "d_e = 1001 is not allowed: a whole number from 1 to D = 1000."),
    ({"objective": {"name": "rosenbrock", "d_e": 1}}, "d_e = 1 is not allowed"),
    ({"optimizer": {"d_l": 30, "d_h": 20}}, "d_l must be a whole number from 1 to d_h = 20 (got 30)."),
    ({"optimizer": {"d_h": 1001}}, "d_h must be a whole number from d_l = 5 to D = 1000 (got 1001)."),
    ({"optimizer": {"beta": 0}}, "beta = 0 is not allowed: a finite number above 0"),
    ({"optimizer": {"beta": -1.5}}, "beta = -1.5 is not allowed"),
    ({"optimizer": {"beta": math.nan}}, "beta = nan is not allowed"),
    ({"optimizer": {"alpha": math.inf}}, "alpha = inf is not allowed"),
    ({"budget": 1}, "budget = 1 is not allowed: a whole number from 2 to"),
    ({"budget": math.nan}, "budget = nan is not allowed"),
    ({"objective": {"K": 0}}, "K = 0 is not allowed: a finite number above 0."),
    ({"objective": {"c": math.inf}}, "c = inf is not allowed: a finite number."),
    ({"objective": {"c": "NaN"}}, "c = 'NaN' is not allowed: a finite number."),
    ({"objective": {"name": "spheer"}}, "Did you mean 'sphere'?"),
    ({"objective": {"D": 0}}, "D = 0 is not allowed"),
    ({"optimizer": {"betta": 3}}, "betta is not a field of optimizer. Did you mean beta?"),
    ({"optimiser": {}}, "optimiser is not a field of the config."),
    ({"optimizer": {"method": "simplex"}}, "method = 'simplex' is not allowed: one of dsebo"),
    ({"optimizer": {"method": "random", "beta": 3}}, "beta is not a field of optimizer."),
    ({"optimizer": {"variant": "other"}}, "variant = 'other' is not allowed: one of paper"),
    ({"seed": -1}, "seed = -1 is not allowed"),
]


@pytest.mark.parametrize(("given_config", "sentence"), BAD)
def test_one_sentence_names_field_value_and_range(given_config: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RunConfig.parse(given_config)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["objective", "optimizer", "budget", "seed", "name", "D", "d_h", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_is_given_is_a_config_or_a_sentence(given_config: Any) -> None:
    try:
        config = RunConfig.parse(given_config)
    except ConfigError:
        return  # any other exception fails the test
    assert RunConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    "base", [{"optimizer": None}, {"optimizer": [1]}, {"optimizer": {"method": ["x"]}}, {"objective": 3}]
)
def test_a_file_with_flags_over_it_is_a_config_or_a_sentence(base: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="is not allowed"):
        parse_flat({"D": 60, "d_e": 3}, base)


def test_a_number_beyond_all_floats_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="D = "):
        RunConfig.parse({"objective": {"D": 10**400}})


@pytest.mark.parametrize("D", [50, 50.0, "50"])
def test_defaults_follow_d_however_it_is_written(D: Any) -> None:
    config = RunConfig.parse({"objective": {"D": D, "d_e": 5}})
    assert config.optimizer.model_dump()["d_h"] == 50


@given(st.text(max_size=30))
def test_whatever_text_is_a_config_or_a_sentence(text: str) -> None:
    with pytest.raises(ConfigError):
        RunConfig.from_json("[" + text)


def test_every_setting_can_be_shown() -> None:
    for method in METHODS:
        for found in all_specs(method).values():
            for spec in found:
                assert spec.label
                assert spec.help.endswith(".")
                assert spec.allowed


def test_the_bare_method_has_no_settings_of_its_own() -> None:
    assert all_specs(BARE)["optimizer"] == []


def test_flat_settings_find_their_part() -> None:
    config = parse_flat({"function": "levy", "D": 50, "d_e": 5, "beta": 4.0, "budget": 20})
    assert (config.objective.name, config.objective.D, config.budget) == ("levy", 50, 20)
    over = parse_flat({"seed": 9}, base=config.model_dump(mode="json"))
    assert over == config.with_seed(9)


def test_surprises_are_said_beforehand() -> None:
    config = RunConfig.parse({"objective": {"D": 20, "d_e": 3}, "optimizer": {"beta": 40}})
    assert any("never grows" in warning for warning in config.warnings())
    assert RunConfig.parse({}).warnings() == []


def test_a_config_is_checked_without_torch() -> None:
    code = "import sys, dsebo, dsebo.config; dsebo.RunConfig.parse({}); print('torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_seeds_are_counted_up_from_the_configs_own() -> None:
    config = RunConfig.parse({"seed": 5})
    assert [one.seed for one in config.seeds(3)] == [5, 6, 7]
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ConfigError, match="must be a whole number, 1 or more"):
            config.seeds(wrong)
    with pytest.raises(ConfigError, match="seed must be at most"):
        config.with_seed(MAX_SEED).seeds(2)
