"""The app as a benchmark starts it: on a free port of this machine, with a store of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from benchmarks.cpu import process_seconds

ROOT = Path(__file__).parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]  # of Chromium, in a container


class Server:
    """The app on a free port, with a store of its own or that at `url`; or another script of Streamlit's."""

    def __init__(self, folder: str, url: str = "", script: str = "") -> None:
        self.database = f"{folder}/runs.db"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        (Path(folder) / "settings.toml").touch()
        env = {
            **os.environ,
            "DSEBO_DB": url or f"sqlite:///{self.database}",
            "DSEBO_SETTINGS": f"{folder}/settings.toml",
        }
        command = [
            sys.executable,
            "-m",
            "streamlit" if script else "dsebo.ui.serve",
            "run",
            script or "app.py",
            "--server.port",
            str(self.port),
            "--server.address",
            "127.0.0.1",
        ]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def wait(self) -> None:
        """Until it answers."""
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=1)
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("The server was not ready within a minute.")

    def cpu(self) -> float:
        """Seconds of CPU time that the server has used."""
        return process_seconds(self.process.pid)

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(timeout=20)
