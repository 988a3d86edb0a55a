"""The paper's rows beside our own: which runs count, their figures, and what is missing."""

from __future__ import annotations

import math

import pytest

from dsebo.config import RunConfig, parse_flat
from dsebo.experiments.spec import ExperimentSpec
from dsebo.paper.bundled import bundled_peer_runs, thin
from dsebo.paper.comparison import (
    METHODS_HERE,
    TITLES,
    FinalRun,
    PaperRow,
    apart,
    bundled_finals,
    command,
    other_references,
    own_runs,
    peer_finals,
    printed_mean,
    printed_rows,
    references,
    rows_of,
    setting_key,
    stored_finals,
    tasks,
    verdict,
)
from dsebo.run import run
from dsebo.runs.manager import RunManager
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes
from tests.small import wait_state


def row_of(method: str, table: int = 1, task: str = "Sphere") -> PaperRow:
    return next(row for row in rows_of(table, task) if row.label == method)


def final(row: PaperRow, seed: int, best: float | None, bundled: bool = False) -> FinalRun:
    return FinalRun(row.setting, seed, best, 30, 10.0 * seed, bundled)


def test_all_printed_rows_are_there() -> None:
    rows = [row for table in TITLES for task in tasks(table) for row in printed_rows(table, task)]
    assert len(rows) == 343
    assert tasks(1) == ["Rosenbrock", "Sphere", "Levy", "Griewank", "Dixon", "Michalewicz"]
    assert all(row.config.D == row.D for row in rows)
    assert {row.method for row in rows} == set(METHODS_HERE)


def test_a_rows_setting_is_the_papers_with_the_defaults_of_this_software() -> None:
    assert row_of("DSEBO").config == RunConfig()
    sirbo = row_of("SIRBO, d = 50", 3, "Dixon").config
    assert sirbo == parse_flat({"method": "sirbo", "d": 50, "D": 10_000, "function": "dixon-price"})
    assert row_of("TS", 4).config == parse_flat({"method": "bandit-thompson"})


@pytest.mark.parametrize("task", ["MSLR", "Lasso-Hard", "LIMO"])
def test_real_tasks_have_the_papers_settings_and_our_variants(task: str) -> None:
    hesbo = row_of("HesBO, d = 80", 2, task)
    assert hesbo.config == parse_flat({"function": task.lower(), "method": "hesbo", "d": 80})
    assert command(hesbo, [3]) == (
        f"dsebo race --methods hesbo:d=80 --function {task.lower()} --budget 500 --seeds 3"
    )
    ours = rows_of(5, task)[len(printed_rows(5, task)) :]
    assert [row.label for row in ours] == ["DSEBO, authors' variant", "DSEBO, our rules"]
    assert [row.config.setting("variant") for row in ours] == ["authors", "adaptive"]
    assert not any(row.printed or row.comparable for row in ours)
    assert [run.mean for run in (own_runs(ours[0], [final(ours[0], 1, 2.0)]),)] == [2.0]


def test_tasks_that_are_only_like_the_papers_are_not_compared_with_it() -> None:
    exact, like = row_of("DSEBO", 2, "Lasso-Hard"), row_of("DSEBO", 2, "LIMO")
    assert (exact.comparable, like.comparable) == (True, False)
    assert like.only_like == "LIMO-style, with our own smaller VAE"
    assert row_of("DSEBO", 2, "MSLR").only_like == "MSLR-style, on a generated set"
    said = verdict(like, own_runs(like, [final(like, 1, -4.0)]))
    assert said.endswith("The paper prints −10.7 for its own task, which ours is only like.")
    assert printed_mean(exact.config.model_dump(mode="json")) == 3.8613
    assert printed_mean(like.config.model_dump(mode="json")) is None


def test_centre_and_minimum_of_every_function() -> None:
    assert references(row_of("RDUCB")) == (pytest.approx(30.097), 0.0)
    assert references(row_of("DSEBO", 3, "Michalewicz"))[1] == pytest.approx(-29.6309, abs=1e-3)
    assert references(row_of("DSEBO", 5, "MSLR")) == (pytest.approx(-0.4867, abs=1e-4), None)
    assert other_references(row_of("RDUCB")) == {}
    lasso = row_of("TuRBO", 2, "Lasso-Hard")
    assert references(lasso)[0] == pytest.approx(7.87712228)
    assert list(other_references(lasso)) == ["best constant λ", "best of 500 random"]
    assert other_references(lasso)["best constant λ"] < row_of("DSEBO", 2, "Lasso-Hard").mean


def test_mean_std_and_difference_by_hand() -> None:
    row = row_of("DSEBO")
    own = own_runs(row, [final(row, 1, 2.0), final(row, 2, 4.0), final(row, 3, 9.0)])
    assert (own.mean, own.best, own.seconds, own.d) == (5.0, 2.0, 20.0, 30.0)
    assert own.std == pytest.approx(math.sqrt(13.0))
    assert apart(row, own) == pytest.approx((5.0 - 3.9387) / 1.3304)
    assert own.yours == 3


def test_one_run_has_no_spread_and_none_has_nothing() -> None:
    row = row_of("DSEBO")
    assert math.isnan(own_runs(row, [final(row, 1, 2.0)]).std)
    empty = own_runs(row, [])
    assert math.isnan(empty.mean)
    assert math.isnan(apart(row, empty))
    assert empty.missing == tuple(range(1, 11))


