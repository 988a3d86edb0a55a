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


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin torch and BLAS to one thread; the first to enter pins, the last to leave restores."""
    import torch  # here, as it takes seconds: a config is checked without it

    global _inside, _before
    torch_before = torch.get_num_threads()
    torch.set_num_threads(1)  # torch keeps this for each calling thread
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = [(library, library.num_threads) for library in _blas()]
            for library, _ in _before:
                _set(library, 1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, count in _before:
                    _set(library, count)
        torch.set_num_threads(torch_before)


@cache
def _blas() -> list[Any]:
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded to be found)

    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]


def _set(library: Any, count: int) -> None:
    # threadpoolctl lets only the first thread that ever called it change OpenBLAS; who may is
    # decided by the count above here, so the setter underneath is the one that is needed.
    setter = getattr(library, "_real_set_num_threads", library.set_num_threads)
    setter(count)
