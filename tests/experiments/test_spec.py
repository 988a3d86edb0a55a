from __future__ import annotations

from typing import Any

import pytest

from dsebo.config import METHODS, RunConfig, config_hash
from dsebo.experiments.spec import MAX_PLANNED, ExperimentSpec
from dsebo.paper.presets import PRESETS
from dsebo.parsing import config_flags, sweepable
from objectives.fields import ConfigError
from tests.experiments.helpers import BASE, spec


def test_cells_and_runs() -> None:
    found = spec({"beta": [4, 8], "function": ["sphere", "levy"]}, seeds="1,3")
    labels = [cell.label for cell in found.cells()]
    assert labels == ["β = 4, Sphere", "β = 4, Levy", "β = 8, Sphere", "β = 8, Levy"]
    planned = found.planned()
    assert len(planned) == found.total == 8
    assert [one.seed for one in planned[:3]] == [1, 3, 1]
    last = planned[-1]
    assert (last.cell.index, last.config.seed, last.config.objective.name) == (3, 3, "levy")
    assert last.config.optimizer.beta == 8.0  # type: ignore[union-attr]
    assert len({one.hash for one in planned}) == 8
    assert all(one.hash == config_hash(one.config) for one in planned)
    assert all(one.config == found.config(one.cell, one.seed) for one in planned)


def test_flags_files_and_json_say_the_same() -> None:
    by_flags = ExperimentSpec.from_flags(BASE, ["beta=4,8,12", "d-h=10:20:5"], "1-3,7")
    text = """
        base: {objective: {name: sphere, D: 50, d_e: 5},
               optimizer: {method: dsebo, d_l: 2, d_h: 20, beta: 4}, budget: 12}
        axes: {beta: [4, 8, 12], d_h: "10:20:5"}
        seeds: 1-3,7
    """
    assert ExperimentSpec.from_yaml(text) == by_flags
    assert by_flags.seeds == (1, 2, 3, 7)
    assert by_flags.axes[1].values == (10, 15, 20)
    assert ExperimentSpec.model_validate_json(by_flags.to_json()) == by_flags
    assert ExperimentSpec.from_yaml(by_flags.to_yaml()) == by_flags
    assert by_flags.name == "β and dₕ on Sphere, D = 50"


def test_ranges_of_fractions_are_what_they_look_like() -> None:
    found = ExperimentSpec.from_flags({}, ["c=0.1:0.5:0.1"], "1")
    assert found.axes[0].values == (0.1, 0.2, 0.3, 0.4, 0.5)


def test_values_are_the_configs_own() -> None:
    found = spec({"beta": [4, "8"], "fit_outputscale": [True, "no"]})
    assert [type(value) for value in found.axes[0].values] == [float, float]
    assert found.axes[1].values == (True, False)


def test_another_method_drops_what_it_does_not_have() -> None:
    base = {**BASE, "optimizer": {"beta": 8, "kappa_scale": 0.5}}
    found = ExperimentSpec.parse({"base": base, "axes": {"method": ["dsebo", "random", "rembo"]}})
    dsebo, random, rembo = (found.config(cell, 1).optimizer for cell in found.cells())
    assert (dsebo.beta, dsebo.kappa_scale) == (8.0, 0.5)  # type: ignore[union-attr]
    assert random == METHODS["random"]()
    assert rembo.kappa_scale == 0.5  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("objective", "shifts"), [({}, [1.0, 10.0]), ({"c": 3}, [3.0, 3.0]), ({"c": 1}, [1.0, 1.0])]
)
def test_another_function_has_its_own_shift(objective: dict[str, Any], shifts: list[float]) -> None:
    axes = {"function": ["sphere", "griewank"]}
    found = ExperimentSpec.parse({"base": {"objective": objective}, "axes": axes})
    assert [found.config(cell, 1).objective.c for cell in found.cells()] == shifts