def test_a_seed_counts_once_and_the_bundled_run_of_it_first() -> None:
    row = row_of("DSEBO")
    runs = [final(row, 1, 8.0), final(row, 1, 2.0, True), final(row, 2, 4.0), final(row, 2, 4.0)]
    own = own_runs(row, runs)
    assert (own.seeds, own.bundled, own.yours, own.mean) == ((1, 2), 1, 1, 3.0)


def test_what_is_missing_are_the_smallest_free_seeds() -> None:
    row = row_of("DSEBO")
    own = own_runs(row, [final(row, 1, 2.0), final(row, 3, None), final(row, 40, 1.0)])
    assert own.under_way == (3,)
    assert own.missing == (2, 4, 5, 6, 7, 8, 9)
    assert command(row, own.missing) == (
        "dsebo race --methods dsebo --function sphere --D 1000 --budget 500 --seeds 2,4-9"
    )
    assert own_runs(row, [final(row, seed, 1.0) for seed in range(50, 60)]).missing == ()


@pytest.mark.parametrize(
    ("name", "table", "task"),
    [
        ("HesBO, d = 50", 3, "Levy"),
        ("REMBO, d = 30", 3, "Levy"),
        ("DSEBO", 3, "Levy"),
        ("SIRBO, d = 80", 2, "MSLR"),
        ("DSEBO, our rules", 2, "LIMO"),
    ],
)
def test_the_command_runs_exactly_the_row(name: str, table: int, task: str) -> None:
    row = row_of(name, table, task)
    words = command(row, [4]).split()
    flags = dict(zip(words[2::2], words[3::2], strict=True))
    methods, seeds = flags.pop("--methods"), flags.pop("--seeds")
    settings = {name[2:]: int(v) if v.isdecimal() else v for name, v in flags.items()}
    race = ExperimentSpec.race(methods, settings, seeds)
    assert race.first_configs()[0] == row.config.with_seed(4)


def test_only_exactly_the_same_setting_counts(manager: RunManager) -> None:
    """Another β, budget or variant is another setting; a seed is not."""
    plain = RunConfig().model_dump(mode="json")
    assert setting_key(plain) == setting_key({**plain, "seed": 77}) == row_of("DSEBO").setting
    for other in ({"beta": 8.0}, {"budget": 400}, {"variant": "authors"}, {"d_e": 20}):
        assert setting_key(parse_flat(other).model_dump(mode="json")) != row_of("DSEBO").setting
    older = {**plain, "optimizer": {"method": "dsebo"}}  # of a version with fewer fields
    assert setting_key(older) == row_of("DSEBO").setting
    assert setting_key({**plain, "optimizer": {"method": "annealing"}}) != row_of("DSEBO").setting


def test_stored_runs_count_when_they_have_finished(manager: RunManager, store: Store) -> None:
    random = parse_flat({"method": "random", "seed": 21})
    run_id = manager.launch(random.seeds(2))[0]
    manager.launch(parse_flat({"method": "random", "seed": 30, "K": 5.0}))
    waiting = manager.launch(parse_flat({"method": "random", "seed": 40}), paused=True)[0]
    rows = [wait_state(store, row.id, "finished", "paused") for row in store.list_runs()]
    assert len(rows) == 4
    own = own_runs(row_of("Random Search"), stored_finals(store, ["Sphere"]))
    assert (own.seeds, own.under_way, own.yours) == ((21, 22), (40,), 2)
    assert own.best == min(row.best for row in rows if row.seed in (21, 22))
    assert stored_finals(store, ["Levy"]) == []
    assert stored_finals(store, ["LIMO"]) == []
    manager.cancel(waiting)
    wait_state(store, waiting, "cancelled")
    assert own_runs(row_of("Random Search"), stored_finals(store, ["Sphere"])).under_way == ()
    manager.delete(run_id)
    assert own_runs(row_of("Random Search"), stored_finals(store, ["Sphere"])).seeds == (22,)


def test_an_example_that_came_with_the_package_is_not_yours(manager: RunManager, store: Store) -> None:
    run_id = manager.launch(parse_flat({"method": "random"}))[0]
    wait_state(store, run_id, "finished")
    import_bytes(store, export_json(store, [run_id]), "run.json", source="bundled")
    own = own_runs(row_of("Random Search"), stored_finals(store, ["Sphere"]))
    assert (own.seeds, own.bundled, own.yours) == ((1,), 1, 0)


def test_bundled_runs_match_their_row() -> None:
    made = thin(run(parse_flat({"method": "random", "seed": 3})))
    own = own_runs(row_of("Random Search"), bundled_finals([made]))
    assert (own.seeds, own.bundled, own.mean) == ((3,), 1, made.best)


def test_the_printed_mean_of_a_setting() -> None:
    assert printed_mean(parse_flat({"seed": 9}).model_dump(mode="json")) == 3.9387
    assert printed_mean(parse_flat({"beta": 8.0}).model_dump(mode="json")) is None
    turbo = parse_flat({"method": "turbo", "D": 10_000, "function": "levy"})
    assert printed_mean(turbo.model_dump(mode="json")) == 72.8131


def test_the_peers_that_came_along_fill_their_rows() -> None:
    finals = peer_finals(bundled_peer_runs())
    assert len(finals) >= 18 * 20
    own = own_runs(row_of("BAxUS"), finals)
    assert (own.seeds, own.bundled) == ((1, 2, 3), 3)
    assert own.mean == pytest.approx(2.1, abs=0.2)
    assert "BAxUS ends at " in verdict(row_of("BAxUS"), own)
    assert "(3 runs). The paper prints" in verdict(row_of("BAxUS"), own)
    assert "has not been run here yet" in verdict(row_of("BAxUS"), own_runs(row_of("BAxUS"), []))
