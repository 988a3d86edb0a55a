"""The CSV pairs that the paper's authors' script writes.

    results/<function>-<budget>/<D>-<d_e>/<beta>/seed_<n>_qual.csv    one objective value a line
    results/<function>-<budget>/<D>-<d_e>/<beta>/seed_<n>_optNos.csv  d of each but the first

Points and times are not in them. Slopes and patience are reconstructed, and marked as such.
"""

from __future__ import annotations

import math
import re
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from dsebo.config import MAX_BUDGET, RunConfig, parse_flat
from dsebo.events import Converged, Started
from dsebo.expansion import Progress, Strategy, after_evaluation, converge, start
from dsebo.methods.dsebo import DseboConfig
from dsebo.objectives.base import ObjectiveConfig
from dsebo.objectives.fields import ConfigError
from dsebo.store.errors import StoreError
from dsebo.transfer.bundle import Imported, evaluation_row, known_minimum, lowest_value, rows_of_run
from dsebo.transfer.incoming import MAX_NUMBER

PAIR = re.compile(
    r"(?:^|/)(?P<function>[A-Za-z][A-Za-z_-]*)-(?P<budget>\d{1,9})/(?P<D>\d{1,9})-(?P<d_e>\d{1,9})"
    r"/(?P<beta>\d{1,9}(?:\.\d{1,9})?)/seed_(?P<seed>\d{1,16})_(?P<what>qual|optNos)\.csv$"
)
LAYOUT = "results/<function>-<budget>/<D>-<d_e>/<beta>/seed_<n>_qual.csv"
NAMES = {"dixon": "dixon-price", "dixonprice": "dixon-price", "dixon_price": "dixon-price"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MAX_LINES = MAX_BUDGET + 1
MAX_CENTRE_D = 100_000
_NEVER = sys.maxsize  # a patience that only counts


def is_pair(path: str) -> bool:
    """Whether a path is one of a pair."""
    return PAIR.search(path) is not None


def parse_pairs(files: Mapping[str, bytes]) -> list[Imported]:
    """The runs of these files, by path; those of one folder are one group."""
    groups: dict[str, str] = {}
    runs = []
    for path in sorted(files):
        match = PAIR.search(path)
        if match is None or match["what"] == "optNos":
            continue
        other = path[: -len("qual.csv")] + "optNos.csv"
        if other not in files:
            raise StoreError(f"{path}: its pair {other.rpartition('/')[2]} is missing.")
        group = groups.setdefault(path.rpartition("/")[0], secrets.token_hex(8))
        values, dims = _values(files[path], path), _dimensions(files[other], other)
        runs.append(_imported(match, path, other, values, dims, group))
    if not runs:
        raise StoreError(f"No result was found: the layout is {LAYOUT} with its _optNos.csv.")
    return runs


def _imported(
    match: re.Match[str], path: str, other: str, values: list[float], dims: list[int], group: str
) -> Imported:
    if len(dims) != len(values) - 1:
        raise StoreError(
            f"{other}, line {len(dims)}: one dimension is needed for each of the {len(values)} values "
            f"but the first (got {len(dims)})."
        )
    _check_dimensions(dims, int(match["D"]), other)
    config = _config(match, path, dims)
    _check_values(config, values, path)
    told = reconstruct(config, values, [dims[0], *dims])
    events: list[dict[str, Any]] = [_started(config), *told.events]
    whole = len(values) >= config.budget
    name = (
        f"Authors' {config.objective.name}, D = {config.objective.D}, "
        f"β = {getattr(config.optimizer, 'beta', 0):g}"
    )
    return rows_of_run(
        name,
        group,
        config,
        _rows(values, dims, told),
        events,
        state="finished" if whole else "interrupted",
        d=told.d,
        minimum=events[0]["minimum"],
        at_centre=events[0]["at_centre"],
        error=None if whole else f"Imported with {len(values)} of {config.budget} evaluations.",
    )


def _config(match: re.Match[str], path: str, dims: list[int]) -> RunConfig:
    """The config that the path names, in the variant of the authors' code."""
    name = match["function"].lower()
    D = int(match["D"])
    task = {"function": NAMES.get(name, name), "D": D, "d_e": int(match["d_e"]), "coordinates": "random"}
    subspaces = {"beta": float(match["beta"]), "d_l": dims[0], "d_h": max(min(D, 100), *dims)}
    run = {"variant": "authors", "budget": int(match["budget"]), "seed": int(match["seed"])}
    try:
        return parse_flat({**task, **subspaces, **run})
    except ConfigError as error:
        raise StoreError(f"{path}: {error}") from None


def _started(config: RunConfig) -> dict[str, Any]:
    minimum, centre = known_minimum(config.objective), _at_centre(config.objective)
    event = Started(0, config.model_dump(mode="json"), minimum, centre, None)
    return {**event.to_json(), "reconstructed": True}


@lru_cache(maxsize=256)
def _at_centre(objective: ObjectiveConfig) -> float | None:
    """The value at the centre, once for all seeds; not where D is so large that a file takes seconds."""
    if objective.D > MAX_CENTRE_D:
        return None
    value = float(objective.build()(np.zeros((1, objective.D)))[0])
    return value if math.isfinite(value) else None


def _check_values(config: RunConfig, values: list[float], path: str) -> None:
    lowest = lowest_value(known_minimum(config.objective))
    for line, y in enumerate(values, 1):
        if y < lowest:
            raise StoreError(f"{path}, line {line}: {y:g} is below the minimum of {config.function}.")


def _rows(values: list[float], dims: list[int], told: Evaluations) -> list[dict[str, Any]]:
    counts = zip(
        values, [dims[0], *dims], accumulate(values, min), told.patience, told.since_gain, strict=True
    )
    return [
        evaluation_row(t, y, best, d=d, T=T, since_gain=since_gain)
        for t, (y, d, best, T, since_gain) in enumerate(counts, start=1)
    ]


def _values(data: bytes, path: str) -> list[float]:
    numbers = [number for _, number in _numbers(data, path)]
    if len(numbers) < 2:
        raise StoreError(f"{path}, line {len(numbers)}: at least 2 values are needed.")
    return numbers


def _dimensions(data: bytes, path: str) -> list[int]:
    numbers = []
    for line, number in _numbers(data, path):
        if number != int(number) or not 1 <= number <= 1e9:
            raise StoreError(f"{path}, line {line}: {number:g} is not a dimension.")
        numbers.append(int(number))
    if not numbers:
        raise StoreError(f"{path}, line 1: the file is empty.")
    return numbers


def _check_dimensions(dims: list[int], D: int, path: str) -> None:
    for i in range(1, len(dims)):
        if dims[i] < dims[i - 1]:
            raise StoreError(f"{path}, line {i + 1}: d never falls, but goes {dims[i - 1]} → {dims[i]}.")
    if dims[-1] > D:
        line = next(i for i, d in enumerate(dims, 1) if d > D)
        raise StoreError(f"{path}, line {line}: d = {dims[line - 1]} is above D = {D}.")


def _numbers(data: bytes, path: str) -> list[tuple[int, float]]:
    """(line, number), one a line; empty lines only at the end."""
    try:
        lines = data.decode("utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StoreError(f"{path}, line {line}: not text.") from None
    if len(lines) > _MAX_LINES:
        raise StoreError(f"{path}, line {_MAX_LINES + 1}: at most {_MAX_LINES} lines are allowed.")
    return [(i, _number(line.strip(), path, i)) for i, line in enumerate(lines, 1)]


def _number(word: str, path: str, line: int) -> float:
    if not _NUMBER.fullmatch(word) or abs(float(word)) > MAX_NUMBER:
        shown = word if len(word) <= 40 else f"{word[:37]}..."
        raise StoreError(f"{path}, line {line}: {shown!r} is not a finite number of a usual size.")
    return float(word)


# --- what the files do not say: slopes, patience and counts behind values and dimensions ---


@dataclass
class Evaluations:
    """What the files do not say, one entry per evaluation, and the events between them."""

    patience: list[int] = field(default_factory=list)
    since_gain: list[int] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    d: int = 0


def reconstruct(config: RunConfig, values: list[float], dims: list[int]) -> Evaluations:
    """Follow the recorded dimensions, and take everything else from the strategy's own rules."""
    assert isinstance(config.optimizer, DseboConfig)
    strategy = config.optimizer.strategy(config.budget)
    told, now = Evaluations(), start(strategy)
    for t, y in enumerate(values, 1):
        before = now
        then = dims[min(t, len(dims) - 1)]  # after the last one: nothing that is not on record
        now, event = _next(strategy, before, t, y, then)
        told.patience.append(before.T)
        told.since_gain.append(now.count if event is None else before.count + 1)
        if event is not None:
            told.events.append({**event.to_json(), "reconstructed": True})
    told.d = now.d
    return told


def _next(
    strategy: Strategy, now: Progress, t: int, y: float, then: int
) -> tuple[Progress, Converged | None]:
    """What followed evaluation t, given the dimension `then` of the next one."""
    ruled, event = after_evaluation(strategy, now, t, y)
    if ruled.d == then:
        return ruled, event
    counted, _ = after_evaluation(strategy, replace(now, T=_NEVER), t, y)
    counted = replace(counted, T=now.T)
    if then == now.d:  # the rules would have expanded, the run did not
        return counted, None
    return _recorded_expansion(strategy, counted, t, then)


def _recorded_expansion(strategy: Strategy, now: Progress, t: int, d_to: int) -> tuple[Progress, Converged]:
    """An expansion that is in the files though the rules give another, or none."""
    after, event = converge(strategy, now, t, decide=d_to - now.d)
    text = (
        f"Evaluation {t}: from d = {now.d} to d = {d_to}, as the imported files have it; "
        f"slopes and patience {after.T} are reconstructed."
    )
    return after, replace(event, text=text, ruled=None)
