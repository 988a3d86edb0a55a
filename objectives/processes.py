"""Evaluations in processes of their own: with another environment, or so that one that hangs can be ended.

Such a process is `serve`: it reads pickles from its parent, and ends with it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import selectors
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, Any

ROOT = str(Path(__file__).parents[2])
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_LENGTH = struct.Struct("<Q")


class TooSlow(RuntimeError):
    """A call took longer than it may; its process was ended."""


class Lost(RuntimeError):
    """The process ended in the middle of a call."""


class Processes:
    """As many processes as calls are under way at once, each with its own copy of an object.

    Args:
        maker: What makes the object, of a module's top level; it is called with `arguments`.
        arguments: Plain values.
        environment: What is set for the processes besides, over what this one has.
        most: How many there may be; further calls wait. None: as many as there are calls.
    """

    def __init__(
        self,
        maker: Callable[..., Any],
        arguments: tuple[Any, ...],
        environment: Mapping[str, str] | None = None,
        most: int | None = None,
    ) -> None:
        self._start = (maker, arguments)
        self._environment = {**ONE_THREAD, **(environment or {})}
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._ending = False
        self._places = nullcontext() if most is None else threading.BoundedSemaphore(most)

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """What the object's method returns; what it raises is raised here.

        TooSlow after `timeout` seconds, Lost where the process died: the next call gets a new one.
        """
        with self._places:
            return self._call(method, arguments, timeout)

    def call_each(self, method: str, arguments: Sequence[Any], timeout: float | None = None) -> list[Any]:
        """What `call` returns for each of the arguments, all at once; what it raises stands in its place.

        Interrupted, it ends the processes that are at work: nobody waits for them any more.
        """
        try:
            with ThreadPoolExecutor(len(arguments)) as threads:
                calls = [threads.submit(self.call, method, a, timeout=timeout) for a in arguments]
                try:
                    wait(calls)
                except BaseException:
                    self._end()
                    raise
        finally:
            self._ending = False
        return [call.exception() or call.result() for call in calls]

    def _call(self, method: str, arguments: tuple[Any, ...], timeout: float | None) -> Any:
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is None or process.ended:
            process = _Process(self._start, self._environment)
        try:
            with self._lock:
                self._busy.add(process)
                if self._ending:
                    raise Lost("the evaluation was interrupted")
            worked, answer = process.ask((method, arguments), timeout)
        except BaseException:
            process.kill()
            raise
        finally:
            with self._lock:
                self._busy.discard(process)
        with self._lock:
            self._idle.append(process)
        if not worked:
            raise answer
        return answer

    def _end(self) -> None:
        """Let the calls under way fail, now."""
        with self._lock:
            self._ending = True
            for process in self._busy:
                process.interrupt()

    def close(self) -> None:
        """End those that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.kill()


class _Process:
    def __init__(self, start: Any, environment: Mapping[str, str]) -> None:
        paths = os.pathsep.join([ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment, "PYTHONPATH": paths},
            start_new_session=True,  # what a function starts ends with it
        )
        atexit.register(self.kill)
        worked, answer = self.ask(start, None)
        if not worked:
            self.kill()
            raise answer

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, question: Any, timeout: float | None) -> tuple[bool, Any]:
        """(whether it worked, the answer or the exception)."""
        assert self._process.stdin is not None
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            _write(self._process.stdin, question)
            length = _LENGTH.unpack(self._read(_LENGTH.size, deadline, timeout))[0]
            return pickle.loads(self._read(length, deadline, timeout))  # type: ignore[no-any-return]
        except (EOFError, BrokenPipeError):
            code = self._process.wait()
            raise Lost(f"the process of the evaluation ended with code {code}") from None

    def _read(self, size: int, deadline: float | None, timeout: float | None) -> bytes:
        assert self._process.stdout is not None
        pipe, parts = self._process.stdout.fileno(), []
        with selectors.DefaultSelector() as ready:
            ready.register(pipe, selectors.EVENT_READ)
            while size:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                if not ready.select(left):
                    raise TooSlow(f"no value within {timeout:g} s")
                part = os.read(pipe, min(size, 1 << 20))
                if not part:
                    raise EOFError
                parts.append(part)
                size -= len(part)
        return b"".join(parts)

    def interrupt(self) -> None:
        """Let the thread that waits for it see that it has ended, and what it has started."""
        with suppress(ProcessLookupError):  # they have ended by themselves
            os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End it at once."""
        atexit.unregister(self.kill)
        self.interrupt()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _write(pipe: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _outcome(work: Any) -> tuple[bool, Any]:
    """What a piece of work returns or raises, as it can be sent."""
    try:
        outcome: tuple[bool, Any] = (True, work())
        pickle.dumps(outcome)
    except Exception as error:  # a user's function may raise anything
        return False, _plain(error)
    return outcome


def _plain(error: Exception) -> Exception:
    """The exception, if it can be sent and read; else its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an exception may be of a class that only this process has
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _made(maker: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, maker(*arguments)
    except Exception as error:  # a user's file may raise anything
        return False, _plain(error)


def serve() -> None:
    """Make the object, then answer calls until the parent is gone."""
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the parent, which ends this one
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a function prints is for people
    served: Any = None
    while length := asked.read(_LENGTH.size):
        first, arguments = pickle.loads(asked.read(_LENGTH.unpack(length)[0]))
        if served is None:
            worked, served = _made(first, arguments)
            _write(answers, (worked, None if worked else served))
            served = served if worked else None
        else:
            _write(answers, _outcome(lambda served=served, n=first, a=arguments: getattr(served, n)(*a)))