def test_a_whole_config_as_base_follows_the_cells_defaults() -> None:
    whole = RunConfig.parse({"objective": {"D": 1000, "d_e": 5}, "optimizer": {"beta": 8}})
    base = whole.model_dump(mode="json")
    found = ExperimentSpec.parse({"base": base, "axes": {"D": [50, 200], "function": ["levy", "sphere"]}})
    configs = [found.config(cell, 1) for cell in found.cells()]
    assert [(c.objective.D, c.objective.c, c.optimizer.d_h) for c in configs] == [  # type: ignore[union-attr]
        (50, 0.0, 50),
        (50, 1.0, 50),
        (200, 0.0, 100),
        (200, 1.0, 100),
    ]
    assert all(c.optimizer.beta == 8.0 for c in configs)  # type: ignore[union-attr]
    assert "seed" not in found.base
    variants = ExperimentSpec.parse({"base": base, "axes": {"variant": ["paper", "authors"]}})
    assert variants.config(variants.cells()[1], 1).optimizer.kappa_scale == 1.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "experiment must be an object with named fields \\(got 5\\)"),
        ({}, "One to 3 different settings must vary \\(got none\\)"),
        ({"axes": {"a": 1}, "x": 1}, "x is not a field of an experiment"),
        ({"axes": {"beta": [1]}}, r"beta must have from 2 to 200 values, all different \(got \[1\]\)"),
        ({"axes": {"beta": [1, 1.0]}}, "all different"),
        ({"axes": {"beta": [1, 2], "D": [9, 99], "c": [1, 2], "d_e": [3, 4]}}, "One to 3 different settings"),
        ({"axes": {"gamma": [1, 2]}}, "What varies must be a setting of a run \\(got 'gamma'\\)"),
        ({"axes": {"seed": [1, 2]}}, "an experiment has its seeds"),
        ({"axes": {"beta": [1, None]}}, "beta must be a number or a name \\(got None\\)"),
        ({"axes": {"beta": [1, float("inf")]}}, "beta must be a number or a name \\(got inf\\)"),
        ({"axes": {"beta": "1:9"}}, "a range from:to:step"),
        ({"axes": {"beta": "1:9:0"}}, "a range from:to:step"),
        ({"axes": {"beta": "1:1e9:1"}}, "at most 200 values"),
        ({"axes": {"beta": [1, 2]}, "seeds": "1-"}, "seeds must be numbers as 1-10"),
        ({"axes": {"beta": [1, 2]}, "seeds": "9-1"}, "from the least to the largest"),
        ({"axes": {"beta": [1, 2]}, "seeds": [1, 1]}, "seeds must all be different"),
        ({"axes": {"beta": [1, 2]}, "seeds": [True]}, "A seed must be a whole number .* \\(got True\\)"),
        ({"axes": {"beta": [1, 2]}, "seeds": [-1]}, "A seed must be a whole number .* \\(got -1\\)"),
        ({"axes": {"beta": [1, 2]}, "base": [1]}, "base must be an object with named fields"),
        ({"axes": {"beta": [1, 2]}, "base": {"what": 1}}, "what is not a field of the config"),
        ({"axes": {"beta": [1, 2]}, "name": "x" * 200}, "at most 120 characters .got 200"),
        ({"axes": {"function": ["levy", "no"]}}, "Cell No: function must be one of .*got 'no'"),
        (
            {"axes": {"method": ["random", "dsebo"], "beta": [1, 2]}},
            "Cell Random search, β = 1: beta is not a setting of the method random",
        ),
        (
            {"axes": {"d_h": [60, 80]}, "base": {"objective": {"D": 70}}},
            "Cell dₕ = 80: d_h must be a whole number",
        ),
        ({"axes": {"beta": "1:101:1", "c": "1:101:1"}}, f"at most {MAX_PLANNED}"),
    ],
)
def test_bad_sweeps_are_refused_in_one_sentence(given: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ExperimentSpec.parse(given)


@pytest.mark.parametrize("text", ["a: [", "", "- 1", "a: &a [*a]", "!!python/object:os.system {}"])
def test_bad_files_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        ExperimentSpec.from_yaml(text)


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("{budget: 2020-01-01}", "Cell β = 2: budget must be .*got '2020-01-01'"),
        ("{objective: {D: 2020-01-01 10:00:00}}", "D must be .*got '2020-01-01 10:00:00'"),
        ("{budget: !!binary aGFsbG8=}", "budget must be .*hallo"),
        ("{2020-01-01: 5}", "The experiment is not YAML"),
    ],
)
def test_what_json_does_not_have_is_refused_in_one_sentence(base: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        ExperimentSpec.from_yaml(f"base: {base}\naxes: {{beta: [2, 4]}}")
    assert len(str(refused.value).splitlines()) == 1


def test_every_setting_can_be_named() -> None:
    assert {"beta", "d_h", "c", "d_e", "D", "function", "method", "budget"} <= set(sweepable())
    assert set(sweepable()) == {*config_flags(), "method"} - {"seed"}


def test_presets_are_the_papers_sweeps_and_two_of_ours() -> None:
    by_key = {preset.key: preset for preset in PRESETS}
    assert len(by_key) == len(PRESETS) == 12
    full = {
        key: by_key[key].spec.axes[0].values for key in ("beta", "d_h", "c", "d_e", "variant", "embeddings")
    }
    assert full == {
        "beta": (1, 4, 8, 12, 16, 24, 32),
        "d_h": (60, 80, 100, 120),
        "c": (0.1, 1, 2, 3, 4, 5),
        "d_e": (10, 30, 50, 70, 90),
        "variant": ("paper", "adaptive"),
        "embeddings": (1, 2, 4),
    }
    assert len({preset.title for preset in PRESETS}) == len(PRESETS)  # a list tells them apart by it
    for preset in PRESETS:
        config = preset.spec.planned()[0].config
        assert config.objective.D == 1000
        assert preset.small == (config.budget < 500)
        assert preset.spec.axes[0].values == full[preset.key.removesuffix("-small")]
