"""A Dask cluster of separate processes on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.small import wait_for

# As the README advises: Dask looks at what a worker does every 10 ms, and that takes its time.
NO_PROFILER = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


class Cluster:
    """A scheduler and some workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--scheduler-file", str(self._file))
        wait_for(lambda: self._file.exists() and self._file.read_text().strip(), 60)
        self.address = str(json.loads(self._file.read_text())["address"])
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_worker(self) -> None:
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder)]
        self.workers.append(self._start("worker", self.address, *options))

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        common = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        if what == "worker":
            common[2] = "--worker-port"
        with (self._folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, *common],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={**os.environ, **NO_PROFILER},
            )

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
