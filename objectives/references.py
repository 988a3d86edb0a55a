"""Lines that curves of a real task are read against, as `python -m benchmarks.references` computed them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

CENTRE = "centre"
FILE = Path(__file__).parent / "data" / "references.json"


def known_references(task: str) -> dict[str, float]:
    """The values by their names, the centre first; nothing where none were computed."""
    return dict(_all().get(task, {}))


@cache
def _all() -> dict[str, dict[str, float]]:
    lines: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
    return lines
