"""`dsebo sweep` and `dsebo race`: two ways to write an experiment, on all cores or on a cluster."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from dsebo.cli.experiment_output import RaceOutput, SweepOutput
from dsebo.cli.flags import AsJson, ConfigFile, Db, Keep, Method, Name, Yes, open_store, read_file, read_flags
from dsebo.cli.output import EXIT_FAILED, EXIT_INTERRUPTED, ask_before, check_writable, refuse, write_file
from dsebo.config import nested_config
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.progress import Plan, plan_of
from dsebo.experiments.records import ExperimentRow, create_experiment, get_experiment, list_experiments, tell
from dsebo.experiments.records import progress as runs_of
from dsebo.experiments.spec import DEFAULT_SEEDS, ExperimentSpec
from dsebo.objectives.fields import ConfigError, not_one_of
from dsebo.runs.limits import why_ask
from dsebo.settings import Settings
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.store import Store
from dsebo.text import count
from dsebo.transfer import FORMATS, ExperimentWriter

if TYPE_CHECKING:
    from dsebo.experiments.engines import Engine

MAX_WORKERS = 1024
RACE_METHODS, RACE_SEEDS = "dsebo,turbo,random", "1-3"
_WRITERS: dict[str, ExperimentWriter] = {}  # by suffix; the first of two that share one
for _format in FORMATS.values():
    if _format.experiment is not None:
        _WRITERS.setdefault(_format.suffix, _format.experiment)


@dataclass(frozen=True)
class Asked:
    """What both commands are told beside the settings of the experiment: their common flags."""

    target: Annotated[
        str, typer.Argument(metavar="[FILE|ID]", help="A YAML file, or the id of a stored experiment.")
    ] = ""
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it stopped.")] = False
    pause: Annotated[bool, typer.Option("--pause", help="Tell one at work to rest.")] = False
    cancel: Annotated[bool, typer.Option("--cancel", help="Tell one to end.")] = False
    workers: Annotated[
        int | None,
        typer.Option(help="Processes of this machine.", show_default="cores, or none for what is short"),
    ] = None
    cluster: Annotated[
        str, typer.Option(help="A Dask cluster, such as tcp://host:8786.", show_default=False)
    ] = ""
    as_json: AsJson = False
    export: Annotated[
        Path | None, typer.Option("-o", "--export", help=f"Write it to a FILE in {', '.join(_WRITERS)}.")
    ] = None
    yes: Yes = False
    db: Db = None
    is_race: bool = False
    stored: bool = True

    def check(self, store: Store, own_settings: bool) -> None:
        """Refuse what does not go together."""
        if self.target and own_settings:
            refuse(f"{self.target} has its own settings: leave the other flags out.")
        if self.workers is not None and not 1 <= self.workers <= MAX_WORKERS:
            refuse(f"workers must be a whole number from 1 to {MAX_WORKERS} (got {self.workers}).")
        if self.export is not None and self.export.suffix not in _WRITERS:
            refuse(f"export must be a file ending in {', '.join(_WRITERS)} (got {str(self.export)!r}).")
        if self.export is not None:
            check_writable(self.export)
        if self.cluster and self.workers is not None:
            refuse("A cluster has its own workers: give --cluster or --workers, not both.")
        if self.cluster and store.engine.url.get_backend_name() == "sqlite":
            refuse(
                "The workers of a cluster need a database that all of them reach, not SQLite: "
                "such as --db postgresql://user@host/name."
            )
        if self.pause + self.cancel + self.resume > 1:
            refuse("--pause, --cancel and --resume contradict one another: give one.")
        if (self.pause or self.cancel) and (not self.target or self.is_file):
            refuse(f"--{'pause' if self.pause else 'cancel'} needs the id of an experiment.")

    def output(self, experiment: ExperimentRow) -> SweepOutput:
        """How it is shown: a race has standings."""
        kind = RaceOutput if self.is_race and experiment.spec.is_race else SweepOutput
        return kind(experiment, self.as_json, self.stored)

    @property
    def is_file(self) -> bool:
        """Whether the target is a file, not an id."""
        return Path(self.target).suffix in (".yaml", ".yml", ".json") or Path(self.target).is_file()


def sweep_command(
    *,
    asked: Asked,
    preset: Annotated[str, typer.Option(help="A sweep of the paper, such as beta or beta-small.")] = "",
    vary: Annotated[
        list[str] | None, typer.Option(help="What varies: beta=4,8,12 or beta=4:32:4. Up to three times.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="1-10 or 1,3,5.", show_default=DEFAULT_SEEDS)] = None,
    name: Name = "",
    method: Method = None,
    config: ConfigFile = None,
    given: dict[str, Any],
) -> None:
    """Run a sweep: every combination of what varies, for every seed.

    What is in the store already is reused. A stored sweep that has ended is shown, and goes on
    with --resume.
    """

    def spec() -> ExperimentSpec:
        if preset:
            return _of_preset(preset)
        if "seed" in given:
            raise ConfigError("A sweep has several seeds: --seeds 1-10, not --seed.")
        if not vary:
            raise ConfigError("vary is missing: such as --vary beta=4,8,12.")
        base = nested_config(read_flags(given, method), read_file(config))
        return ExperimentSpec.from_flags(base, vary, seeds or DEFAULT_SEEDS, name)

    own = bool(given or vary or seeds or method or config or name)
    if asked.target and preset:
        refuse(f"{asked.target} and --preset {preset} are two sweeps: give one.")
    if preset and own:
        refuse(f"{preset} has its own settings: leave the other flags out.")
    if not (asked.target or preset or own):
        refuse("What to sweep is missing: a file, an id, --preset or --vary beta=4,8,12.")
    with open_store(asked.db) as store:
        _carry_out(store, asked, spec, own)


def race_command(
    *,
    asked: Asked,
    methods: Annotated[
        str | None,
        typer.Option(
            help="With commas; `dsebo methods` lists them. Also rembo:scale=dsebo", show_default=RACE_METHODS
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="The same for all: 1-3 or 1,4,9.", show_default=RACE_SEEDS)
    ] = None,
    name: Name = "",
    store: Keep = True,
    given: dict[str, Any],
) -> None:
    """Let several methods search the same function from the same seeds.

    A setting goes to every method that has it. What is in the store already is reused.
    """

    def spec() -> ExperimentSpec:
        chosen = RACE_METHODS if methods is None else methods
        return ExperimentSpec.race(chosen, read_flags(given), seeds or RACE_SEEDS, name)

    own = bool(given or methods is not None or seeds or name)
    asked = replace(asked, is_race=True, stored=store)
    if store:
        with open_store(asked.db) as opened:
            _carry_out(opened, asked, spec, own)
        return
    if asked.target or asked.resume:
        refuse("--no-store has no experiments to go on with.")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        open_store(f"sqlite:///{folder}/race.db") as opened,
    ):
        _carry_out(opened, asked, spec, own)


def _carry_out(
    store: Store, asked: Asked, spec_of_flags: Callable[[], ExperimentSpec], own_settings: bool
) -> None:
    """Tell, show or work on the experiment that is meant."""
    asked.check(store, own_settings)
    if asked.pause or asked.cancel:
        _tell(store, asked.target, "pause" if asked.pause else "cancel")
        return
    experiment = _run_or_show(store, asked, spec_of_flags)
    if experiment is None:
        return
    if asked.export is not None:
        _export(store, experiment, asked.export)
    if experiment.state in ("failed", "cancelled"):
        raise typer.Exit(EXIT_FAILED)


def _run_or_show(
    store: Store, asked: Asked, spec_of_flags: Callable[[], ExperimentSpec]
) -> ExperimentRow | None:
    """The experiment as it is then; None where its own process was told to go on."""
    known = None
    if asked.target and not asked.is_file:
        known = get_experiment(store, asked.target)
        spec = known.spec
    else:
        spec = ExperimentSpec.from_yaml(_text_of(asked.target)) if asked.target else spec_of_flags()
        known = _same(store, spec) if asked.resume else None
    if asked.resume and known and known.wanted == "pause" and tell(store, known.id, "run") is None:
        typer.echo(f"Experiment {known.short_id} is told to run.")  # its process goes on
        return None
    if known is not None and known.state != "queued" and not asked.resume:
        asked.output(known).show(runs_of(store, known))
        return known
    runs = runs_of(store, known or spec)
    engine, plan = _engine(spec, runs, asked)  # before an experiment is stored for it
    with closing(engine):
        ask_before(why_ask(plan.wall_seconds, plan.memory_bytes), asked.yes)
        return _work(store, _checked(store, known, spec, asked), asked, engine, plan)


def _engine(spec: ExperimentSpec, runs: pd.DataFrame, asked: Asked) -> tuple[Engine, Plan]:
    from dsebo.experiments import engines

    if asked.cluster:
        engine = engines.ClusterEngine(asked.cluster)
        return engine, plan_of(spec, runs, engine.at_once())
    plan = plan_of(spec, runs, asked.workers)
    if plan.in_process:
        return engines.ThreadEngine(), plan
    return engines.LocalEngine(asked.workers or plan.workers), plan


def _checked(store: Store, known: ExperimentRow | None, spec: ExperimentSpec, asked: Asked) -> ExperimentRow:
    """A new experiment, or a stored one, unless what is left of it is over the limits."""
    check = experiment_check(Settings.load(), LOCAL_OWNER, spec) if asked.stored else None
    if known is None:
        return get_experiment(store, create_experiment(store, spec, check=check))
    if known.state != "queued" and check is not None:  # a queued one was checked when it was made
        with store.read() as connection:
            check(connection)
    return known


def _work(store: Store, experiment: ExperimentRow, asked: Asked, engine: Engine, plan: Plan) -> ExperimentRow:
    """Work on it to its end; Ctrl-C and a polite kill leave it to be resumed."""
    from dsebo.experiments.running import run_experiment

    output = asked.output(experiment)
    output.begin(plan, runs_of(store, experiment))
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with output.bars():
            ended = run_experiment(store, experiment.id, engine, again=asked.resume, watch=output.watch)
    except KeyboardInterrupt:
        done = int(runs_of(store, experiment)["state"].eq("finished").sum())
        how = f"; {output.resuming}" if asked.stored else "."
        typer.echo(f"Interrupted after {done} of {count(plan.total, 'run')}{how}", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    output.end(ended, runs_of(store, ended))
    return ended


def _tell(store: Store, experiment_id: str, wanted: str) -> None:
    """Pass on what is wanted to the process that works on the experiment."""
    row = get_experiment(store, experiment_id)
    state = tell(store, row.id, wanted)
    if state is not None:
        refuse(f"Experiment {row.short_id} is {state}: there is nothing to {wanted}.")
    typer.echo(f"Experiment {row.short_id} is told to {wanted}.")


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"{file} cannot be read: {why}.") from None


def _of_preset(key: str) -> ExperimentSpec:
    from dsebo.paper.presets import PRESETS

    known = {preset.key: preset.spec for preset in PRESETS}
    if key not in known:
        raise ConfigError(not_one_of("preset", known, key))
    return known[key]


def _same(store: Store, spec: ExperimentSpec) -> ExperimentRow | None:
    """The newest experiment of the same settings."""
    return next((row for row in list_experiments(store) if row.spec == spec.renamed(row.spec.name)), None)


def _export(store: Store, experiment: ExperimentRow, file: Path) -> None:
    """Every run that there is of it, with its evaluations."""
    runs = int(runs_of(store, experiment)["run_id"].notna().sum())
    if not runs:
        refuse(f"Experiment {experiment.short_id} has no runs to write yet.")
    write_file(file, _WRITERS[file.suffix](store, experiment))
    typer.echo(f"{file}: {count(runs, 'run')}.", err=True)
