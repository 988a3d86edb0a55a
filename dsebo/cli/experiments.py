"""`dsebo sweep` and `dsebo race`: two ways to write an experiment, on all cores or on a cluster."""

from __future__ import annotations

import json
import math
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from dsebo.cli.flags import AsJson, ConfigFile, Db, Keep, Method, Name, open_store, read_file, read_flags
from dsebo.cli.output import EXIT_FAILED, EXIT_INTERRUPTED, check_writable, progress_bar, refuse
from dsebo.config import nested_config, predict
from dsebo.experiments.entrants import CLIPPED, are_clipped
from dsebo.experiments.findings import findings
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.progress import Plan, plan_of, waiting_words
from dsebo.experiments.records import ExperimentRow, create_experiment, get_experiment, list_experiments, tell
from dsebo.experiments.records import progress as runs_of
from dsebo.experiments.spec import DEFAULT_SEEDS, ExperimentSpec
from dsebo.experiments.standings import CENTRE, cell_labels, race_standings
from dsebo.paper.comparison import printed_mean
from dsebo.settings import Settings
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.schema import ENDED
from dsebo.store.store import Store
from dsebo.text import count, duration, number
from dsebo.transfer import export_csv, export_json, export_parquet
from objectives.fields import ConfigError

if TYPE_CHECKING:
    from dsebo.experiments.engines import Engine

MAX_WORKERS = 1024
RACE_METHODS, RACE_SEEDS = "dsebo,turbo,random", "1-3"
_WRITERS = {".csv": export_csv, ".parquet": export_parquet, ".json": export_json}

Target = Annotated[
    str, typer.Argument(metavar="[FILE|ID]", help="A YAML file, or the id of a stored experiment.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where it stopped.")]
Pause = Annotated[bool, typer.Option("--pause", help="Tell one at work to rest.")]
Cancel = Annotated[bool, typer.Option("--cancel", help="Tell one to end.")]
Workers = Annotated[
    int | None,
    typer.Option(help="Processes of this machine.", show_default="cores, or none for what is short"),
]
Cluster = Annotated[str, typer.Option(help="A Dask cluster, such as tcp://host:8786.", show_default=False)]
Export = Annotated[
    Path | None, typer.Option("-o", "--export", help="Write all runs: FILE.csv, .parquet or .json.")
]


