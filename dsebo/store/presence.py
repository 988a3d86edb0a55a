"""The file of a SQLite store: noticed when it is deleted or replaced under a running program.

An open connection keeps a deleted file alive, and would go on reading and writing what nobody finds any
more. So each transaction looks first whether the path still leads to the file that was opened. Where it
does not, what the old file holds is written back, or added to the file that is there now, and it is said.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL

from dsebo.store import schema
from dsebo.store.errors import StoreAway, StoreError
from dsebo.text import count

_TABLES = {table.name: [column.name for column in table.columns] for table in schema.metadata.sorted_tables}
_LOG, _INDEX = "-wal", "-shm"  # that SQLite keeps beside a file
_TRIES = 5


class Presence:
    """The file that was opened, kept open by a connection of its own.

    Args:
        url: Of the store.
        prepare: Brings whatever is at that address to the newest schema, or raises a StoreError.
    """

    def __init__(self, url: URL, prepare: Callable[[], None]) -> None:
        self._path, self._prepare = Path(str(url.database)).resolve(), prepare
        self._open()

    def _open(self) -> None:
        self._old = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        self._old.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the file, and its log
        self._identity, self._log = _identity(self._path), _identity(f"{self._path}{_LOG}")

    def lost(self) -> bool:
        """Whether the path leads elsewhere now."""
        return _identity(self._path) != self._identity

    def recover(self) -> None:
        """Have all that the old file held at the path again. Nobody writes to the store meanwhile."""
        copy = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            old = _still_open(self._identity)
            if old is not None and not old.stat().st_nlink:  # deleted, not moved: with its folder, it may be
                copy.parent.mkdir(parents=True, exist_ok=True)
            self._copy_to(copy)
            with closing(sqlite3.connect(copy)) as source:
                held = count(source.execute("SELECT count(*) FROM run").fetchone()[0], "run")
            if self._put(copy):
                happened = f"was deleted under a running program: what it held ({held}) was written back."
            else:
                self._add_to_other(copy)
                happened = (
                    f"was replaced under a running program: what it held ({held}) is in the new one too."
                )
        except (sqlite3.Error, OSError) as error:
            raise StoreAway(f"{self._path} is gone, and cannot be written back: {error}.") from error
        finally:
            for ending in ("", _LOG, _INDEX):
                Path(f"{copy}{ending}").unlink(missing_ok=True)
        self.close()
        self._open()
        incident = (time.time(), f"The database {self._path.name} {happened}")
        self._old.execute("INSERT OR IGNORE INTO incident VALUES (?, ?)", incident)

    def _copy_to(self, copy: Path) -> None:
        """All that was committed to the old file.

        Where it can be read past SQLite it is: whoever opens a new file of that name may have written to the
        index of the old log, which is found by its name, and then SQLite finds no longer what is in the log.
        """
        copy.unlink(missing_ok=True)
        parts = {ending: _still_open(which) for ending, which in (("", self._identity), (_LOG, self._log))}
        if None in parts.values():
            with closing(sqlite3.connect(copy)) as target:
                self._old.backup(target)
            return
        for _ in range(_TRIES):  # until no other program has written meanwhile
            before = [os.stat(str(part)) for part in parts.values()]
            for ending, part in parts.items():
                shutil.copyfile(str(part), f"{copy}{ending}")
            after = [os.stat(str(part)) for part in parts.values()]
            if [(s.st_mtime_ns, s.st_size) for s in before] == [(s.st_mtime_ns, s.st_size) for s in after]:
                break
        with closing(sqlite3.connect(copy)) as target:
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _put(self, copy: Path) -> bool:
        """Let the path lead to the copy, whole at once; False where there is a file."""
        if self._path.exists():
            return False
        for ending in (_LOG, _INDEX):  # of the old file: they must not be taken for those of the copy
            Path(f"{self._path}{ending}").unlink(missing_ok=True)
        try:
            os.link(copy, self._path)
        except FileExistsError:
            return False
        return True

    def _add_to_other(self, copy: Path) -> None:
        """Every row that the file at the path has not; of a run in both, the longer history."""
        try:
            self._prepare()
        except StoreAway:
            raise
        except StoreError as error:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            saved = self._path.with_name(f"{self._path.stem}-saved-{stamp}{self._path.suffix}")
            copy.rename(saved)
            raise StoreError(f"{error} What was there before is in {saved}.") from None
        with closing(sqlite3.connect(copy, isolation_level=None)) as source:
            source.execute("ATTACH DATABASE ? AS other", (str(self._path),))
            source.execute("BEGIN IMMEDIATE")
            source.execute(
                "CREATE TEMP TABLE longer AS SELECT id FROM main.run AS ours WHERE NOT EXISTS "
                "(SELECT 1 FROM other.run AS its WHERE its.id = ours.id AND its.n_done >= ours.n_done)"
            )
            for name, columns in _TABLES.items():
                numbered = name == "event"  # by each file for itself
                names = ", ".join(f'"{column}"' for column in columns if not (numbered and column == "id"))
                into = f"INTO other.{name} ({names}) SELECT {names} FROM main.{name}"
                if name in ("run", "checkpoint", "event"):
                    whose = f"{'id' if name == 'run' else 'run_id'} IN (SELECT id FROM temp.longer)"
                    if numbered:
                        source.execute(f"DELETE FROM other.event WHERE {whose}")
                    source.execute(f"INSERT OR REPLACE {into} WHERE {whose} ORDER BY rowid")
                else:
                    source.execute(f"INSERT OR IGNORE {into}")
            source.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._old.close()


def _identity(path: Path | str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:  # the folder cannot be reached now
        raise StoreAway(f"{path} cannot be found: {error.strerror}.") from None
    return status.st_dev, status.st_ino


def _still_open(identity: tuple[int, int] | None) -> Path | None:
    """A way to a file that this process has open, whatever became of its name; None where Linux is not."""
    folder = Path("/proc/self/fd")
    for name in os.listdir(folder) if identity and folder.is_dir() else ():
        try:
            if _identity(folder / name) == identity:
                return folder / name
        except StoreAway:  # not a file
            continue
    return None
