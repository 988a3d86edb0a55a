"""From a file to runs: JSON bundles, the authors' CSV pairs, zips or folders of them; studies of Optuna."""

from __future__ import annotations

import io
import json
import operator
import secrets
import threading
import time
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, insert, select

from dsebo import text
from dsebo.config import RunConfig
from dsebo.runs.limits import check_run
from dsebo.settings import ImportLimits, Settings
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import LOCAL_OWNER, owner_hash
from dsebo.store.schema import BUNDLED, IMPORTED
from dsebo.store.store import Store
from dsebo.transfer.authors import LAYOUT, is_pair, parse_pairs
from dsebo.transfer.bundle import Imported, parse_bundle
from dsebo.transfer.studies import is_study, parse_studies

MAX_BYTES = 64_000_000  # of a file, and of all that a zip or folder holds
MAX_FILES = 20_000
MAX_LOOKED_AT = 50_000  # files and folders of a folder, whatever they are: nobody means a whole disk
_DAY = 86_400.0


def import_bytes(
    store: Store, data: bytes, filename: str, owner: str = LOCAL_OWNER, source: str = IMPORTED
) -> list[str]:
    """Store the runs of a file (JSON bundle, or zip of the authors' CSV pairs); their ids.

    A broken file raises a StoreError of one sentence, and nothing of it is stored.
    """
    name = Path(filename).name or "file"
    _check_size(len(data), name)
    return save(store, _parse(data, name, ours=source == BUNDLED), owner_hash(owner), source).ids


@dataclass(frozen=True)
class Saved:
    """The ids of a file's runs, in its order; `known` are those that were in the store already."""

    ids: list[str]
    known: list[str]

    @property
    def words(self) -> str:
        """`2 runs imported; 1 run is here already`."""
        new, known = text.count(len(self.ids) - len(self.known), "run"), text.count(len(self.known), "run")
        here = f"{known} {'is' if len(self.known) == 1 else 'are'} here already"
        if not self.known:
            return f"{new} imported"
        return here if len(self.ids) == len(self.known) else f"{new} imported; {here}"


