"""Processes that tests start and interrupt."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def start(command: list[str], **options: Any) -> subprocess.Popen[Any]:
    """A process that Ctrl-C reaches, even where this one runs in the background of a script.

    A shell starts such jobs with the signal ignored, and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, **options)
    finally:
        signal.signal(signal.SIGINT, before)


def dsebo(*words: str) -> list[str]:
    """The command line of `dsebo`, by this Python."""
    return [sys.executable, "-m", "dsebo", *words]


def anywhere() -> dict[str, str]:
    """An environment in which this checkout is imported from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether a dashboard does on that port."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5)
    except OSError:
        return False
    return True
