"""Flags: those that several commands share, and one for each setting of a run."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from dsebo.config import METHODS, RunConfig, parse_flat
from dsebo.objectives.fields import ConfigError, FieldSpec, must, whole_number
from dsebo.objectives.own import Source, offer, offered
from dsebo.parsing import config_flags, read_value
from dsebo.runs.machine import use_kept_pace
from dsebo.store.store import Store

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
_OWN = "A function of one's own"
Bounds = Annotated[
    str | None,
    typer.Option("--bounds", help="Of every variable: -5,10.", metavar="LOW,HIGH", rich_help_panel=_OWN),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        help="Processes that evaluate it, several at once with --batch; else the run does.",
        rich_help_panel=_OWN,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        help="Seconds after which an evaluation has failed; takes a process.",
        rich_help_panel=_OWN,
    ),
]
Function = Annotated[
    str | None, typer.Option("--function", help="Its file and name: my_problem.py:f.", rich_help_panel=_OWN)
]
Size = Annotated[
    str | None, typer.Option("--D", help="How many variables it has.", metavar="WHOLE", rich_help_panel=_OWN)
]
OF_FUNCTION = {"bounds": Bounds, "workers": Workers, "timeout": Timeout}
RUN_IDS = typer.Argument(metavar="ID...", help="Ids of runs, or their first characters.")
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
    """Give a command one flag for each setting; those given arrive as the dict `given`.

    The flags that it shares with another arrive as `asked`, a dataclass of them.
    """
    signature = inspect.signature(command, eval_str=True)
    common = signature.parameters.get("asked")  # flags of several commands, as the fields of a class
    asked = [] if common is None else _flags_of(common.annotation)
    own = [*(p for p in signature.parameters.values() if p.name not in ("given", "asked")), *asked]
    flags = [_parameter(name, spec) for name, spec in config_flags().items()]
    of_function = [_keyword(name, hint, None) for name, hint in OF_FUNCTION.items()]
    names = [p.name for p in own]
    of_function = [p for p in of_function if p.name not in names]

    def wrapped(**values: Any) -> Any:
        given = {p.name: values.pop(p.name) for p in flags}
        called = {p.name: values.pop(p.name) for p in of_function}
        given = {name: text for name, text in given.items() if text is not None}
        if common is not None:
            values["asked"] = common.annotation(**{p.name: values.pop(p.name) for p in asked})
        return command(given=_with_own(given, called), **values)

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = inspect.Signature([*own, *flags, *of_function])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in [*own, *flags, *of_function]}
    return wrapped


def _with_own(given: dict[str, Any], called: dict[str, Any]) -> dict[str, Any]:
    """The flags, with the name of a function of one's own in place of its file."""
    place = given.get("function", "")
    if not is_place(place):
        if wrong := [name for name, value in called.items() if value is not None]:
            raise ConfigError(f"--{wrong[0]} is for a function of one's own, such as my_problem.py:f.")
        return given
    D = given.pop("D", None)
    return {**given, "function": offer_function(place, D, **called)}


def offer_again(
    place: str | None, D: str | None, bounds: str | None, workers: int | None, timeout: float | None
) -> None:
    """The function that a stored run is of, where the command names its file."""
    called = {"bounds": bounds, "workers": workers, "timeout": timeout}
    if place is not None and not is_place(place):
        raise ConfigError(must("function", "a file and a name in it, such as my_problem.py:f", place))
    if place is None and D is not None:
        raise ConfigError("--D is for a function of one's own, such as my_problem.py:f.")
    _with_own({"function": place or "", **({} if D is None else {"D": D})}, called)


def flags_of_function(config: RunConfig) -> str:
    """What another command needs to know of a function of one's own; nothing of any other."""
    known = offered().get(config.objective.name) if config.objective.kind == "own" else None
    if known is None:
        return ""
    source = known.source
    parts: list[str] = ["--function", source.place]
    parts += [] if source.bounds is None else ["--bounds={:.17g},{:.17g}".format(*source.bounds)]
    parts += [] if source.D is None else ["--D", str(source.D)]
    return " " + shlex.join(parts)


def is_place(text: str) -> bool:
    """Whether it is a file and a name in it, not a function's name."""
    return ".py:" in text or text.endswith(".py")


def offer_function(
    place: str,
    D: str | None = None,
    bounds: str | None = None,
    workers: int | None = None,
    timeout: float | None = None,
) -> str:
    """Make a function of one's own known to this process and its children; its name."""
    size = None if D is None else whole_number(D)
    if D is not None and size is None:
        raise ConfigError(must("D", "a whole number, 1 or more", D))
    ends = None if bounds is None else _ends(bounds)
    file, _, attribute = place.rpartition(":")
    place = f"{Path(file).resolve()}:{attribute}" if file else place
    return offer(Source(place, ends, size, workers or (0 if timeout is None else 1), timeout))


def _ends(text: str) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in text.split(","))
    except ValueError:
        raise ConfigError(must("bounds", "two numbers, such as -5,10", text)) from None
    return low, high


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _flags_of(model: type[Any]) -> list[inspect.Parameter]:
    """The fields of a dataclass that are flags."""
    hints = get_type_hints(model, include_extras=True)
    flags = [field for field in fields(model) if get_origin(hints[field.name]) is Annotated]
    return [_keyword(field.name, hints[field.name], field.default) for field in flags]


def _parameter(name: str, spec: FieldSpec) -> inspect.Parameter:
    # Text, whatever the type: the config checks it, and its sentence is the one that people see.
    flag = typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"{spec.help} ({spec.allowed})",
        show_default=False,
        metavar=spec.kind.upper(),
        rich_help_panel="Advanced settings" if spec.advanced else "Settings",
    )
    return _keyword(name, Annotated[str | None, flag], None)


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
        raise ConfigError(f"{file} cannot be read as JSON: {why}.") from None
    if not isinstance(base, dict):
        raise ConfigError(must("config", "a file with one JSON object", str(file)))
    return base
