"""Where in a JSON text a value stands: parsers tell it only for broken syntax."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def line_of(text: str, path: Sequence[int | str]) -> int:
    """The line (from 1) of the value at `path`, or of its nearest parent that exists.

    Args:
        text: Valid JSON.
        path: Keys and indexes from the root.
    """
    here: list[int | str] = []  # the path of the value that the next token begins
    nearest, depth, expects_key = 0, -1, False
    for token in _TOKEN.finditer(text):
        word = token.group()
        if expects_key and word.startswith('"'):
            here[-1], expects_key = json.loads(word), False
        elif word == ",":
            last = here[-1]
            if isinstance(last, int):
                here[-1] = last + 1
            else:
                expects_key = True
        elif word in "]}":
            here.pop()
            expects_key = False
        elif word != ":":
            if len(here) > depth and list(path[: len(here)]) == here:
                nearest, depth = token.start(), len(here)
            if word in "[{":
                here.append(0 if word == "[" else "")
                expects_key = word == "{"
    return text.count("\n", 0, nearest) + 1
