"""The config: defaults, JSON both ways, and one sentence for everything that is not allowed."""

import contextlib
import json
import math
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsebo.config import BARE, MAX_BUDGET, METHODS, RunConfig, all_specs, config_hash, flat_config, parse_flat
from objectives import KINDS, names
from objectives.fields import MAX_SEED, ConfigError, must, not_one_of

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


OURS = {  # each of our own rules, and what the paper has, or what asks for it
    "growth": "patience",
    "steps": "last",
    "first_point": "random",
    "acquisition": "bound",
    "region": False,
    "lengthscales": "per-dimension",
    "least_noise": 1e-4,
    "most_data": 0,
    "alpha_mode": "gained",
    "stop": 0.05,
    "blocks": 0,
    "probes": 100,
}


@pytest.mark.parametrize("rule", OURS)
def test_each_of_our_own_rules_has_a_symbol_and_help_and_is_switched_alone(rule: str) -> None:
    spec = next(spec for spec in all_specs("dsebo")["optimizer"] if spec.name == rule)
    assert spec.symbol
    assert spec.help
    ours = RunConfig.parse({"optimizer": {"variant": "adaptive"}}).optimizer.model_dump()
    changed = RunConfig.parse({"optimizer": {"variant": "adaptive", rule: OURS[rule]}}).optimizer.model_dump()
    assert {name for name in ours if ours[name] != changed[name]} == {rule}


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


def of_field(part: str, name: str, got: Any) -> str:
    """The sentence about a value that a field does not take."""
    known = {spec.name: spec for spec in all_specs("dsebo")[part]}
    return must(name, known[name].allowed, got)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"objective": {"d_e": 1001}}, must("d_e", "a whole number from 1 to D = 1000", 1001)),
    ({"objective": {"name": "rosenbrock", "d_e": 1}}, must("d_e", "a whole number from 2 to D = 1000", 1)),
    ({"optimizer": {"d_l": 30, "d_h": 20}}, must("d_l", "a whole number from 1 to d_h = 20", 30)),
    ({"optimizer": {"d_h": 1001}}, must("d_h", "a whole number from d_l = 5 to D = 1000", 1001)),
    ({"optimizer": {"beta": 0}}, must("beta", "a finite number above 0, at most 1000000", 0)),
    ({"optimizer": {"beta": -1.5}}, of_field("optimizer", "beta", -1.5)),
    ({"optimizer": {"beta": math.nan}}, of_field("optimizer", "beta", math.nan)),
    ({"optimizer": {"alpha": math.inf}}, of_field("optimizer", "alpha", math.inf)),
    ({"budget": 1}, must("budget", f"a whole number from 2 to {MAX_BUDGET}", 1)),
    ({"budget": math.nan}, of_field("", "budget", math.nan)),
    ({"objective": {"K": 0}}, must("K", "a finite number above 0", 0)),
    ({"objective": {"c": math.inf}}, must("c", "a finite number", math.inf)),
    ({"objective": {"c": "NaN"}}, must("c", "a finite number", "NaN")),
    ({"objective": {"name": "spheer"}}, "Did you mean 'sphere'?"),
    ({"objective": {"name": 5}}, not_one_of("function", names(), 5)),
    ({"objective": {"kind": "other"}}, not_one_of("kind", KINDS, "other")),
    ({"objective": {"D": 0}}, of_field("objective", "D", 0)),
    ({"optimizer": {"betta": 3}}, "betta is not a field of optimizer. Did you mean beta?"),
    ({"objective": {"name": "lasso-simple", "D": 7}}, "lasso-simple has no setting D: it is fixed."),
    ({"objective": {"name": "limo", "d_e": 7}}, "limo has no setting d_e."),
    ({"objective": {"k": 7}}, "sphere has no setting k."),
    ({"optimiser": {}}, "optimiser is not a field of the config."),
    ({"optimizer": {"method": "simplex"}}, not_one_of("method", METHODS, "simplex")),
    ({"optimizer": {"method": "random", "beta": 3}}, "beta is not a field of optimizer."),
    ({"optimizer": {"variant": "other"}}, must("variant", "one of paper, authors, adaptive", "other")),
    ({"seed": -1}, of_field("", "seed", -1)),
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
    with pytest.raises(ConfigError, match=" must be "):
        parse_flat({"D": 60, "d_e": 3}, base)


