"""`dsebo sweep`: many runs over one or two settings, on all cores or on a cluster."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dsebo.cli.flags import AsJson, ConfigFile, Db, Method, Name, open_store, read_file, read_flags
from dsebo.cli.output import EXIT_FAILED, EXIT_INTERRUPTED, check_writable, refuse
from dsebo.cli.sweep_output import SweepOutput
from dsebo.config import nested_config
from dsebo.experiments.limits import sweep_check
from dsebo.experiments.plan import plan_of
from dsebo.experiments.records import SweepRow, create_sweep, get_sweep, list_sweeps, order
from dsebo.experiments.records import progress as runs_of
from dsebo.experiments.spec import DEFAULT_SEEDS, SweepSpec
from dsebo.settings import Settings, core_count
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.store import Store
from dsebo.transfer import FORMATS
from objectives.fields import ConfigError

if TYPE_CHECKING:
    from dsebo.experiments.engines import Engine

MAX_WORKERS = 1024
_WRITERS = {form.suffix: form.experiment for form in reversed(FORMATS.values()) if form.experiment}


def sweep_command(
    target: Annotated[
        str, typer.Argument(metavar="[FILE|ID]", help="A YAML file, or the id of a stored sweep.")
    ] = "",
    *,
    preset: Annotated[str, typer.Option(help="A sweep of the paper, such as beta or beta-small.")] = "",
    vary: Annotated[
        list[str] | None, typer.Option(help="What varies: beta=4,8,12 or beta=4:32:4. Once or twice.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="1-10 or 1,3,5.", show_default=DEFAULT_SEEDS)] = None,
    name: Name = "",
    method: Method = None,
    config: ConfigFile = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a sweep where it stopped.")] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Tell a sweep at work to rest.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Tell a sweep to end.")] = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes of this machine.", show_default="cores")
    ] = None,
    cluster: Annotated[
        str, typer.Option(help="A Dask cluster, such as tcp://host:8786.", show_default=False)
    ] = "",
    as_json: AsJson = False,
    export: Annotated[
        Path | None, typer.Option("-o", "--export", help=f"Write it to FILE{', '.join(_WRITERS)}.")
    ] = None,
    db: Db = None,
    given: dict[str, Any],
) -> None:
    """Run a sweep: every combination of what varies, for every seed.

    What is in the store already is reused. A stored sweep that has ended is shown, and goes on
    with --resume.
    """
    own = bool(given or vary or seeds or method or config or name)
    with open_store(db) as store:
        _check_options(target, preset, own, workers, export)
        _check_cluster(store, cluster, workers)
        if wanted := _order_of(target, pause, cancel, resume):
            _tell(store, target, wanted)
            return
        chosen: SweepSpec | SweepRow
        if target and not _is_file(target):
            chosen = get_sweep(store, target)
        elif target:
            chosen = SweepSpec.from_yaml(_text_of(target))
        elif preset:
            chosen = _of_preset(preset)
        else:
            chosen = _of_flags(given, method, config, vary, seeds, name)
        spec = chosen.spec if isinstance(chosen, SweepRow) else chosen
        known = chosen if isinstance(chosen, SweepRow) else _same(store, spec) if resume else None
        if resume and known and known.wanted == "pause" and order(store, known.id, "run") is None:
            typer.echo(f"Sweep {known.short_id} is told to run.")  # its process goes on
            return
        if known is None or known.state == "queued" or resume:
            with closing(_engine(workers, cluster)) as engine:  # before a sweep is stored for it
                sweep = _checked(store, known) if known else _create(store, spec)
                sweep = _work(store, sweep, resume, engine, as_json)
        else:
            sweep = known
            SweepOutput(sweep, as_json).show(runs_of(store, sweep))
        if export is not None:
            _export(store, sweep, export)
    if sweep.state in ("failed", "cancelled"):
        raise typer.Exit(EXIT_FAILED)


def _check_options(target: str, preset: str, own: bool, workers: int | None, export: Path | None) -> None:
    if target and preset:
        refuse(f"{target} and --preset {preset} are two sweeps: give one.")
    if (target or preset) and own:
        refuse(f"{target or preset} has its own settings: leave the other flags out.")
    if not (target or preset or own):
        refuse("What to sweep is missing: a file, an id, --preset or --vary beta=4,8,12.")
    if workers is not None and not 1 <= workers <= MAX_WORKERS:
        refuse(f"workers = {workers} is not allowed: a whole number from 1 to {MAX_WORKERS}.")
    if export is not None and export.suffix not in _WRITERS:
        refuse(f"export = {str(export)!r} is not allowed: a name ending in {', '.join(_WRITERS)}.")
    if export is not None:
        check_writable(export)


def _check_cluster(store: Store, cluster: str, workers: int | None) -> None:
    if not cluster:
        return
    if workers is not None:
        refuse("--workers is not allowed with --cluster, which has its own workers.")
    if store.engine.url.get_backend_name() == "sqlite":
        refuse(
            f"cluster = {cluster!r} is not allowed with SQLite: its workers need a database that "
            "all of them reach, such as --db postgresql://user@host/name."
        )


def _order_of(target: str, pause: bool, cancel: bool, resume: bool) -> str:
    """What a sweep is to be told; empty where it is to be run or shown."""
    if pause + cancel + resume > 1:
        refuse("--pause, --cancel and --resume are three orders: give one.")
    if (pause or cancel) and (not target or _is_file(target)):
        refuse(f"--{'pause' if pause else 'cancel'} needs the id of a sweep.")
    return "pause" if pause else "cancel" if cancel else ""


def _tell(store: Store, sweep_id: str, wanted: str) -> None:
    """Pass an order on to the process that works on the sweep."""
    row = get_sweep(store, sweep_id)
    state = order(store, row.id, wanted)
    if state is not None:
        refuse(f"Sweep {row.short_id} is {state}: there is nothing to {wanted}.")
    typer.echo(f"Sweep {row.short_id} is told to {wanted}.")


def _is_file(target: str) -> bool:
    return Path(target).suffix in (".yaml", ".yml", ".json") or Path(target).is_file()


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"FILE = {file!r} cannot be read: {why}.") from None


def _of_preset(key: str) -> SweepSpec:
    from dsebo.experiments.presets import PRESETS

    known = {preset.key: preset.spec for preset in PRESETS}
    if key not in known:
        raise ConfigError(f"preset = {key!r} is not allowed: one of {', '.join(known)}.")
    return known[key]


def _of_flags(
    given: dict[str, Any],
    method: str | None,
    config: Path | None,
    vary: list[str] | None,
    seeds: str | None,
    name: str,
) -> SweepSpec:
    if "seed" in given:
        raise ConfigError("--seed is not allowed in a sweep: --seeds 1-10.")
    if not vary:
        raise ConfigError("vary is missing: such as --vary beta=4,8,12.")
    base = nested_config(read_flags(given, method), read_file(config))
    return SweepSpec.from_flags(base, vary, seeds or DEFAULT_SEEDS, name)


def _engine(workers: int | None, cluster: str) -> Engine:
    from dsebo.experiments.engines import ClusterEngine, LocalEngine

    return ClusterEngine(cluster) if cluster else LocalEngine(workers or core_count())


def _work(store: Store, sweep: SweepRow, resume: bool, engine: Engine, as_json: bool) -> SweepRow:
    """Work on it to its end; Ctrl-C and a polite kill leave it to be resumed."""
    from dsebo.experiments.running import run_sweep

    runs = runs_of(store, sweep)
    output = SweepOutput(sweep, as_json)
    output.begin(plan_of(sweep.spec, runs, engine.at_once()), runs)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with output.bars():
            ended = run_sweep(store, sweep.id, engine, again=resume, watch=output.watch)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted; dsebo sweep {sweep.short_id} --resume goes on.", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    output.end(ended, runs_of(store, ended))
    return ended


def _same(store: Store, spec: SweepSpec) -> SweepRow | None:
    """The newest sweep of the same settings."""
    same = {"base": spec.base, "axes": spec.axes, "seeds": spec.seeds}
    alike = (row for row in list_sweeps(store) if {name: getattr(row.spec, name) for name in same} == same)
    return next(alike, None)


def _create(store: Store, spec: SweepSpec) -> SweepRow:
    check = sweep_check(Settings.load(), LOCAL_OWNER, spec)
    return get_sweep(store, create_sweep(store, spec, check=check))


def _checked(store: Store, sweep: SweepRow) -> SweepRow:
    """A stored one, unless what is left of it is over the limits."""
    if sweep.state != "queued":  # that one was checked when it was made
        with store.read() as connection:
            sweep_check(Settings.load(), LOCAL_OWNER, sweep.spec)(connection)
    return sweep


def _export(store: Store, sweep: SweepRow, file: Path) -> None:
    """Every run that there is of it, with its evaluations."""
    runs = int(runs_of(store, sweep)["run_id"].notna().sum())
    if not runs:
        refuse(f"Sweep {sweep.short_id} has no runs to write yet.")
    try:
        file.write_bytes(_WRITERS[file.suffix](store, sweep))
    except OSError as error:
        refuse(f"export = {str(file)!r} cannot be written: {error.strerror}.")
    typer.echo(f"{file}: {runs} runs.", err=True)
