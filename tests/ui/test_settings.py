"""Links and forms: what a form says survives a link, and a bad link does no harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as text

from dsebo.config import METHODS
from dsebo.ui import values as form
from dsebo.ui.presets import BY_KEY, PRESETS
from objectives.fields import ConfigError


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_survives_its_link(preset) -> None:  # type: ignore[no-untyped-def]
    settings = preset.settings()
    again, said = form.from_url(form.to_url(settings))
    assert said == []
    assert form.same(again, settings)
    form.to_config(settings)


def test_the_presets_that_a_teacher_needs() -> None:
    of = {key: preset.settings() for key, preset in BY_KEY.items()}
    assert of["dh-small"]["d_h"] < of["dh-small"]["d_e"]
    assert (of["beta-small"]["beta"], of["beta-large"]["beta"]) == (1.0, 32.0)
    assert (of["far-shift"]["function"], of["far-shift"]["c"]) == ("sphere", 5.0)
    assert of["large-D"]["D"] == 10_000
    demo = of["demo"]
    assert demo["budget"] / demo["speed"] == 20  # seconds
    assert form.same(of["paper"], form.defaults())


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_has_a_form_that_makes_its_config(method: str) -> None:
    settings = form.defaults(method)
    assert form.to_config(settings).optimizer.method == method
    assert {spec.name for spec in form.fields(method)} >= {"D", "budget", "repeats"}
    assert form.same(form.from_url(form.to_url(settings))[0], settings)


def test_the_form_has_every_field_of_the_issue_with_help_and_range() -> None:
    specs = {spec.name: spec for spec in form.fields("dsebo")}
    for name in (
        "function",
        "D",
        "d_e",
        "c",
        "K",
        "beta",
        "d_l",
        "d_h",
        "budget",
        "seed",
        "repeats",
        "variant",
    ):
        assert specs[name].help
        assert specs[name].allowed
        assert not specs[name].advanced


def test_a_short_link_brings_the_defaults_that_depend_on_it() -> None:
    settings, said = form.from_url({"D": "50", "function": "griewank"})
    assert said == []
    assert (settings["d_h"], settings["c"]) == (50, 10.0)
    authors, _ = form.from_url({"variant": "authors"})
    assert authors["kappa_scale"] == 1.0


@pytest.mark.parametrize(
    ("link", "part"),
    [
        ({"D": "abc"}, "a whole number from 1"),
        ({"D": "-4"}, "a whole number from 1"),
        ({"D": "1e9"}, "a whole number"),
        ({"beta": "0"}, "above 0"),
        ({"beta": "nan"}, "a finite number"),
        ({"c": "inf"}, "a finite number"),
        ({"function": "<script>"}, "one of sphere"),
        ({"variant": "other"}, "one of paper, authors"),
        ({"seed": "9" * 60}, "a whole number"),
        ({"repeats": "1000000"}, "to 100"),
        ({"speed": "-1"}, "above 0"),
        ({"method": "no"}, "one of dsebo"),
        ({"nonsense": "1"}, "is not a setting"),
    ],
)
def test_a_bad_link_gives_one_sentence_and_a_usable_form(link: dict[str, str], part: str) -> None:
    settings, said = form.from_url(link)
    assert len(said) == 1
    assert part in said[0]
    form.to_config(settings)


def test_values_that_do_not_fit_together_are_left_to_the_form() -> None:
    settings, said = form.from_url({"d_e": "50", "D": "20"})
    assert said == []
    with pytest.raises(ConfigError, match=r"d_e must be .*got 50"):
        form.to_config(settings)


@given(text.dictionaries(text.sampled_from(["D", "c", "beta", "x", "method", "seed"]), text.text()))
def test_no_link_breaks_the_form(link: dict[str, str]) -> None:
    settings, _ = form.from_url(link)
    form.to_url(settings)