def test_a_number_beyond_all_floats_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="D must be"):
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


def test_d_e_follows_d_where_it_is_not_given() -> None:
    small = RunConfig.parse({"objective": {"D": 20}}).objective.model_dump()
    assert (small["kind"], small["d_e"]) == ("embedded", 20)
    with pytest.raises(ConfigError, match="d_e must be a whole number from 2 to D = 1"):
        RunConfig.parse({"objective": {"name": "rosenbrock", "D": 1}})


def test_a_config_without_a_kind_is_that_of_its_name() -> None:
    whole = RunConfig.parse({"objective": {"kind": "embedded", "name": "levy"}})
    assert RunConfig.parse({"objective": {"name": "levy"}}) == whole
    assert (whole.function, whole.D) == ("levy", 1000)


def test_names_are_unique_over_kinds_and_settings_over_parts() -> None:
    assert len(set(names())) == len(names())
    of_kinds = {name for kind in KINDS.values() for name in kind.model_fields} - {"kind", "name"}
    of_methods = {name for method in METHODS.values() for name in method.model_fields} - {"method"}
    assert not of_kinds & of_methods
    assert not (of_kinds | of_methods) & set(RunConfig.model_fields)


def test_one_lookup_by_name_serves_every_part() -> None:
    config = parse_flat({"function": "levy", "D": 50, "beta": 4.0, "budget": 20})
    settings = {name: config.setting(name) for name in ("function", "method", "D", "beta", "budget", "seed")}
    assert list(settings.values()) == ["levy", "dsebo", 50, 4.0, 20, 1]
    assert parse_flat(flat_config(config)) == config
    with pytest.raises(KeyError):
        config.setting("gamma")


def test_what_was_given_is_told_from_defaults() -> None:
    usual = {"objective": {"name": "sphere"}, "optimizer": {"method": "dsebo"}}
    assert RunConfig.parse({}).given() == usual
    flat = {"D": 20, "c": 10.0, "function": "griewank", "variant": "authors", "kappa_scale": 1.0, "d_h": 3}
    assert parse_flat({**flat, "d_l": 3, "seed": 2}).given() == {
        "objective": {"name": "griewank", "D": 20},
        "optimizer": {"method": "dsebo", "variant": "authors", "d_h": 3},
        "seed": 2,
    }
    against = {"variant": "authors", "kappa_scale": 0.1}  # the paper's, which is not the variant's
    assert parse_flat(against).given()["optimizer"] == {"method": "dsebo", **against}


PARENT = "a" * 32


def test_a_fork_holds_the_settings_of_both_sides_of_its_point() -> None:
    plain = parse_flat({"budget": 60, "beta": 4.0})
    fork = plain.forked(PARENT, None, 17, 7, {"beta": 8, "budget": 80})
    assert RunConfig.from_json(fork.to_json()) == fork
    assert (fork.setting("beta"), fork.budget, fork.forks[0].before) == (8.0, 80, {"beta": 4.0, "budget": 60})
    assert fork.parent() == fork.at(16) == plain
    assert fork.at(17) == fork
    again = fork.forked("b" * 32, "c" * 64, 29, None, {"alpha": 0.1})
    assert [part.at for part in again.forks] == [17, 29]
    assert (again.at(28), again.at(16)) == (fork, plain)


def test_up_to_its_own_point_the_history_of_a_fork_is_its_parents() -> None:
    plain = parse_flat({"beta": 4.0})
    fork = plain.forked(PARENT, None, 17, 7, {"beta": 8})
    assert fork.forked("b" * 32, None, 9, 2) == plain.forked(PARENT, None, 9, 2)
    there = fork.forked("b" * 32, None, 17, None, {"alpha": 0.1})  # what is not changed stays: the step too
    assert there == plain.forked(PARENT, None, 17, 7, {"beta": 8, "alpha": 0.1})


