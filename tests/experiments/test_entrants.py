"""Races as data: who, on what, from which seeds; what their runs are called."""

from __future__ import annotations

import pytest

from dsebo.config import METHODS
from dsebo.experiments.entrants import FAMILIES, Entrant, are_clipped, entrant_of, label_of
from dsebo.experiments.spec import ExperimentSpec
from dsebo.experiments.status import cell_labels
from dsebo.parsing import read_settings
from dsebo.text import method_name, seeds_text
from objectives.fields import ConfigError

TASK = {"function": "sphere", "D": 40, "d_e": 4, "budget": 12}


def test_every_entrant_gets_the_same_function_and_its_own_settings() -> None:
    race = ExperimentSpec.race("dsebo, turbo,random,dsebo", {**TASK, "beta": 3, "d_h": 10}, "4-5")
    assert race.is_race
    assert race.axes[0].values == ("dsebo", "turbo", "random")
    assert race.name == "Race on Sphere, D = 40"
    configs = [planned.config for planned in race.planned()]
    assert len({config.objective for config in configs}) == 1
    assert {config.budget for config in configs} == {12}
    assert [config.seed for config in configs] == [4, 5, 4, 5, 4, 5]
    assert configs[0].optimizer.model_dump()["beta"] == 3
    assert configs[0].optimizer.model_dump()["d_h"] == 10
    assert not hasattr(configs[4].optimizer, "beta")
    assert race.run_name(race.planned()[0]) == "DSEBO, β = 3, dₕ = 10 on Sphere, D = 40"


def test_a_race_is_written_as_a_file_as_well() -> None:
    race = ExperimentSpec.race("dsebo,rembo:scale=dsebo:d=7", TASK, "1-2")
    assert ExperimentSpec.from_yaml(race.to_yaml()) == race
    flags = ExperimentSpec.from_flags(race.base, ["method=dsebo, rembo:scale=dsebo:d=7"], "1-2")
    assert flags == race
    assert [cell.label for cell in race.cells()] == ["DSEBO", "REMBO, DSEBO's scale, d = 7"]
    one = ExperimentSpec.race("turbo", TASK, "3")
    assert (one.total, one.planned()[0].config.optimizer.method) == (1, "turbo")


def test_one_method_may_run_twice_with_different_settings() -> None:
    race = ExperimentSpec.race("rembo,rembo:scale=dsebo:d=7,rembo:scale=unit", TASK, "1")
    assert cell_labels(race) == ["REMBO", "REMBO, DSEBO's scale, d = 7", "REMBO, z in ±1"]
    again = [entrant_of(config.model_dump(mode="json")).text for config in race.first_configs()]
    assert tuple(again) == race.axes[0].values


@pytest.mark.parametrize("value", [0.1234567, 1e-9, 8.0, 3])
def test_an_entrant_is_the_same_after_its_text(value: float) -> None:
    entrant = Entrant("dsebo", (("beta", value), ("variant", "authors")))
    assert Entrant.parse(entrant.text) == entrant
    assert Entrant.parse(" dsebo : beta = 8 ").text == "dsebo:beta=8"


def test_which_scales_are_clipped() -> None:
    for methods, clipped in (("rembo", True), ("bandit-softmax,dsebo", True), ("rembo:scale=dsebo", False)):
        assert are_clipped(ExperimentSpec.race(methods, TASK, "1").first_configs()) is clipped


@pytest.mark.parametrize(
    ("methods", "settings", "seeds", "sentence"),
    [
        ("dsebo,simplex", {}, "1", "method must be one of dsebo, random"),
        (" , ", {}, "1", "methods is missing"),
        ("dsebo", {"d_e": 2000}, "1", "d_e must be a whole number"),
        ("turbo", {"beta": 8}, "1", "beta is not a setting of any of the methods"),
        ("dsebo", {"seed": 8}, "1", "A race has several seeds: give seeds, not seed"),
        ("rembo:scale", {}, "1", ":setting=value for what differs"),
        ("rembo:beta=8", {}, "1", "beta is not a setting of rembo"),
        ("rembo:D=8", {}, "1", "D is not a setting of rembo"),
        ("rembo:d=zz", {}, "1", "d must be a whole number"),
        ("dsebo", {}, "1-", "seeds must be numbers as 1-10"),
        ("dsebo", {}, "3-1", "seeds must be from the least"),
        ("dsebo", {}, "1-1000", "1000 seeds are too many: at most 100"),
        ("dsebo", {}, "9999999999999999", "A seed must be a whole number"),
        ("dsebo", {}, "1-90,101-190", "180 seeds are too many"),
        ("dsebo,random,turbo,baxus", {}, "1-90", "at most 300 runs"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    methods: str, settings: dict[str, object], seeds: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        ExperimentSpec.race(methods, settings, seeds)


def test_seeds_as_people_write_them() -> None:
    assert ExperimentSpec.race("random", TASK, "1-3, 7,2").seeds == (1, 2, 3, 7)
    assert seeds_text((1, 2, 3, 7, 9, 10)) == "1-3,7,9-10"
    assert seeds_text([]) == ""


def test_settings_as_people_write_them() -> None:
    given = read_settings("beta=8, kernel=rbf ,fit_outputscale=true")
    assert given == {"beta": 8, "kernel": "rbf", "fit_outputscale": True}
    assert read_settings(" ") == {}
    with pytest.raises(ConfigError, match="name=value"):
        read_settings("beta")


def test_every_family_can_race() -> None:
    everyone = [entrant for family in FAMILIES.values() for entrant in family]
    race = ExperimentSpec.race([entrant.text for entrant in everyone], TASK, "1")
    labels = cell_labels(race)
    assert len(set(labels)) == len(everyone) > len(METHODS)
    assert {entrant.method for entrant in everyone} == set(METHODS) - {"centre"}  # it is in every race
    assert not any("=" in label for label in labels)
    assert labels == [method_name(str(value)) for value in race.axes[0].values]


def test_a_label_survives_a_method_that_is_not_known_here() -> None:
    config = ExperimentSpec.race("random", TASK, "1").first_configs()[0].model_dump(mode="json")
    assert label_of({**config, "optimizer": {"method": "annealing"}}) == "annealing"
    assert label_of({**config, "objective": {"name": "unheard-of", "D": 5}}) == "Random search"
