"""Studies of Optuna as runs to look at: of a SQLite file, a journal, or a storage by its address.

A study's trials become evaluations in their order. x are the float and int parameters that every trial has,
each on [-1, 1] of its range. Nothing is executed, and a file is read from a copy: Optuna writes to what it
opens.
"""

from __future__ import annotations

import math
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dsebo.config import MAX_BUDGET, RunConfig
from dsebo.events import Started
from dsebo.objectives.fields import MAX_D, short
from dsebo.runs.commands import MAX_NAME, checked_name
from dsebo.store.errors import StoreError
from dsebo.store.schema import VERSION_TABLE
from dsebo.text import count, without_controls
from dsebo.transfer.bundle import Imported, evaluation_row, rows_of_run
from dsebo.transfer.incoming import MAX_NUMBER
from dsebo.transfer.optuna import optuna_module

SQLITE, SQLITE_URL = b"SQLite format 3\0", "sqlite:///"
JOURNAL = b'{"op_code"'
MAX_FUNCTION = 64  # characters that the store has for a name
MAX_STUDIES = 1000


def is_study(path: Path) -> bool:
    """Whether a file begins as a storage of Optuna may."""
    with path.open("rb") as file:
        first = file.read(16)
    return first == SQLITE or first.startswith(JOURNAL)


def parse_studies(place: str, names: Sequence[str] = ()) -> list[Imported]:
    """The studies of a file or of a storage's address as runs; all with trials, or those that are named.

    StoreError, in a sentence, where one of them cannot be a run.
    """
    optuna = optuna_module()
    with _storage(place, optuna) as storage:
        known = {study.study_name: study for study in storage.get_all_studies()}
        if unknown := [name for name in names if name not in known]:
            some = without_controls(", ".join(list(known)[:5])) or "none"
            raise StoreError(f"{shown_place(place)} has no study {short(unknown[0])}; it has {some}.")
        if len(known) > MAX_STUDIES and not names:
            raise StoreError(f"{shown_place(place)} has {len(known)} studies: name those that are wanted.")
        group, runs = secrets.token_hex(8), []
        for name in dict.fromkeys(names or known):
            trials = storage.get_all_trials(known[name]._study_id, deepcopy=False)
            ended = [trial for trial in trials if trial.state.is_finished()]
            if ended or names:
                runs.append(_run(known[name], ended, len(trials) - len(ended), group))
    if not runs:
        raise StoreError(f"{shown_place(place)} has no study with a finished trial.")
    return runs


# --- storages ---


