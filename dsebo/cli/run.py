"""`dsebo run`, `resume` and `fork`: one run, from its start, where it stopped or where it leaves another."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated, Any

import typer

from dsebo.cli.flags import (
    AsJson,
    Bounds,
    ConfigFile,
    Db,
    Function,
    Keep,
    Method,
    Name,
    RunId,
    Size,
    Timeout,
    Workers,
    Yes,
    flags_of_function,
    offer_again,
    open_store,
    read_config,
)
from dsebo.cli.output import EXIT_FAILED, EXIT_INTERRUPTED, ask_before, refuse, watch
from dsebo.config import RunConfig, predict
from dsebo.parsing import read_settings
from dsebo.runs.limits import check_limits, why_ask
from dsebo.runs.worker import POLL_SECONDS, forked_run, resumed_run, stored_run
from dsebo.settings import Settings
from dsebo.store.forking import plan_fork
from dsebo.store.patience import Waiting
from dsebo.store.rows import LOCAL_OWNER, RunFilter, owner_hash
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store
from dsebo.text import count, duration, number


def run_command(
    *,
    method: Method = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    store: Keep = True,
    name: Name = "",
    ghost: Annotated[
        str | None, typer.Option(help="A stored run to draw behind it in charts.", metavar="ID")
    ] = None,
    yes: Yes = False,
    db: Db = None,
    given: dict[str, Any],
) -> None:
    """Run one optimization and watch it."""
    settings = read_config(given, method, config)
    if not store:
        if ghost is not None:
            refuse("ghost needs the store: leave out --no-store.")
        from dsebo.run import run

        _say_before(settings, settings.budget, yes)
        watch(run(settings), settings, as_json)
        return
    with open_store(db) as opened:
        opened.mark_interrupted()  # what a dead process left counts no more
        _check_limits(opened, settings, settings.budget)
        behind = None if ghost is None else opened.get_run(ghost).id
        _say_before(settings, settings.budget, yes)
        watch(
            stored_run(settings, opened, name, ghost=behind, on_id=partial(_say_id, config=settings)),
            settings,
            as_json,
        )


def _say_before(config: RunConfig, budget: int, yes: bool) -> None:
    """What is odd about the settings, and what the run will cost; ask where that is much."""
    if why := config.unavailable():
        refuse(why)
    for warning in config.warnings():
        typer.echo(f"Note: {warning}", err=True)
    cost = predict(config, budget)
    time_span = f"{cost.seconds:.2g} s" if cost.seconds < 60 else duration(cost.seconds)
    besides = ", besides what the function itself takes" if config.objective.kind == "own" else ""
    memory = f"{cost.memory_bytes / 1e6:.0f} MB beside the program's own"
    about = f"about {time_span} of one core{besides}, {memory}"
    typer.echo(f"Predicted: {about}.", err=True)
    ask_before(why_ask(cost.seconds, cost.memory_bytes), yes)


def resume_command(
    run_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of a run, or its first characters.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All that were at work, as after a crash.")] = False,
    as_json: AsJson = False,
    db: Db = None,
    function: Function = None,
    bounds: Bounds = None,
    D: Size = None,
    workers: Workers = None,
    timeout: Timeout = None,
) -> None:
    """Carry an interrupted run on, to the same history as if nothing had happened."""
    offer_again(function, D, bounds, workers, timeout)
    if (run_id is None) != every or (every and as_json):
        refuse("resume needs the ID of a run, or --all, which has no --json.")
    with open_store(db) as store:
        if run_id is None:
            _resume_all(store)
            return
        row = store.get_run(run_id)
        config = store.config(row.id).model_copy(update={"budget": row.budget})  # it may have been raised
        try:
            watch(resumed_run(store, row.id), config, as_json, lambda: _conclusion(store, row.id))
        except typer.Exit as ended:
            if ended.exit_code == EXIT_INTERRUPTED:
                _say_id(row.id, config)
            raise


def fork_command(
    run_id: RunId,
    at: Annotated[int, typer.Option(help="The evaluation of a convergence, where the fork leaves the run.")],
    decide: Annotated[
        int | None, typer.Option(help="The step Δd there; 0: no expansion. Else the strategy decides.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting from there on, such as beta=8.", metavar="NAME=VALUE"),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="A larger budget.")] = None,
    name: Name = "",
    as_json: AsJson = False,
    yes: Yes = False,
    db: Db = None,
    function: Function = None,
    bounds: Bounds = None,
    D: Size = None,
    workers: Workers = None,
    timeout: Timeout = None,
) -> None:
    """Fork a run at a convergence: the same history up to there, then another decision or setting."""
    offer_again(function, D, bounds, workers, timeout)
    settings = {name: value for text in changes or () for name, value in read_settings(text).items()}
    with open_store(db) as store:
        fork = plan_fork(store, run_id, at, decide, settings, budget)
        _check_limits(store, fork.config, fork.budget, fork.at)
        _say_before(fork.config, fork.budget, yes)
        config = fork.config.model_copy(update={"budget": fork.budget})
        ids: list[str] = []

        def say_id(run_id: str) -> None:
            ids.append(run_id)
            _say_id(run_id, config)

        events = forked_run(fork, store, name, on_id=say_id)
        watch(events, config, as_json, lambda: _conclusion(store, ids[0]))


def _resume_all(store: Store) -> None:
    """Runs in threads of this process until they end; experiments in processes of their own."""
    from dsebo.experiments.resuming import resume_all
    from dsebo.runs.manager import RunManager

    manager = RunManager(store, Settings.load().model_copy(update={"mode": "local"}))
    waiting, failed = Waiting("dsebo resume"), False
    try:
        resumed, refused = resume_all(manager)
        for row in resumed.experiments:
            typer.echo(f"Experiment {row.short_id} goes on in a process of its own.")
        for sentence in refused:
            typer.echo(sentence, err=True)
        typer.echo(f"{count(len(resumed.runs), 'run')} resumed.")
        left = set(resumed.runs)
        while left:
            time.sleep(POLL_SECONDS)
            rows = waiting.do(lambda _: store.list_runs(RunFilter(ids=sorted(left))))
            for run in (run for run in rows if run.state not in ACTIVE):
                typer.echo(f"{run.short_id} {run.state}, best {number(run.best)}.")
                left.discard(run.id)
                failed |= run.state != "finished"
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        manager.close()
    if failed or refused:
        raise typer.Exit(EXIT_FAILED)


def _conclusion(store: Store, run_id: str) -> str:
    from dsebo.runs.data import read_run  # pandas

    return read_run(store, run_id).conclusion


def _say_id(run_id: str, config: RunConfig) -> None:
    command = f"dsebo resume {run_id[:8]}{flags_of_function(config)}"
    typer.echo(f"Run {run_id}; if interrupted, {command} carries it on.", err=True)


def _check_limits(store: Store, config: RunConfig, budget: int, done: int = 0) -> None:
    """Refuse, with the figure, a run over the limits."""
    with store.read() as connection:
        check_limits(connection, Settings.load(), owner_hash(LOCAL_OWNER), [(config, budget, done)])
