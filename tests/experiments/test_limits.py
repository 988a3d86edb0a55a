from __future__ import annotations

import threading
import time

import pytest

from dsebo.experiments.limits import MAX_AT_WORK, experiment_check
from dsebo.experiments.progress import plan
from dsebo.experiments.records import claim, create_experiment, list_experiments, tell
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.limits import check_limits
from dsebo.runs.manager import RunManager
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store.errors import LimitExceeded
from dsebo.store.store import Store
from tests.experiments.helpers import make, random_spec, spec


def limited(mode: str = "local", **owner: float) -> Settings:
    return Settings(mode=mode, limits=LimitSettings(owner=Limits(**owner)))  # type: ignore[arg-type]


def ask(store: Store, settings: Settings, sweep: ExperimentSpec, owner: str = "local") -> str:
    return create_experiment(store, sweep, owner, experiment_check(settings, owner, sweep))


@pytest.mark.parametrize("first", ["experiment", "runs"])
def test_a_neighbour_that_launches_meanwhile_does_not_break_the_limit(
    any_url: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks between the check and the rows of the first: it waits, and then is refused."""
    store, other = Store.open(any_url), Store.open(any_url)
    race = ExperimentSpec.race("random,dsebo", {"D": 50, "d_e": 5, "budget": 12}, "1-3")
    settings = limited(seconds=1.5 * plan(store, race).seconds)
    outcomes: list[str] = []

    def launch() -> None:
        try:
            outcomes.append(ask(other, settings, race, "local"))
        except LimitExceeded as error:
            outcomes.append(str(error))

    neighbour = threading.Thread(target=launch)

    def dawdle() -> None:
        neighbour.start()
        time.sleep(0.4)
        assert not outcomes

    manager = RunManager(store, settings)
    if first == "experiment":
        check = experiment_check(settings, "local", race)
        create_experiment(store, race, check=lambda connection: (check(connection), dawdle())[1])
    else:
        monkeypatch.setattr(
            "dsebo.runs.manager.check_limits", lambda *args: (check_limits(*args), dawdle())[1]
        )
        configs = [planned.config.with_seed(planned.seed + 50) for planned in race.planned()]
        manager.launch(configs, paused=True)
    neighbour.join()
    assert len(outcomes) == 1
    assert "A predicted time of" in outcomes[0]
    assert (len(list_experiments(store)), store.count_runs()) == ((1, 0) if first == "experiment" else (0, 6))
    manager.close()
    store.close()
    other.close()


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"seconds": 0.1}, r"A predicted time of 1 s is over the limit of 0.1 s for an owner"),
        ({"memory_mb": 1}, r"A predicted memory of \d MB is over the limit of 1 MB for an owner"),
        ({"budget": 5}, "budget must be within the limit of 5 evaluations"),
        ({"D": 10}, "D must be within the limit of 10"),
    ],
)
def test_too_much_is_refused_with_the_figure(store: Store, limit: dict[str, float], said: str) -> None:
    with pytest.raises(LimitExceeded, match=said):
        ask(store, limited(**limit), spec(seeds="1-3"))
    assert list_experiments(store) == []


def test_what_is_in_the_store_costs_nothing(store: Store) -> None:
    sweep = spec(seeds="1")
    settings = limited(seconds=1.2 * plan(store, sweep).seconds / 2)
    with pytest.raises(LimitExceeded):
        ask(store, settings, sweep)
    make(store, sweep.planned()[0].config)
    assert ask(store, settings, sweep)


def test_other_sweeps_at_work_count(store: Store) -> None:
    sweep = spec(seeds="1-5")
    settings = limited(seconds=1.5 * plan(store, sweep).seconds)
    first = ask(store, settings, sweep)
    with pytest.raises(LimitExceeded, match="predicted time"):
        ask(store, settings, sweep)
    assert tell(store, first, "cancel") is None
    assert ask(store, settings, sweep)


def test_a_student_has_one_sweep_at_a_time(store: Store) -> None:
    settings = limited("class", seconds=1000)
    first = ask(store, settings, random_spec(), "anna")
    assert ask(store, settings, random_spec(), "ben")
    with pytest.raises(LimitExceeded, match="1 experiment at work is the limit for an owner"):
        ask(store, settings, random_spec(), "anna")
    tell(store, first, "cancel")
    assert ask(store, settings, random_spec(), "anna")


def test_there_is_a_limit_for_all(store: Store) -> None:
    settings = limited()
    for _ in range(MAX_AT_WORK):
        claim(store, ask(store, settings, random_spec()), 1)
    with pytest.raises(LimitExceeded, match=f"{MAX_AT_WORK} experiments at work are the limit"):
        ask(store, settings, random_spec())