@contextmanager
def _storage(place: str, optuna: Any) -> Iterator[Any]:
    """A storage of Optuna; whatever goes wrong with it is a sentence."""
    path = Path(place.removeprefix(SQLITE_URL))
    try:
        if "://" in place and not place.startswith(SQLITE_URL):
            yield optuna.storages.RDBStorage(place, skip_table_creation=True)
            return
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "study"
            if _is_sqlite(path):
                _copy_database(path, copy)
                yield optuna.storages.RDBStorage(f"{SQLITE_URL}{copy}", skip_table_creation=True)
            else:
                shutil.copyfile(path, copy)
                backend = optuna.storages.journal.JournalFileBackend(str(copy))
                yield optuna.storages.JournalStorage(backend)
    except (StoreError, KeyboardInterrupt):
        raise
    except Exception as error:  # a file that is none makes Optuna raise anything
        words = without_controls(str(error).strip().split("\n")[0])[:160].rstrip(".") or type(error).__name__
        raise StoreError(f"{shown_place(place)} cannot be read as a study of Optuna: {words}.") from None


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _copy_database(path: Path, copy: Path) -> None:
    """With what is still in its log; only tables, as a view could compute for ever."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as source, closing(sqlite3.connect(copy)) as target:
        kinds = dict(source.execute("SELECT name, type FROM sqlite_master").fetchall())
        if VERSION_TABLE in kinds:
            raise StoreError(f"{path} is a store of dsebo: open it with --db.")
        if kinds.get("studies") != "table":
            raise StoreError(f"{path} has no studies of Optuna.")
        if odd := set(kinds.values()) - {"table", "index"}:
            raise StoreError(f"{path} has a {min(odd)} in it, which no study of Optuna has.")
        source.backup(target)


def shown_place(place: str) -> str:
    """An address without its password."""
    if "://" not in place:
        return place
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(place).render_as_string(hide_password=True)
    except ArgumentError:
        return "The address"


# --- a study as a run ---


def _run(study: Any, trials: Sequence[Any], left_out: int, group: str) -> Imported:
    """The finished trials of a study."""
    name = " ".join(without_controls(study.study_name).split()) or "study"
    if len(study.directions) != 1:
        raise StoreError(f"Study {short(name)} has {len(study.directions)} objectives; a run has one.")
    if not 1 <= len(trials) <= MAX_BUDGET:
        raise StoreError(
            f"Study {short(name)} must have 1 to {MAX_BUDGET} finished trials (got {len(trials)})."
        )
    ranges, others = _ranges(trials)
    if len(ranges) > MAX_D:
        raise StoreError(f"Study {short(name)} has {len(ranges)} parameters, over the limit of {MAX_D}.")
    maximised = study.directions[0].name == "MAXIMIZE"
    objective = {
        "kind": "own",
        "name": name[:MAX_FUNCTION],
        "fingerprint": "optuna",
        "D": max(1, len(ranges)),
    }
    config = RunConfig.parse(
        {"objective": objective, "optimizer": {"method": "optuna"}, "budget": max(2, len(trials)), "seed": 1}
    )
    notes = ["The study maximises: its values are shown negated."] if maximised else []
    notes += [f"Left out: {count(others, 'parameter')}, no number or not in every trial."] if others else []
    notes += [f"Left out: {count(left_out, 'trial')} without an end."] if left_out else []
    evaluations = _evaluations(trials, ranges, -1.0 if maximised else 1.0)
    started = Started(0, config.model_dump(mode="json"), None, None, None, tuple(notes)).to_json()
    title = checked_name(f"Optuna study {name}"[:MAX_NAME])
    return rows_of_run(title, group, config, evaluations, [started])


Range = tuple[float, float, bool]  # from, to, whether on a logarithmic scale


def _ranges(trials: Sequence[Any]) -> tuple[dict[str, Range], int]:
    """(the range of each number that every trial has, how many parameters there are besides)."""
    first, rest = trials[0].distributions, trials[1:]
    numbers = {name: param for name, param in first.items() if hasattr(param, "low")}
    all_names = {name for trial in trials for name in trial.distributions}
    ranges: dict[str, Range] = {}
    for name, param in numbers.items():
        own = [param, *(trial.distributions[name] for trial in rest if name in trial.distributions)]
        if len(own) == len(trials) and all(hasattr(other, "low") for other in own):
            low, high = min(float(o.low) for o in own), max(float(o.high) for o in own)
            ranges[name] = (low, high, all(o.log for o in own))
    return ranges, len(all_names - set(ranges))


def _in_box(value: float, given: Range) -> float:
    """Where a value stands in its range, from -1 to 1; 0 where there is only one."""
    low, high, log = given
    if log and low > 0 and value > 0:
        low, high, value = math.log(low), math.log(high), math.log(value)
    return float(np.clip(2 * (value - low) / (high - low) - 1, -1, 1)) if high > low else 0.0


def _evaluations(trials: Sequence[Any], ranges: dict[str, Range], sign: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    best: float | None = None
    for t, trial in enumerate(trials, 1):
        y, error = _outcome(trial)
        y = None if y is None else sign * y
        if y is not None:
            best = y if best is None else min(best, y)
        z = np.array([_in_box(float(trial.params[name]), param) for name, param in ranges.items()])
        seconds = trial.duration.total_seconds() if trial.duration is not None else 0.0
        times = dict.fromkeys(("seconds", "seconds_eval"), max(0.0, seconds))
        point = z.astype("<f8").tobytes() if ranges else None
        rows.append(evaluation_row(t, y, best, z=point, error=error, **times))
    return rows


def _outcome(trial: Any) -> tuple[float | None, str | None]:
    """(its value, None), or (None, why it has none)."""
    state = trial.state.name
    if state == "PRUNED":
        steps = f" at step {trial.last_step}" if trial.last_step is not None else ""
        return None, f"The trial was pruned{steps}."
    if state != "COMPLETE" or trial.value is None:
        return None, "The trial failed."
    if not abs(trial.value) <= MAX_NUMBER:
        return None, f"The value was {trial.value:g}."
    return float(trial.value), None
