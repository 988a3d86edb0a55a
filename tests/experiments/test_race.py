"""Races as data: who, on what, from which seeds; launched together; who leads."""

from __future__ import annotations

import numpy as np
import pytest

from dsebo.experiments.race import (
    FAMILIES,
    Entrant,
    Race,
    blocks,
    entrant_of,
    label_of,
    parse_seeds,
    parse_settings,
    seeds_text,
)
from dsebo.experiments.standings import CENTRE, TAG, Result, launch, launch_seeds, refusal, standings
from dsebo.runs.manager import RunManager
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store.errors import LimitExceeded
from dsebo.store.store import Store
from objectives.fields import ConfigError
from tests.small import wait_state

TASK = {"function": "sphere", "D": 40, "d_e": 4, "budget": 12}


def test_every_entrant_gets_the_same_function_and_its_own_settings() -> None:
    race = Race.parse("dsebo, turbo,random,dsebo", {**TASK, "beta": 3, "d_h": 10}, "4-5")
    assert [entrant.text for entrant in race.entrants] == ["dsebo", "turbo", "random"]
    configs = [config for _, config in race.configs()]
    assert len({config.objective for config in configs}) == 1
    assert {config.budget for config in configs} == {12}
    assert [config.seed for config in configs] == [4, 5, 4, 5, 4, 5]
    assert configs[0].optimizer.model_dump()["beta"] == 3
    assert configs[0].optimizer.model_dump()["d_h"] == 10
    assert not hasattr(configs[4].optimizer, "beta")


def test_one_method_may_run_twice_with_different_settings() -> None:
    race = Race.parse("rembo,rembo:scale=dsebo:d=7,rembo:scale=unit", TASK, "1")
    labels = [label_of(race.config(one).model_dump(mode="json")) for one in race.entrants]
    assert labels == ["REMBO", "REMBO, DSEBO's scale, d = 7", "REMBO, z in ±1"]
    assert Entrant.parse(race.entrants[1].text) == race.entrants[1]
    again = [entrant_of(race.config(one).model_dump(mode="json")) for one in race.entrants]
    assert tuple(again) == race.entrants


@pytest.mark.parametrize(
    ("methods", "settings", "seeds", "sentence"),
    [
        ("dsebo,simplex", {}, "1", "methods = 'simplex' is not allowed: one of dsebo, random"),
        (" , ", {}, "1", "methods is missing"),
        ("dsebo", {"d_e": 2000}, "1", "d_e must be .*got 2000"),
        ("turbo", {"beta": 8}, "1", "beta is not a setting of any of the methods"),
        ("dsebo", {"seed": 8}, "1", "seed is not allowed in a race: give seeds"),
        ("rembo:scale", {}, "1", "a setting as name=value"),
        ("rembo:beta=8", {}, "1", "beta is not a setting of rembo"),
        ("rembo:D=8", {}, "1", "D is not a setting of rembo"),
        ("rembo:d=zz", {}, "1", "d must be .*got 'zz'"),
        ("dsebo", {}, "1-", "seeds = '1-' is not allowed"),
        ("dsebo", {}, "3-1", "seeds = '3-1' is not allowed"),
        ("dsebo", {}, "1-1000", "1000 seeds are too many: at most 100"),
        ("dsebo", {}, "9999999999999999", "seed must be .*got 9999999999999999"),
        ("dsebo", {}, "1-90,101-190", "180 seeds are too many"),
        ("dsebo,random,turbo,baxus", {}, "1-90", "at most 300 runs"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    methods: str, settings: dict[str, object], seeds: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence.replace("(", r"\(")):
        Race.parse(methods, settings, seeds)


def test_seeds_as_people_write_them() -> None:
    assert parse_seeds("1-3, 7,2") == (1, 2, 3, 7)
    assert seeds_text((1, 2, 3, 7, 9, 10)) == "1-3,7,9-10"
    assert blocks((5, 1, 2)) == [(5, 1), (1, 2)]


def test_settings_as_people_write_them() -> None:
    given = parse_settings("beta=8, kernel=rbf ,fit_outputscale=true")
    assert given == {"beta": 8, "kernel": "rbf", "fit_outputscale": True}
    assert parse_settings(" ") == {}
    with pytest.raises(ConfigError, match="name=value"):
        parse_settings("beta")


def test_every_family_can_race() -> None:
    everyone = [entrant for family in FAMILIES.values() for entrant in family]
    race = Race.parse([entrant.text for entrant in everyone], TASK, "1")
    labels = [label_of(config.model_dump(mode="json")) for _, config in race.configs()]
    assert len(set(labels)) == len(everyone) == 23
    assert not any("=" in label for label in labels)


def test_a_label_survives_a_method_that_is_not_known_here() -> None:
    config = Race.parse("random", TASK, "1").config(Entrant("random")).model_dump(mode="json")
    assert label_of({**config, "optimizer": {"method": "annealing"}}) == "annealing"


def test_all_runs_of_a_race_are_put_on(manager: RunManager) -> None:
    race = Race.parse("random,dsebo", {**TASK, "d_h": 10}, "1-2,5")
    ids = launch(manager, race)
    rows = [wait_state(manager.store, run_id, "finished") for run_id in ids]
    assert [(row.method, row.seed) for row in rows] == [
        (method, seed) for method in ("random", "dsebo") for seed in (1, 2, 5)
    ]
    assert {row.tags for row in rows} == {(TAG,)}
    assert rows[3].name == "DSEBO, dₕ = 10 on sphere, D = 40"


def test_over_the_limit_nothing_starts_and_the_figure_is_said(store: Store) -> None:
    limits = LimitSettings(owner=Limits(seconds=20))
    manager = RunManager(store, Settings(limits=limits))
    race = Race.parse("random,dsebo", {"function": "sphere"}, "1-3")
    assert refusal(manager, [race.config(Entrant("random"))]) == ""
    with pytest.raises(LimitExceeded, match=r"predicted time of \d+ s is over the limit of 20 s"):
        launch(manager, race)
    assert store.count_runs() == 0
    manager.close()


def test_of_several_seeds_all_start_or_none(store: Store) -> None:
    """Seeds that do not follow one another are put on one after the other."""
    manager = RunManager(store, Settings(limits=LimitSettings(owner=Limits(active=1, queued=4))))
    config = Race.parse("random", TASK, "1").config(Entrant("random"))
    with pytest.raises(LimitExceeded, match="limit"):
        launch_seeds(manager, config, [1, *range(3, 11)])
    assert store.count_runs() == 0
    ids = launch_seeds(manager, config, [1, 3, 4])
    assert [wait_state(store, run_id, "finished").seed for run_id in ids] == [1, 3, 4]
    manager.close()


def test_standings_have_the_centre_among_the_methods() -> None:
    results = [
        Result("A", 4.0, 10, 2.0, True),
        Result("A", 6.0, 20, 4.0, False),
        Result("B", 1.0, None, 1.0, True),
        Result("C", None, None, 0.0, False),
    ]
    table = standings(results, 3.0)
    assert list(table["method"]) == ["B", CENTRE, "A", "C"]
    a = table.iloc[2]
    assert (a["runs"], a["ended"], a["mean"], a["best"]) == (2, 1, 5, 4)
    assert (a["d"], a["seconds"]) == (15, 3)
    assert a["std"] == pytest.approx(np.sqrt(2))
    assert np.isnan(table.iloc[0]["std"])
    assert np.isnan(table.iloc[3]["mean"])
    assert len(standings(results, None)) == 3
