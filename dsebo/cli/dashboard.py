"""`dsebo app`: the dashboard, from any folder."""

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
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from dsebo.cli.classroom import EVERYWHERE, check_class, describe_class, make_settings
from dsebo.cli.flags import Bounds, Timeout, Workers, offer_function
from dsebo.cli.output import EXIT_FAILED, refuse
from dsebo.settings import Settings, raise_open_files
from dsebo.text import value_text

ROOT = Path(__file__).parents[2]  # where dsebo is: a checkout, or an environment's packages
# The dashboard's script, with pages and settings beside it; in a checkout a link to that of the root.
SCRIPT = (ROOT / "dsebo" / "_app" / "app.py").resolve()
LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
# Streamlit keeps 128 sessions whose browsers have gone, for two minutes, with three open files each.
ENOUGH_FILES, KEPT_SECONDS = 1024, 10


def app_command(
    function: Annotated[
        str | None,
        typer.Argument(
            help="A function of one's own: my_problem.py:f.", metavar="FILE:NAME", show_default=False
        ),
    ] = None,
    bounds: Bounds = None,
    D: Annotated[str | None, typer.Option("--D", help="How many variables it has.", metavar="INT")] = None,
    workers: Workers = None,
    timeout: Timeout = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port that it answers on.")] = 8501,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
    for_class: Annotated[
        bool, typer.Option("--class", help="Open it to a class on the network; makes join link and token.")
    ] = False,
) -> None:
    """Start the dashboard and open it in a browser; Ctrl-C ends it.

    It answers this machine only, unless --class or the address in the settings file opens it.
    """
    if find_spec("streamlit") is None:
        raise ImportError("No module named 'streamlit'")
    open_to_all = for_class or Settings.load().mode == "class"
    own = _offered(function, open_to_all, D=D, bounds=bounds, workers=workers, timeout=timeout)
    settings = make_settings() if for_class else Settings.load()
    if settings.mode == "class":
        check_class(settings)
    address = settings.address
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            refuse(f"Port {port} cannot be used: {error.strerror}. Another one: --port {port + 1}.")
    command = [sys.executable, "-m", "dsebo.ui.serve", "run", str(SCRIPT), *_options(settings, port)]
    # Its pages are found beside the script; dsebo is found where this process found it.
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    # The web server would believe any proxy on this machine: it is told which ones the settings name.
    proxies = ",".join(settings.proxies)
    environment = {**os.environ, "PYTHONPATH": paths, "FORWARDED_ALLOW_IPS": proxies}
    server = subprocess.Popen(command, env=environment)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        here = LOOPBACK if address == EVERYWHERE else address
        _wait_until_up(server, here, port)
        url = f"http://{here}:{port}"
        typer.echo(f"The dashboard is at {url}{own}; Ctrl-C ends it.")
        if settings.mode == "class":
            typer.echo(describe_class(settings, port))
        if browser:
            webbrowser.open(url + own)
        code = server.wait()
    except KeyboardInterrupt:
        code = 0  # the way to end it
    finally:
        signal.signal(signal.SIGTERM, before)
        _stop(server)
    if code:
        refuse(f"The dashboard ended with code {code}.", EXIT_FAILED)


def _offered(function: str | None, open_to_all: bool, **called: Any) -> str:
    """Make a function of one's own known to the dashboard; what its address then ends with."""
    if function is None:
        if wrong := [name for name, value in called.items() if value is not None]:
            refuse(f"--{wrong[0]} is for a function of one's own: dsebo app my_problem.py:f.")
        return ""
    if open_to_all:
        refuse("A function of one's own is for local mode: leave out --class, or mode in the settings file.")
    return f"/?function={quote(offer_function(function, **called))}"


def _options(settings: Settings, port: int) -> list[str]:
    """The shipped settings as options: Streamlit reads its file only from the working folder and home."""
    shipped = tomllib.loads((SCRIPT.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    own = {"server.port": port, "server.address": settings.address, "server.headless": True}
    own["server.maxUploadSize"] = settings.import_limits.upload_mb  # also of what no page asked for
    if settings.mode == "class":
        own["server.fileWatcherType"] = "none"  # an update of dsebo must not change a class under way
    files = raise_open_files()  # the server inherits it
    if files is not None and files < ENOUGH_FILES:
        own["server.disconnectedSessionTTL"] = KEPT_SECONDS
    options = dict(_flat(shipped)) | own
    return [word for name, value in options.items() for word in (f"--{name}", value_text(value))]


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`theme.light.primaryColor` and its value, and so on."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _wait_until_up(server: subprocess.Popen[bytes], address: str, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((address, port)) == 0:
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
