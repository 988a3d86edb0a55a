"""Flags: those that several commands share, and one for each setting of a run."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from dsebo.config import METHODS, RunConfig, parse_flat
from dsebo.parsing import config_flags, read_value
from dsebo.runs.machine import use_kept_pace
from dsebo.store.store import Store
from objectives.fields import ConfigError, FieldSpec, must

Db = Annotated[
    str | None, typer.Option("--db", help="Database: a URL or a SQLite file. Else DSEBO_DB, else your own.")
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of text; events as one object per line.")]
Name = Annotated[str, typer.Option("--name", help="A name to find it by in the store.")]
Keep = Annotated[bool, typer.Option("--store/--no-store", help="Keep it in the store.")]
Method = Annotated[
    str | None, typer.Option("--method", help=f"One of {', '.join(METHODS)}.", show_default="dsebo")
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="A JSON config; flags override it.", show_default=False)
]
Yes = Annotated[bool, typer.Option("--yes", help="Start it without asking, however long it may take.")]
RunId = Annotated[str, typer.Argument(metavar="ID", help="Id of a run, or its first characters.")]


@contextmanager
def open_store(db: str | None) -> Iterator[Store]:
    """The store for one command."""
    store = Store.open(db)
    use_kept_pace(store)
    try:
        yield store
    finally:
        store.close()


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


def read_flags(given: dict[str, Any], method: str | None = None) -> dict[str, Any]:
    """The values of the flags that are given."""
    flags: dict[str, Any] = {name: read_value(name, text) for name, text in given.items()}
    return flags if method is None else {**flags, "method": method}


def read_file(file: Path | None) -> dict[str, Any]:
    """A JSON config; nothing where no file is given."""
    if file is None:
        return {}
    try:
        base = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"config = {str(file)!r} cannot be read as JSON: {why}.") from None
    if not isinstance(base, dict):
        raise ConfigError(must("config", "a file with one JSON object", str(file)))
    return base
