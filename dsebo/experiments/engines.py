"""Where the runs of an experiment are worked on: this process, others of the machine, a Dask cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from dsebo.experiments.worker import Outcome, Task, under_way, work
from dsebo.store.errors import StoreError

CONNECT_SECONDS = 10
_ORPHAN_SECONDS = 10.0  # that a worker without its parent has to save its run
_NICE = 5  # pages and live runs go first
_NO_TRACKER_NOISE = "ignore:resource_tracker:UserWarning"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def local_executor(workers: int) -> Executor:
    """Worker processes of this machine, one thread each. They never run the main script again."""
    from loky import ProcessPoolExecutor
    from loky.backend import get_context

    _hush_tracker()
    executor: Executor = ProcessPoolExecutor(
        workers,
        context=get_context("loky"),
        initializer=_prepare,
        initargs=(os.getpid(),),
        env=dict.fromkeys(_THREADS, "1"),
    )
    return executor


def _hush_tracker() -> None:
    """loky's tracker of temporary files warns, on our terminal, of those that are gone already.

    It is a process of its own, so only its environment can tell it not to.
    """
    known = os.environ.get("PYTHONWARNINGS", "")
    if _NO_TRACKER_NOISE not in known:
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (known, _NO_TRACKER_NOISE)))


def _prepare(parent: int) -> None:
    """Set up a worker: Ctrl-C is its parent's to handle, and it must not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    import torch  # noqa: F401  (takes seconds: before the first run, not in it)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while under_way and time.monotonic() < deadline:  # the run sees it too, and is saved
        time.sleep(0.1)
    os._exit(1)


class Engine(ABC):
    """An executor, how many tasks it works on at once, and how to replace it when it breaks."""

    local: bool
    executor: Executor
    workers: int

    def at_once(self) -> int:
        """How many tasks are worked on at a time."""
        return self.workers

    def wanted(self) -> int:
        """How many tasks it should have: no more than it works on at once."""
        return self.at_once()

    @abstractmethod
    def replace(self) -> None:
        """Another executor in place of one that has broken."""

    @abstractmethod
    def close(self) -> None:
        """End it, with whatever it still works on."""

    def submit(self, task: Task) -> Future[Outcome]:
        """Have a task done."""
        return self.executor.submit(work, task)


class ThreadEngine(Engine):
    """This process, one run after the other: for what is done before other processes have started."""

    local = True

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.executor = ThreadPoolExecutor(workers)

    def replace(self) -> None:
        """Threads do not break."""

    def close(self) -> None:
        """Wait for the evaluation under way."""
        self.executor.shutdown(wait=True, cancel_futures=True)


class LocalEngine(Engine):
    """As many processes as are asked for."""

    local = True

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.executor = local_executor(workers)

    def wanted(self) -> int:
        """One task ready for each: all processes take from one queue.

        A Dask worker has a queue of its own, and what waits in it another, idle worker does not
        get in time: two runs of 24 were then lost to waiting.
        """
        return 2 * self.workers

    def replace(self) -> None:
        """A pool that has lost a process is of no use any more."""
        self.close()
        self.executor = local_executor(self.workers)

    def close(self) -> None:
        """Kill what is still there: what it had evaluated is in the store."""
        pool: Any = self.executor
        pool.shutdown(wait=True, kill_workers=True)


class ClusterEngine(Engine):
    """A Dask cluster that others have started; its workers must reach the store."""

    local = False

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _client(address)
        self.executor = cluster_executor(self._client)

    def at_once(self) -> int:
        """Threads of all workers, as many as there are now; at least one, for those to come."""
        try:
            threads: dict[str, int] = self._client.nthreads()
        except (OSError, TimeoutError) as error:
            raise StoreError(
                f"The cluster at {self.address} is no longer there: {_one_line(error)}."
            ) from None
        return max(1, sum(threads.values()))

    def replace(self) -> None:
        """Connect again."""
        self.close()
        self._client = _client(self.address)
        self.executor = cluster_executor(self._client)

    def close(self) -> None:
        """Drop what has not begun; the cluster itself is not ours to end."""
        pool: Any = self.executor
        if self._client.status == "running":  # else the cluster has ended by itself
            pool.shutdown(wait=False)
        self._client.close(timeout=5)


def cluster_executor(client: Any) -> Executor:
    """An executor on a Dask client. The same task sent again is done again."""
    executor: Executor = client.get_executor(pure=False)
    return executor


def _client(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise StoreError(
            "--cluster needs the Python package distributed: pip install 'dsebo[cluster]'."
        ) from None
    try:
        connect: Any = distributed.Client
        return connect(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise StoreError(f"The cluster at {address} cannot be reached: {_one_line(error)}.") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")