def test_the_hash_of_a_fork_is_not_that_of_a_plain_run() -> None:
    plain = parse_flat({"beta": 4.0})
    forks = [
        plain.forked(PARENT, None, 17),
        plain.forked("b" * 32, None, 17),
        plain.forked(PARENT, "c" * 64, 17),
        plain.forked(PARENT, None, 18),
        plain.forked(PARENT, None, 17, 7),
        plain.forked(PARENT, None, 17, None, {"beta": 8}),
    ]
    assert len({config_hash(config) for config in [plain, parse_flat({"beta": 8}), *forks]}) == 8
    assert "forks" not in plain.model_dump()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"function": "levy"},
            "A fork cannot change function: the history it shares is of the same function.",
        ),
        ({"D": 50}, "A fork cannot change D: the history"),
        ({"d_e": 5}, "A fork cannot change d_e: the history"),
        ({"c": 2.0}, "A fork cannot change c: the history"),
        ({"K": 5.0}, "A fork cannot change K: the history"),
        ({"coordinates": "random"}, "A fork cannot change coordinates: the history"),
        ({"seed": 5}, "A fork cannot change seed: the history"),
        ({"method": "turbo"}, "A fork cannot change method: the history"),
        ({"variant": "authors"}, "A fork cannot change variant: its rules have counted"),
        ({"d_l": 6}, "A fork cannot change d_l: the run has begun with it."),
        ({"d_h": 90}, "A fork cannot change d_h: S has been drawn with entries of variance 1/d_h."),
        ({"embedding_seed": 3}, "A fork cannot change embedding_seed: S has been drawn with it."),
        ({"gamma": 3}, "gamma is not a setting of the method dsebo."),
        ({"beta": 0}, "beta must be"),
        ({"budget": 400}, "budget must be 500, its parent's, or more (got 400)."),
    ],
)
def test_what_a_fork_cannot_change_is_refused_with_the_reason(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        parse_flat({}).forked(PARENT, None, 17, None, changes)


def test_what_cannot_be_a_fork_is_refused() -> None:
    with pytest.raises(ConfigError, match="A run of TuRBO-1 cannot be forked: it has no convergences"):
        parse_flat({"method": "turbo"}).forked(PARENT, None, 17)
    with pytest.raises(ConfigError, match=re.escape("decide must be a whole number, 0 or more (got -1).")):
        parse_flat({}).forked(PARENT, None, 17, -1)
    fork = parse_flat({}).forked(PARENT, None, 17).model_dump(mode="json")
    for before, why in (
        ({"d_h": 9}, "cannot change d_h"),
        ({"gamma": 1}, "gamma is not"),
        ({"beta": "x"}, "beta"),
    ):
        part = {**fork["forks"][0], "before": before}
        with pytest.raises(ConfigError, match=why):
            RunConfig.parse({**fork, "forks": [part]})
    with pytest.raises(ConfigError, match="A fork of a fork must be later than that one"):
        RunConfig.parse({**fork, "forks": fork["forks"] * 2})
    with pytest.raises(ConfigError):
        RunConfig.parse({**fork, "forks": [{**fork["forks"][0], "at": i + 1} for i in range(21)]})


SOME = {
    "function": st.sampled_from(["sphere", "levy", "griewank"]),
    "method": st.sampled_from(["dsebo", "random", "rembo", "turbo"]),
    "D": st.sampled_from([40, 60, 1000]),
    "d_e": st.integers(1, 40),
    "c": st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    "budget": st.sampled_from([20, 500]),
    "seed": st.integers(0, 3),
}


@given(st.fixed_dictionaries({}, optional=SOME), st.fixed_dictionaries({}, optional=SOME))
def test_the_same_settings_have_the_same_hash_and_others_another(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = parse_flat(one), parse_flat(other)
    assert RunConfig.parse(first.given()) == first
    spelled_out = RunConfig.parse(first.model_dump())
    assert config_hash(spelled_out) == config_hash(first)
    assert (config_hash(first) == config_hash(second)) == (first == second)
    assert config_hash(first, "1.2") != config_hash(first)


@pytest.mark.parametrize("method", METHODS)
def test_any_setting_that_differs_changes_the_hash(method: str) -> None:
    usual = parse_flat({"method": method, "D": 200})
    hashes = {config_hash(usual)}
    changed = 0
    for spec in [spec for part in all_specs(method).values() for spec in part]:
        value = usual.setting(spec.name)
        others = spec.choices if spec.kind == "choice" else (not value,) if spec.kind == "bool" else (1, 2, 7)
        for another in others:
            with contextlib.suppress(ConfigError):
                config = parse_flat({**flat_config(usual), spec.name: another})
                hashes.add(config_hash(config))
                changed += config.setting(spec.name) != value
    assert len(hashes) == 1 + changed