class ImportDesk:
    """Imports of owners who have limits; the store remembers what each has imported within a day."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def take(self, store: Store, settings: Settings, data: bytes, filename: str, owner: str) -> Saved:
        """As `import_bytes`, or LimitExceeded with the figure and the limit."""
        name, whose = Path(filename).name or "file", owner_hash(owner)
        limits = settings.import_limits
        if len(data) > limits.upload_mb * 1e6:
            raise LimitExceeded(
                f"{name} has {len(data) / 1e6:.1f} MB, over the limit of {limits.upload_mb} MB."
            )
        with self._lock:  # one at a time: what a file unpacks to is in memory once, not once for each
            size = _unpacked_size(data, name)
            _check_day(store, limits, whose, (0, 0, size))
            runs = _parse(data, name)
            for run in runs:
                config = RunConfig.from_json(run.run["config"])
                check_run(settings.owner_limits, config, run.run["budget"])
            new = (len(runs), sum(len(run.evaluations) for run in runs), size)
            _check_day(store, limits, whose, new)
            return save(store, runs, whose, IMPORTED, new)


def _check_day(store: Store, limits: ImportLimits, owner: str, new: tuple[int, int, int]) -> None:
    """Refuse what is too much together with what the owner has imported within a day."""
    entry = schema.import_entry.c
    sums = [func.coalesce(func.sum(column), 0) for column in (entry.runs, entry.evaluations, entry.bytes)]
    with store.read() as connection:
        recent = select(*sums).where(entry.owner == owner, entry.at > time.time() - _DAY)
        runs, evaluations, size = map(operator.add, connection.execute(recent).one(), new)
    for number, limit, what in (
        (runs, limits.runs, "runs"),
        (evaluations, limits.evaluations, "evaluations"),
        (size / 1e6, limits.mb, "MB"),
    ):
        if limit is not None and number > limit:
            raise LimitExceeded(
                f"{number:.6g} imported {what} within a day are over the limit of {limit:g} for an owner."
            )


def import_path(
    store: Store,
    place: Path | str,
    owner: str = LOCAL_OWNER,
    source: str = IMPORTED,
    studies: Sequence[str] = (),
) -> Saved:
    """The same for a path: also a folder, or one CSV of a pair, whose path says the config.

    Of a storage of Optuna, a file or an address, `studies` are those that are wanted; none: all.
    """
    path = Path(place)
    try:
        if "://" in str(place) or (path.is_file() and is_study(path)):
            return save(store, parse_studies(str(place), studies), owner_hash(owner), source)
        if studies:
            raise StoreError(f"{place} is not a storage of Optuna: it has no studies to choose from.")
        if path.is_dir():
            return save(store, _many(_folder(path)), owner_hash(owner), source)
        if path.suffix == ".csv":
            return save(store, parse_pairs(_pair(path)), owner_hash(owner), source)
        _check_size(path.stat().st_size, path.name)
        return save(store, _parse(path.read_bytes(), path.name), owner_hash(owner), source)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None


def save(
    store: Store, runs: Sequence[Imported], owner: str, source: str, size: tuple[int, int, int] | None = None
) -> Saved:
    """Store these runs in one transaction; their ids, new where one is taken.

    A file that comes back to where it was written makes no second copy of a run. `size`: runs, evaluations
    and bytes that count for the owner's day.
    """
    with store.write() as connection:
        if size is not None:
            entry = dict(zip(("runs", "evaluations", "bytes"), size, strict=True))
            about = {"id": secrets.token_hex(16), "owner": owner, "at": time.time()}
            connection.execute(insert(schema.import_entry), {**about, **entry})
        ids = schema.run.c.id
        wanted = [run.run["id"] for run in runs if run.run.get("id")]
        taken = set(connection.execute(select(ids).where(ids.in_(wanted))).scalars())
        groups = _own_groups(connection, {run.run["group"] for run in runs})
        saved, known = [], []
        for imported in runs:
            same = _same(connection, imported) if source == IMPORTED else None
            if same is not None:
                saved.append(same)
                known.append(same)
                continue
            run_id = imported.run.get("id")
            if not run_id or run_id in taken:
                run_id = secrets.token_hex(16)
            taken.add(run_id)
            saved.append(run_id)
            about = {"id": run_id, "group": groups[imported.run["group"]], "owner": owner, "source": source}
            row = {**imported.run, **about}
            connection.execute(insert(schema.run), row)
            for table, rows in (
                (schema.evaluation, imported.evaluations),
                (schema.event, imported.events),
                (schema.checkpoint, [imported.checkpoint] if imported.checkpoint else []),
                (schema.fork_point, imported.fork_points),
            ):
                if rows:
                    connection.execute(insert(table), [{"run_id": run_id, **row} for row in rows])
    return Saved(saved, known)


def _same(connection: Connection, imported: Imported) -> str | None:
    """The run of this store with the same settings, arithmetic, evaluations and events."""
    run, evaluation, event = schema.run.c, schema.evaluation.c, schema.event.c
    values = [(row["t"], row["y"]) for row in imported.evaluations]
    events = [json.loads(row["payload"]) for row in imported.events]
    hash = imported.run.get("hash")
    task = run.config == imported.run["config"] if hash is None else run.hash == hash
    alike = select(run.id).where(task, run.hash.is_not_distinct_from(hash), run.deleted_at.is_(None))
    for run_id in connection.execute(alike.where(run.n_done == len(values))).scalars().all():
        own = select(evaluation.t, evaluation.y).where(evaluation.run_id == run_id).order_by(evaluation.t)
        told = select(event.payload).where(event.run_id == run_id).order_by(event.id)
        payloads = [json.loads(payload) for payload in connection.execute(told).scalars()]
        if [tuple(row) for row in connection.execute(own)] == values and payloads == events:
            return str(run_id)
    return None


def _own_groups(connection: Connection, wanted: set[str]) -> dict[str, str]:
    """The group that each of a file's groups becomes: no import joins the runs of someone's launch."""
    groups = schema.run.c.group
    taken = set(connection.execute(select(groups).where(groups.in_(wanted)).distinct()).scalars())
    return {group: secrets.token_hex(8) if group in taken or not group else group for group in wanted}


def _parse(data: bytes, name: str, ours: bool = False) -> list[Imported]:
    if data.startswith(b"PK"):
        return _many(_unzipped(data, name))
    if name.endswith(".csv"):
        raise StoreError(f"{name} is one file of several: give a zip of the folder, {LAYOUT}.")
    if not data.strip():
        raise StoreError(f"{name}, line 1: the file is empty.")
    return parse_bundle(data, name, ours)


def _many(files: Mapping[str, bytes]) -> list[Imported]:
    """Every bundle and every pair among these files."""
    bundled = []
    for path in sorted(files):
        if path.endswith(".json"):
            bundled += parse_bundle(files[path], path)
    pairs = {path: data for path, data in files.items() if is_pair(path)}
    return bundled + parse_pairs(pairs) if pairs or not bundled else bundled


def _wanted(path: str) -> bool:
    return path.endswith(".json") or is_pair(path)


def _unpacked_size(data: bytes, name: str) -> int:
    """What there is to parse: a few bytes of a zip may hold very many."""
    return sum(map(len, _unzipped(data, name).values())) if data.startswith(b"PK") else len(data)


def _unzipped(data: bytes, name: str) -> dict[str, bytes]:
    """What a zip holds, in memory: nothing is written, so a path in it can do no harm."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if _wanted(member.filename)]
            _check_count(len(members), name)
            _check_size(sum(member.file_size for member in members), name)
            return {member.filename: _member(archive, member, name) for member in members}
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
        OverflowError,
    ) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{name} is not a whole zip file: {str(error)[:120]}.") from None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> bytes:
    """One file; no more of it than it said, as a zip may lie about its sizes."""
    with archive.open(member) as file:
        data = file.read(member.file_size + 1)
    if len(data) != member.file_size:
        raise StoreError(f"{name} is not a whole zip file: {member.filename} has another size.")
    return data


