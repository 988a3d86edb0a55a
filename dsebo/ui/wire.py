"""What a component is sent: the whole of what it shows, once, and from then on what is new.

A state is plain data (mappings, lists, arrays, numbers, texts). Each has a number; a message says from
which state to which it leads, and each series in it from which value on it goes on. A component that
has another state than the one a message starts from asks for the whole (`live/wire.js`).
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson

# From the clock on: a tab that outlives the server must not take another state for the one it has.
_numbers = itertools.count(int(time.time() * 1000))
_lock = threading.Lock()
_KEPT = 4  # messages from so many earlier states, for those who are slower than others

_SINGLE = {str, int, float, bool, type(None)}
Change = tuple[Any, ...]  # (what to do, where, with what)


class Frame:
    """One state of what a component shows; its messages are made once, for all who are sent them."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.plain, self.number = plain, next(_numbers)
        self._messages: dict[int | None, bytes] = {}

    def whole(self) -> bytes:
        """All of it."""
        return self._message(None)

    def since(self, before: Frame) -> bytes:
        """What is new, for those who have an earlier state."""
        return self._message(before)

    def _message(self, before: Frame | None) -> bytes:
        place = None if before is None else before.number
        with _lock:
            if place not in self._messages:
                while len(self._messages) > _KEPT:
                    del self._messages[next(iter(self._messages))]
                self._messages[place] = _encode(self._content(before))
            return self._messages[place]

    def _content(self, before: Frame | None) -> dict[str, Any]:
        if before is None:
            return {"to": self.number, "whole": self.plain}
        new = [] if before is self else list(changes(before.plain, self.plain))
        return {"from": before.number, "to": self.number, "changes": new}


def changes(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> Iterator[Change]:
    """What turns one state into another.

    `set` puts a value in a place, `drop` takes a name out of a mapping, `add` appends to a series
    that has so many values, `keep` cuts a list to so many.
    """
    if type(old) in _SINGLE and type(new) in _SINGLE:  # nearly all: the checks below take ten times as long
        if old != new:
            yield "set", path, new
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from (("drop", path, name) for name in old if name not in new)
        for name, value in new.items():
            if name in old:
                yield from changes(old[name], value, (*path, name))
            else:
                yield "set", (*path, name), value
    elif _is_series(old) and _is_series(new):
        n = len(old)
        if len(new) < n or not _same(old, new[:n]):
            yield "set", path, new
        elif len(new) > n:
            yield "add", path, n, new[n:]
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        for place, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from changes(before, after, (*path, place))
        if len(new) > len(old):
            yield "add", path, len(old), new[len(old) :]
        elif len(new) < len(old):
            yield "keep", path, len(new)
    elif isinstance(old, np.ndarray) or isinstance(new, np.ndarray) or old != new:
        yield "set", path, new


def _is_series(value: Any) -> bool:
    """Whether it is one number or text after another: it grows at its end, or is another one."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    if not isinstance(value, list | tuple):
        return False
    nested = (Mapping, list, tuple, np.ndarray)
    return not any(type(item) not in _SINGLE and isinstance(item, nested) for item in value)


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return bool(np.array_equal(old, new, equal_nan=old.dtype.kind == "f" == new.dtype.kind))
    return list(old) == list(new)


def _encode(content: Any) -> bytes:
    """JSON. What is not a number there (NaN, infinite) becomes null, a gap in a line."""
    return orjson.dumps(content, default=_plainer, option=orjson.OPT_SERIALIZE_NUMPY)


def _plainer(value: Any) -> Any:
    """Arrays that the encoder does not take: of objects, or strided."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be sent.")