def sweep_command(
    target: Target = "",
    *,
    preset: Annotated[str, typer.Option(help="A sweep of the paper, such as beta or beta-small.")] = "",
    vary: Annotated[
        list[str] | None, typer.Option(help="What varies: beta=4,8,12 or beta=4:32:4. Once or twice.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="1-10 or 1,3,5.", show_default=DEFAULT_SEEDS)] = None,
    name: Name = "",
    method: Method = None,
    config: ConfigFile = None,
    resume: Resume = False,
    pause: Pause = False,
    cancel: Cancel = False,
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
    export: Export = None,
    db: Db = None,
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
            raise ConfigError("--seed is not allowed in a sweep: --seeds 1-10.")
        if not vary:
            raise ConfigError("vary is missing: such as --vary beta=4,8,12.")
        base = nested_config(read_flags(given, method), read_file(config))
        return ExperimentSpec.from_flags(base, vary, seeds or DEFAULT_SEEDS, name)

    own = bool(given or vary or seeds or method or config or name)
    if target and preset:
        refuse(f"{target} and --preset {preset} are two sweeps: give one.")
    if preset and own:
        refuse(f"{preset} has its own settings: leave the other flags out.")
    if not (target or preset or own):
        refuse("What to sweep is missing: a file, an id, --preset or --vary beta=4,8,12.")
    asked = Asked("sweep", target, resume, pause, cancel, workers, cluster, as_json, export)
    with open_store(db) as store:
        _carry_out(store, asked, spec, own)


def race_command(
    target: Target = "",
    *,
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
    resume: Resume = False,
    pause: Pause = False,
    cancel: Cancel = False,
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
    export: Export = None,
    store: Keep = True,
    db: Db = None,
    given: dict[str, Any],
) -> None:
    """Let several methods search the same function from the same seeds.

    A setting goes to every method that has it. What is in the store already is reused.
    """

    def spec() -> ExperimentSpec:
        chosen = RACE_METHODS if methods is None else methods
        return ExperimentSpec.race(chosen, read_flags(given), seeds or RACE_SEEDS, name)

    own = bool(given or methods is not None or seeds or name)
    asked = Asked("race", target, resume, pause, cancel, workers, cluster, as_json, export, store)
    if store:
        with open_store(db) as opened:
            _carry_out(opened, asked, spec, own)
        return
    if target or resume:
        refuse("--no-store has no experiments to go on with.")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        open_store(f"sqlite:///{folder}/race.db") as opened,
    ):
        _carry_out(opened, asked, spec, own)


@dataclass(frozen=True)
class Asked:
    """What a command was told beside the settings of the experiment."""

    command: str  # "sweep" or "race"
    target: str
    resume: bool
    pause: bool
    cancel: bool
    workers: int | None
    cluster: str
    as_json: bool
    export: Path | None
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
            refuse("--workers is not allowed with --cluster, which has its own workers.")
        if self.cluster and store.engine.url.get_backend_name() == "sqlite":
            refuse(
                f"cluster = {self.cluster!r} is not allowed with SQLite: its workers need a database that "
                "all of them reach, such as --db postgresql://user@host/name."
            )
        if self.pause + self.cancel + self.resume > 1:
            refuse("--pause, --cancel and --resume contradict one another: give one.")
        if (self.pause or self.cancel) and (not self.target or self.is_file):
            refuse(f"--{'pause' if self.pause else 'cancel'} needs the id of an experiment.")

    @property
    def is_file(self) -> bool:
        """Whether the target is a file, not an id."""
        return Path(self.target).suffix in (".yaml", ".yml", ".json") or Path(self.target).is_file()


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
        _output(known, asked).show(runs_of(store, known))
        return known
    runs = runs_of(store, known or spec)
    engine, plan = _engine(spec, runs, asked)  # before an experiment is stored for it
    with closing(engine):
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

    output = _output(experiment, asked)
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
        raise ConfigError(f"FILE = {file!r} cannot be read: {why}.") from None


def _of_preset(key: str) -> ExperimentSpec:
    from dsebo.experiments.presets import PRESETS

    known = {preset.key: preset.spec for preset in PRESETS}
    if key not in known:
        raise ConfigError(f"preset must be one of {', '.join(known)} (got {key!r}).")
    return known[key]


def _same(store: Store, spec: ExperimentSpec) -> ExperimentRow | None:
    """The newest experiment of the same settings."""
    return next((row for row in list_experiments(store) if row.spec == spec.renamed(row.spec.name)), None)


def _export(store: Store, experiment: ExperimentRow, file: Path) -> None:
    """Every run that there is of it, with its evaluations."""
    ids = [run_id for run_id in runs_of(store, experiment)["run_id"] if run_id is not None]
    if not ids:
        refuse(f"Experiment {experiment.short_id} has no runs to write yet.")
    try:
        file.write_bytes(_WRITERS[file.suffix](store, ids))
    except OSError as error:
        refuse(f"export = {str(file)!r} cannot be written: {error.strerror}.")
    typer.echo(f"{file}: {count(len(ids), 'run')}.", err=True)


# --- what they show: bars while it runs, a table and what is seen at the end; or JSON --------


def _output(experiment: ExperimentRow, asked: Asked) -> SweepOutput:
    kind = RaceOutput if asked.command == "race" and experiment.spec.is_race else SweepOutput
    return kind(experiment, asked.as_json, asked.stored)


class SweepOutput:
    """One experiment on a terminal.

    Args:
        experiment: The experiment.
        as_json: JSON objects on standard output in place of everything else.
        stored: Whether it can be gone on with later.
    """

    command = "sweep"

    def __init__(self, experiment: ExperimentRow, as_json: bool, stored: bool = True) -> None:
        self._experiment, self._json, self._stored = experiment, as_json, stored
        self._bar: Progress | None = None
        self._tasks: list[TaskID] = []
        self._told: set[str] = set()
        self._waits = ""  # for what, as it was said

    @property
    def resuming(self) -> str:
        """How to go on with it."""
        return f"dsebo {self.command} {self._experiment.short_id} --resume goes on."

    def begin(self, plan: Plan, runs: pd.DataFrame) -> None:
        """What is planned, what is there already, and what the rest will take."""
        experiment = self._experiment
        if self._json:
            about = {"event": "sweep-started", "id": experiment.id, "name": experiment.name}
            counts = {"runs": plan.total, "reused": plan.finished, "seconds": plan.seconds}
            _print({**about, **counts, "memory": plan.memory_bytes, "workers": plan.workers})
            self._told = set(runs.loc[runs["state"] == "finished", "hash"])
            return
        typer.echo(f"Sweep {experiment.short_id}, {experiment.name}: {_planned(plan)}.", err=True)
        if plan.finished < plan.total:
            typer.echo(f"If interrupted, {self.resuming}", err=True)

    @contextmanager
    def bars(self) -> Iterator[None]:
        """Progress bars, where someone sees them."""
        bar = progress_bar()
        if not bar.console.is_terminal or not self._has_bars():
            yield
            return
        with bar:
            self._bar = bar
            self._tasks = [bar.add_task(label, total=None) for label in self._bar_labels()]
            yield
            self._bar = None

    def watch(self, runs: pd.DataFrame, state: str) -> None:
        """How the runs stand now, and the experiment's state."""
        self._tell_waiting(waiting_words(runs) if state == "running" else "")
        if self._bar is not None:
            for task, (done, total) in zip(self._tasks, self._bar_values(runs), strict=True):
                self._bar.update(task, completed=done, total=total)
        self._watch_json(runs)

    def end(self, experiment: ExperimentRow, runs: pd.DataFrame) -> None:
        """How it ended."""
        self._experiment = experiment
        if self._json:
            self._watch_json(runs)
            states = {str(state): int(n) for state, n in runs["state"].value_counts().items()}
            about = {"event": "sweep-ended", "id": experiment.id, "state": experiment.state}
            _print({**about, "error": experiment.error, "runs": states})
            return
        self.show(runs)

    def show(self, runs: pd.DataFrame) -> None:
        """A table of its cells and what is seen in them."""
        experiment = self._experiment
        about = {name: getattr(experiment, name) for name in ("id", "name", "state", "error")}
        if self._json:
            rows = [_plain(row) for row in runs.to_dict("records")]
            _print({**about, "spec": experiment.spec.plain(), "runs": rows})
            return
        Console().print(self._table(runs))
        for sentence in findings(runs, experiment.spec.fields):
            typer.echo(sentence)
        done = int(runs["state"].eq("finished").sum())
        typer.echo(f"Sweep {experiment.short_id} {experiment.state}: {done} of {len(runs)} runs finished.")
        self._say_problem()

    def _say_problem(self) -> None:
        if self._experiment.error:
            typer.echo(self._experiment.error, err=True)
        if self._stored and self._experiment.state in ("interrupted", "cancelled", "failed"):
            typer.echo(self.resuming, err=True)

    def _has_bars(self) -> bool:
        return not self._json

    def _bar_labels(self) -> list[str]:
        return ["runs", "evaluations"]

    def _bar_values(self, runs: pd.DataFrame) -> list[tuple[int, int]]:
        """(done, total) of each bar."""
        ended = int(runs["state"].isin(ENDED).sum())
        return [(ended, len(runs)), (int(_evaluated(runs).sum()), int(runs["budget"].sum()))]

    def _watch_json(self, runs: pd.DataFrame) -> None:
        if not self._json:
            return
        for row in runs[runs["state"].isin(ENDED)].to_dict("records"):
            if row["hash"] not in self._told:
                self._told.add(str(row["hash"]))
                _print({"event": "run-ended", **_plain(row)})

    def _tell_waiting(self, text: str) -> None:
        """Once, until it changes."""
        if text == self._waits:
            return
        self._waits = text
        if text and self._json:
            _print({"event": "sweep-waiting", "text": f"{text}."})
        elif text:
            typer.echo(f"{text}.", err=True)

    def _table(self, runs: pd.DataFrame) -> Table:
        table = _new_table("cell", "runs", "mean", "std", "best", "d", "seconds")
        for cell in self._experiment.spec.cells():
            own = runs[runs["cell"] == cell.index]
            done = own[own["state"] == "finished"]
            best = done["best"]
            values = (best.mean(), best.std(), best.min(), done["d"].mean(), done["seconds"].mean())
            table.add_row(cell.label, f"{len(done)}/{len(own)}", *(number(float(v)) for v in values))
        return table


class RaceOutput(SweepOutput):
    """The same with a bar for each method, and standings at the end."""

    command = "race"

    def begin(self, plan: Plan, runs: pd.DataFrame) -> None:
        """What the race will cost, and who loses by construction; on standard error."""
        spec = self._experiment.spec
        configs = spec.first_configs()
        for label, config in zip(cell_labels(spec), configs, strict=True):
            cost = predict(config)
            memory = cost.memory_bytes / 1e6
            typer.echo(f"{label}: about {cost.seconds:.2g} s and {memory:.0f} MB per run", err=True)
        entrants = f"{count(len(configs), 'method')} from {count(len(spec.seeds), 'seed')}"
        typer.echo(f"{entrants}: {_planned(plan)}.", err=True)
        if self._stored and plan.finished < plan.total:
            typer.echo(f"If interrupted, {self.resuming}", err=True)
        if are_clipped(configs):
            typer.echo(f"Note: {CLIPPED}", err=True)

    def end(self, experiment: ExperimentRow, runs: pd.DataFrame) -> None:
        """Who won."""
        self._experiment = experiment
        self.show(runs)

    def show(self, runs: pd.DataFrame) -> None:
        """The standings, and the lines to read them against."""
        if self._json:
            _print(self._object(runs))
        else:
            centre, minimum = _first(runs["at_centre"]), _first(runs["minimum"])
            known = "; F* is not known" if minimum is None else f"; F* = {number(minimum)}"
            seeds = count(len(self._experiment.spec.seeds), "seed")
            reading = f"The centre of the box has {number(centre)}{known}. Means over {seeds}."
            Console().print(self._table(runs), reading, sep="\n", highlight=False)
        self._say_problem()

    def _has_bars(self) -> bool:
        return True

    def _bar_labels(self) -> list[str]:
        return cell_labels(self._experiment.spec)

    def _bar_values(self, runs: pd.DataFrame) -> list[tuple[int, int]]:
        sums = runs.assign(done=_evaluated(runs)).groupby("cell")[["done", "budget"]].sum()
        return [(int(done), int(total)) for done, total in sums.to_numpy()]

    def _watch_json(self, runs: pd.DataFrame) -> None:
        """One object at the end says it all."""

    def _standings(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Who leads, with what the paper prints for the same setting."""
        spec = self._experiment.spec
        table = race_standings(spec, runs)
        configs = dict(zip(cell_labels(spec), spec.first_configs(), strict=True))
        printed = [
            printed_mean(configs[label].model_dump(mode="json")) if label in configs else None
            for label in table["method"]
        ]
        return table.assign(paper=pd.Series(printed, dtype=float))

    def _object(self, runs: pd.DataFrame) -> dict[str, Any]:
        spec = self._experiment.spec
        first = spec.first_configs()[0].model_dump(mode="json")
        methods = [config.optimizer.method for config in spec.first_configs()]
        labels = cell_labels(spec)
        order = {seed: place for place, seed in enumerate(spec.seeds)}
        rows = sorted(runs.to_dict("records"), key=lambda row: order[row["seed"]])
        return {
            "id": self._experiment.id if self._stored else None,
            "objective": first["objective"],
            "budget": first["budget"],
            "seeds": list(spec.seeds),
            "at_centre": _first(runs["at_centre"]),
            "minimum": _first(runs["minimum"]),
            "standings": [_plain(row) for row in self._standings(runs).to_dict("records")],
            "runs": [
                {
                    "id": row["run_id"] if self._stored else None,
                    "method": methods[row["cell"]],
                    "label": labels[row["cell"]],
                    "seed": row["seed"],
                    **{name: _plain(row)[name] for name in ("best", "d", "seconds", "state")},
                }
                for row in rows
            ],
        }

    def _table(self, runs: pd.DataFrame) -> Table:
        frame = self._standings(runs)
        columns = ["runs", "mean", "std", "best", "d", "seconds"]
        columns += ["paper"] if frame["paper"].notna().any() else []
        table = _new_table("", "method", *columns)
        for place, row in enumerate(frame.to_dict("records"), start=1):
            style = "dim" if row["method"] == CENTRE else None
            values = (number(float(row[name])) for name in columns)
            table.add_row(str(place), str(row["method"]), *values, style=style)
        return table


def _new_table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        words = name in ("cell", "method")
        table.add_column(name, justify="left" if words else "right", no_wrap=name != "method")
    return table


def _planned(plan: Plan) -> str:
    """`6 runs, 2 of them in the store already; about 4 s on 2 workers, 612 MB`."""
    reused = f", {plan.finished} of them in the store already" if plan.finished else ""
    if plan.finished == plan.total:
        return f"{count(plan.total, 'run')}{reused}; nothing left to run"
    time, workers = duration(max(1.0, plan.wall_seconds)), count(plan.workers, "worker")
    memory = f"{plan.memory_bytes / 1e6:.0f} MB"
    return f"{count(plan.total, 'run')}{reused}; about {time} on {workers}, {memory}"


def _evaluated(runs: pd.DataFrame) -> pd.Series[int]:
    """Evaluations of each run; one that had nothing more to ask has done all of its budget."""
    return runs["n_done"].where(runs["state"] != "finished", runs["budget"])


def _first(column: pd.Series[Any]) -> float | None:
    """The first value that is known."""
    known = column.dropna()
    return float(known.iloc[0]) if len(known) else None


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    """A row of a frame as JSON has it: no NaN."""
    return {
        str(name): None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line, ensure_ascii=False, allow_nan=False), flush=True)
