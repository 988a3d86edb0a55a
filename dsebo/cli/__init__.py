"""The same runs from a terminal. Exit codes: 0 finished, 1 failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dsebo import __version__
from dsebo.cli import runs
from dsebo.cli.app import app_command
from dsebo.cli.evaluate import evaluate_command
from dsebo.cli.experiments import race_command, sweep_command
from dsebo.cli.fetch import fetch_command
from dsebo.cli.figure import figure_command
from dsebo.cli.flags import with_config_flags
from dsebo.cli.floor import floor_command
from dsebo.cli.output import EXIT_FAILED, refuse
from dsebo.cli.run import fork_command, resume_command, run_command
from dsebo.config import METHODS
from dsebo.store.errors import LeaseLost, StoreError, StoreFull
from objectives.fields import ConfigError, specs

# A command line that cannot be read. Typer exports only its subclass: the base is Click's own class
# or, in later versions, Typer's copy of it.
UsageError: Any = typer.BadParameter.__bases__[0]


class Commands(TyperGroup):
    """The commands; what any of them cannot take ends it with one sentence and exit code 2."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command's name."""
        any_given = bool(args)
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            if not any_given:  # the help is shown instead
                raise
            refuse(error.format_message())

    def invoke(self, ctx: Any) -> Any:
        """Read the command's own options, and run it."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            refuse(error.format_message())
        except (StoreFull, LeaseLost) as error:  # nothing that was asked for is wrong
            refuse(str(error), EXIT_FAILED)
        except (ConfigError, StoreError) as error:
            refuse(str(error))


app = typer.Typer(
    cls=Commands,
    help="High-dimensional Bayesian optimization in a subspace that grows: DSEBO and its peers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dsebo {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Options before a command's name."""


def methods_command() -> None:
    """List the methods with their settings, defaults and ranges."""
    for method, config in METHODS.items():
        typer.echo(f"{method}: {config.label}")
        for spec in specs(config):
            flag = f"--{spec.name.replace('_', '-')}"
            shown = f"{spec.symbol} " if spec.symbol else ""
            typer.echo(f"    {flag:24s} {shown}= {spec.default}. {spec.help} ({spec.allowed})")


def functions_command() -> None:
    """List the functions, with what is known of each."""
    from objectives import KINDS

    for kind in KINDS.values():
        for name in kind.names():
            typer.echo(f"{name:12s} {kind.description(name)}".rstrip())


app.command("app")(app_command)
app.command("run")(with_config_flags(run_command))
app.command("race")(with_config_flags(race_command))
app.command("sweep")(with_config_flags(sweep_command))
app.command("floor")(with_config_flags(floor_command))
app.command("evaluate")(with_config_flags(evaluate_command))
app.command("fetch")(fetch_command)
app.command("runs")(runs.list_command)
app.command("show")(runs.show_command)
app.command("resume")(resume_command)
app.command("fork")(fork_command)
app.command("export")(runs.export_command)
app.command("figure")(figure_command)
app.command("import")(runs.import_command)
app.command("delete")(runs.delete_command)
app.command("methods")(methods_command)
app.command("functions")(functions_command)


def main() -> None:
    """Entry point of the `dsebo` command."""
    app()
