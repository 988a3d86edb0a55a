"""The same runs from a terminal. Exit codes: 0 finished, 1 failed, 2 bad input, 130 interrupted.

A command's module is imported when that command is called; the help lists the docstrings below.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from dsebo import __version__

Command = Callable[..., Any]

# A command line that cannot be read. Typer exports only its subclass: the base is Click's own class
# or, in later versions, Typer's copy of it.
UsageError: Any = typer.BadParameter.__bases__[0]
OF_THE_APP = ("streamlit", "plotly", "pyarrow", "segno")  # what dsebo[app] installs besides


class Commands(TyperGroup):
    """The commands; what any of them cannot take ends it with one sentence and exit code 2."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command's name."""
        any_given = bool(args)
        if any("\x00" in word for word in args):  # no shell lets one through, and no file has it in its name
            _refuse("An argument must not have a null byte in it.")
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            if not any_given:  # the help is shown instead
                raise
            _refuse(_words(error))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself, where the help has only its name and its line."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, load_command(name or ""), rest

    def invoke(self, ctx: Any) -> Any:
        """Read the command's own options, and run it."""
        from dsebo.objectives.fields import ConfigError
        from dsebo.store.errors import LeaseLost, StoreError, StoreFull

        try:
            return super().invoke(ctx)
        except UsageError as error:
            _refuse(_words(error))
        except (StoreFull, LeaseLost) as error:  # nothing that was asked for is wrong
            _refuse(str(error), failed=True)
        except (ConfigError, StoreError) as error:
            _refuse(str(error))
        except ImportError as error:  # of charts or tables, where only the library is installed
            missing = next((name for name in OF_THE_APP if name in str(error)), None)
            if missing is None:
                raise
            _refuse(f"This needs {missing}: pip install 'dsebo[app]'.")


def _words(error: Any) -> str:
    """What is wrong with a command line; of a value in the words that settings have, not in pydantic's."""
    problems = getattr(error.__cause__, "errors", None)
    if problems is None:
        return str(error.format_message())
    from dsebo.objectives.fields import must

    allowed = problems()[0]["msg"].partition(",")[0].removeprefix("Input should be ")
    return must(error.param.name, allowed, problems()[0]["input"])


def _refuse(message: str, failed: bool = False) -> NoReturn:
    from dsebo.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, refuse

    refuse(message, EXIT_FAILED if failed else EXIT_BAD_INPUT)


app = typer.Typer(
    cls=Commands,
    help="High-dimensional Bayesian optimization in a subspace that grows: DSEBO and its peers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_loaders: dict[str, Callable[[], Command]] = {}


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


def command(name: str, settings: bool = False) -> Callable[[Callable[[], Command]], None]:
    """Add a command; what is decorated imports it. `settings`: it has a flag for each of a run's settings."""

    def add(load: Callable[[], Command]) -> None:
        def whole() -> Command:
            from dsebo.cli.flags import with_config_flags

            return with_config_flags(load())

        _loaders[name] = whole if settings else load
        app.command(name)(load)

    return add


@cache
def load_command(name: str) -> Any:
    """The command of that name with all its options."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name)(_loaders[name]())
    return typer.main.get_command(alone)


@command("app")
def _app() -> Command:
    """Start the dashboard and open it in a browser; Ctrl-C ends it."""
    from dsebo.cli.dashboard import app_command

    return app_command


@command("run", settings=True)
def _run() -> Command:
    """Run one optimization and watch it."""
    from dsebo.cli.run import run_command

    return run_command


@command("race", settings=True)
def _race() -> Command:
    """Let several methods search the same function from the same seeds."""
    from dsebo.cli.experiments import race_command

    return race_command


@command("sweep", settings=True)
def _sweep() -> Command:
    """Run a sweep: every combination of what varies, for every seed."""
    from dsebo.cli.experiments import sweep_command

    return sweep_command


@command("floor", settings=True)
def _floor() -> Command:
    """The floor of each subspace of DSEBO: the best value that any of its points reaches."""
    from dsebo.cli.floor import floor_command

    return floor_command


@command("evaluate", settings=True)
def _evaluate() -> Command:
    """The values of a function at points of [-1, 1]^D, without noise."""
    from dsebo.cli.evaluate import evaluate_command

    return evaluate_command


@command("fetch")
def _fetch() -> Command:
    """Fetch the genuine rows of mslr: 10 000 rows that the source archive of rankeval bundles."""
    from dsebo.cli.fetch import fetch_command

    return fetch_command


@command("runs")
def _runs() -> Command:
    """List stored runs."""
    from dsebo.cli.runs import list_command

    return list_command


@command("show")
def _show() -> Command:
    """Show one run: how it stands, its settings, and what happened in it."""
    from dsebo.cli.runs import show_command

    return show_command


@command("resume")
def _resume() -> Command:
    """Carry an interrupted run on, to the same history as if nothing had happened."""
    from dsebo.cli.run import resume_command

    return resume_command


@command("fork")
def _fork() -> Command:
    """Fork a run at a convergence: the same history up to there, then another decision or setting."""
    from dsebo.cli.run import fork_command

    return fork_command


@command("export")
def _export() -> Command:
    """Export runs: CSV, Parquet, a JSON bundle that can be imported, HTML, an Optuna study."""
    from dsebo.cli.files import export_command

    return export_command


@command("figure")
def _figure() -> Command:
    """Draw runs as a figure for a paper: one column wide, 8 pt, with its settings as a caption."""
    from dsebo.cli.figure import figure_command

    return figure_command


@command("import")
def _import() -> Command:
    """Import JSON bundles, results of the authors' script, and studies of Optuna to be looked at."""
    from dsebo.cli.files import import_command

    return import_command


@command("delete")
def _delete() -> Command:
    """Take runs off the list; --restore brings them back."""
    from dsebo.cli.runs import delete_command

    return delete_command


@command("methods")
def _methods() -> Command:
    """List the methods with their settings, defaults and ranges."""
    from dsebo.cli.listing import methods_command

    return methods_command


@command("functions")
def _functions() -> Command:
    """List the functions, with what is known of each."""
    from dsebo.cli.listing import functions_command

    return functions_command


def main() -> None:
    """Entry point of the `dsebo` command."""
    app()
