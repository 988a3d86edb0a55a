"""The same runs from a terminal. Exit codes: 0 finished, 1 failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from dsebo.cli.floor import floor_command
from dsebo.cli.output import INTERRUPTED, print_json, show_live
from dsebo.cli.race import race_command
from dsebo.cli.runs import add_commands, check_within_limits, open_store, stored_run
from dsebo.cli.sweep import sweep_command
from dsebo.config import METHODS, RunConfig, parse_flat
from dsebo.events import Event
from dsebo.parsing import config_flags, read_value
from dsebo.runs.predict import predict
from objectives.fields import ConfigError, FieldSpec, specs

EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

app = typer.Typer(
    help="High-dimensional Bayesian optimization in a subspace that grows: DSEBO and its peers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def with_config_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one flag for each setting; those given arrive as the dict `given`."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "given"]
    flags = [_parameter(name, spec) for name, spec in config_flags().items()]

    def wrapped(**values: Any) -> Any:
        given = {p.name: values.pop(p.name) for p in flags}
        return command(given={k: v for k, v in given.items() if v is not None}, **values)

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in [*own, *flags]}
    return wrapped


def _parameter(name: str, spec: FieldSpec) -> inspect.Parameter:
    # Text, whatever the type: the config checks it, and its sentence is the one that people see.
    flag = typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"{spec.help} ({spec.allowed})",
        show_default=False,
        metavar=spec.kind.upper(),
        rich_help_panel="Advanced settings" if spec.advanced else "Settings",
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, flag]
    )


def read_config(given: dict[str, Any], method: str | None, file: Path | None) -> RunConfig:
    """The config of the flags, over that of the file."""
    return parse_flat(read_flags(given, method), read_file(file))


def read_flags(given: dict[str, Any], method: str | None) -> dict[str, Any]:
    """The values of the flags that are given."""
    flags: dict[str, Any] = {name: read_value(name, text) for name, text in given.items()}
    return flags if method is None else {**flags, "method": method}


def read_file(file: Path | None) -> dict[str, Any]:
    """A JSON config; nothing where no file is given."""
    if file is None:
        return {}
    try:
        base = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"config = {str(file)!r} cannot be read as JSON: {error}.") from None
    if not isinstance(base, dict):
        raise ConfigError(f"config = {str(file)!r} is not allowed: one JSON object.")
    return base


def refuse(message: str) -> typer.Exit:
    """Say what is wrong, in one sentence on standard error; the exit to raise."""
    typer.echo(message, err=True)
    return typer.Exit(EXIT_BAD_INPUT)


def run_command(
    *,
    method: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(METHODS)}.", show_default="dsebo")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A JSON config; flags override it.", show_default=False)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the events, one JSON object a line.")
    ] = False,
    store: Annotated[bool, typer.Option(help="Keep the run in the store.")] = True,
    name: Annotated[str, typer.Option(help="A name for the stored run.")] = "",
    db: Annotated[str | None, typer.Option(help="The store's database URL.", show_default="DSEBO_DB")] = None,
    given: dict[str, Any],
) -> None:
    """Run one optimization and watch it."""
    try:
        settings = read_config(given, method, config)
    except ConfigError as error:
        raise refuse(str(error)) from None
    for warning in settings.warnings():
        typer.echo(f"Note: {warning}", err=True)
    cost = predict(settings)
    memory = cost.memory_bytes / 1e6
    about = f"about {cost.seconds:.2g} s of one core, {memory:.0f} MB beside the program's own"
    typer.echo(f"Predicted: {about}.", err=True)
    if store:
        with open_store(db) as opened:
            check_within_limits(opened, [settings])
            _watch(stored_run(settings, opened, name, on_id=_say_id), settings, as_json)
    else:
        from dsebo.run import run

        _watch(run(settings), settings, as_json)


def _say_id(run_id: str) -> None:
    typer.echo(f"Run {run_id}; if interrupted, dsebo resume {run_id[:8]} carries it on.", err=True)


def _watch(events: Iterator[Event], config: RunConfig, as_json: bool) -> None:
    """Show a run to its end; the exit code says how it ended."""
    outcome = print_json(events) if as_json else show_live(events, config)
    if outcome == INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)
    if outcome == "failed":
        raise typer.Exit(EXIT_FAILED)


app.command("run")(with_config_flags(run_command))
app.command("floor")(with_config_flags(floor_command))
app.command("race")(with_config_flags(race_command))
app.command("sweep")(with_config_flags(sweep_command))
add_commands(app)


@app.command("methods")
def methods_command() -> None:
    """List the methods with their settings, defaults and ranges."""
    for method, config in METHODS.items():
        typer.echo(f"{method}: {config.label}")
        for spec in specs(config):
            flag = f"--{spec.name.replace('_', '-')}"
            shown = f"{spec.symbol} " if spec.symbol else ""
            typer.echo(f"    {flag:24s} {shown}= {spec.default}. {spec.help} ({spec.allowed})")


@app.command("functions")
def functions_command() -> None:
    """List the functions with their domains and default shifts."""
    from objectives import get_function, names

    for name in names():
        f = get_function(name)
        domain = f"[{f.lower:.4g}, {f.upper:.4g}]"
        typer.echo(f"{name:12s} {domain:16s} c = {f.default_c:<5g} {f.description}")


def main() -> None:
    """Entry point of the `dsebo` command."""
    app()