def _folder(path: Path) -> dict[str, bytes]:
    contents, total = {}, 0
    for looked_at, file in enumerate(path.resolve().rglob("*")):
        _check_count(looked_at, str(path), MAX_LOOKED_AT)
        if not _wanted(file.as_posix()) or not file.is_file():
            continue
        total += file.stat().st_size
        _check_size(total, str(path))
        contents[file.as_posix()] = file.read_bytes()
        _check_count(len(contents), str(path))
    return dict(sorted(contents.items()))


def _pair(path: Path) -> dict[str, bytes]:
    """Both files of the pair that one of them belongs to."""
    full = path.resolve()
    if not is_pair(full.as_posix()):
        raise StoreError(f"{path} does not say which run it is: the layout is {LAYOUT}.")
    stem = full.name.rpartition("_")[0]
    both = [full.with_name(f"{stem}_{what}.csv") for what in ("qual", "optNos")]
    there = {file.as_posix(): file for file in both if file.exists()}
    _check_size(sum(file.stat().st_size for file in there.values()), str(path))
    return {name: file.read_bytes() for name, file in there.items()}


def _check_size(size: int, name: str) -> None:
    if size > MAX_BYTES:
        raise StoreError(f"{name} has {size / 1e6:.1f} MB, over the limit of {MAX_BYTES / 1e6:.0f} MB.")


def _check_count(count: int, name: str, limit: int = MAX_FILES) -> None:
    if count > limit:
        raise StoreError(f"{name} holds {count} files, over the limit of {limit}.")
