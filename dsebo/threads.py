"""One thread for torch and BLAS while a step runs: results then do not depend on how many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_before: list[tuple[Any, int]] = []


@cache
def _libraries() -> list[Any]:
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded to be found)

    return list(ThreadpoolController().lib_controllers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin torch and BLAS to one thread; the first to enter pins, the last to leave restores."""
    global _inside, _before
    import torch  # here, as it takes seconds: a config is checked without it

    torch_before = torch.get_num_threads()
    torch.set_num_threads(1)  # torch keeps this for each calling thread
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = [(library, library.num_threads) for library in _libraries()]
            for library, _ in _before:
                library.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, count in _before:
                    library.set_num_threads(count)
        torch.set_num_threads(torch_before)
