"""`dsebo app`: the dashboard of this checkout, from any folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from dsebo.cli.output import EXIT_FAILED, refuse
from dsebo.settings import Settings
from dsebo.text import value_text

ROOT = Path(__file__).parents[2]
LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0


def app_command(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port that it answers on.")] = 8501,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Start the dashboard and open it in a browser; Ctrl-C ends it.

    It answers this machine only; with mode = "class" in the settings file, the whole network.
    """
    script = ROOT / "app.py"
    if not script.is_file():
        refuse(f"The dashboard needs a checkout of the repository: there is no app.py in {ROOT}.")
    address = "" if Settings.load().mode == "class" else LOOPBACK
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            refuse(f"port = {port} cannot be used: {error.strerror}. Another one: --port {port + 1}.")
    command = [sys.executable, "-m", "streamlit", "run", str(script), *_options(address, port)]
    # Its pages are found beside the script; dsebo is found where this process found it.
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    server = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _wait_until_up(server, port)
        url = f"http://{address or 'localhost'}:{port}"
        typer.echo(f"The dashboard is at {url}; Ctrl-C ends it.")
        if browser:
            webbrowser.open(url)
        code = server.wait()
    except KeyboardInterrupt:
        code = 0  # the way to end it
    finally:
        signal.signal(signal.SIGTERM, before)
        _stop(server)
    if code:
        refuse(f"The dashboard ended with code {code}.", EXIT_FAILED)


def _options(address: str, port: int) -> list[str]:
    """The shipped settings as options: Streamlit reads its file only from the working folder and home."""
    shipped = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    options = dict(_flat(shipped)) | {"server.port": port, "server.headless": True}
    if address:
        options["server.address"] = address
    return [word for name, value in options.items() for word in (f"--{name}", value_text(value))]


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`theme.light.primaryColor` and its value, and so on."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _wait_until_up(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.05)
    refuse("The dashboard did not start; its messages are above.", EXIT_FAILED)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End it; Ctrl-C has reached it already where both stand in one terminal."""
    if server.poll() is None:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
