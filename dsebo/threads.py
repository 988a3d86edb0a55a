"""One thread for torch and BLAS while a step runs: results then do not depend on how many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_before: list[tuple[object, int]] = []


@cache
def _libraries() -> list[object]:
    return list(ThreadpoolController().lib_controllers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin torch and BLAS to one thread; the first to enter pins, the last to leave restores."""
    global _inside, _before
    torch_before = torch.get_num_threads()
    torch.set_num_threads(1)  # torch keeps this for each calling thread
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = [(library, library.num_threads) for library in _libraries()]  # type: ignore[attr-defined]
            for library, _ in _before:
                library.set_num_threads(1)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, count in _before:
                    library.set_num_threads(count)  # type: ignore[attr-defined]
        torch.set_num_threads(torch_before)
