"""Links and forms: what a form says survives a link, and a bad link does no harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as text

from dsebo.config import METHODS
from dsebo.parsing import launch_fields, read_link
from dsebo.ui import form
from dsebo.ui.run.start import BY_KEY, PRESETS
from objectives.fields import ConfigError


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_survives_its_link(preset) -> None:  # type: ignore[no-untyped-def]
    again, refused = read_link(form.link_of(preset.changes))
    assert refused == []
    assert form.complete(again) == form.complete(preset.changes)
    form.to_config(preset.changes)


def test_the_presets_that_a_teacher_needs() -> None:
    of = {key: form.complete(preset.changes) for key, preset in BY_KEY.items()}
    assert of["dh-small"]["d_h"] < of["dh-small"]["d_e"]
    assert (of["beta-small"]["beta"], of["beta-large"]["beta"]) == (1.0, 32.0)
    assert (of["far-shift"]["function"], of["far-shift"]["c"]) == ("sphere", 5.0)
    assert of["large-D"]["D"] == 10_000
    demo = of["demo"]
    assert demo["budget"] / demo["speed"] == 20  # seconds
    assert of["paper"] == form.complete({})


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_has_a_form_that_makes_its_config(method: str) -> None:
    settings = form.complete({"method": method})
    assert form.to_config(settings).optimizer.method == method
    assert {spec.name for spec in launch_fields(method, "sphere")} >= {"D", "budget", "repeats"}
    assert form.complete(read_link(form.link_of(settings))[0]) == settings
    assert form.changed(settings) == {"function": "sphere", "method": method}


def test_the_form_has_every_field_of_the_issue_with_help_and_range() -> None:
    specs = {spec.name: spec for spec in launch_fields("dsebo", "sphere")}
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
    changes, refused = read_link({"D": "50", "function": "griewank"})
    assert refused == []
    settings = form.complete(changes)
    assert (settings["d_h"], settings["c"]) == (50, 10.0)
    authors, _ = read_link({"variant": "authors"})
    assert form.complete(authors)["kappa_scale"] == 1.0


def test_a_form_hands_over_only_what_was_changed() -> None:
    values = form.complete({"D": 50, "function": "griewank", "beta": 3.0, "speed": 5.0})
    names = {"function": "griewank", "method": "dsebo"}
    assert form.changed(values) == {**names, "D": 50, "beta": 3.0, "speed": 5.0}
    assert form.changed({**values, "d_h": 40, "repeats": 2})["d_h"] == 40
    assert form.changed({**values, "c": 10.0}) == form.changed(values)


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
        ({"speed": "-1"}, "from 0.05"),
        ({"method": "no"}, "one of dsebo"),
        ({"nonsense": "1"}, "is not a setting"),
    ],
)
def test_a_bad_link_gives_one_sentence_and_a_usable_form(link: dict[str, str], part: str) -> None:
    changes, refused = read_link(link)
    assert len(refused) == 1
    assert part in refused[0]
    form.to_config(changes)


def test_values_that_do_not_fit_together_are_left_to_the_form() -> None:
    changes, refused = read_link({"d_e": "50", "D": "20"})
    assert refused == []
    with pytest.raises(ConfigError, match=r"d_e must be .*got 50"):
        form.to_config(changes)
    assert form.complete(changes)["D"] == 20


@given(text.dictionaries(text.sampled_from(["D", "c", "beta", "x", "method", "seed"]), text.text()))
def test_no_link_breaks_the_form(link: dict[str, str]) -> None:
    changes, _ = read_link(link)
    form.link_of(changes)
