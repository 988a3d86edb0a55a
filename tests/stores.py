"""Stores that tests work on: SQLite files, and a PostgreSQL server that all of them share."""

from __future__ import annotations

import glob
import multiprocessing
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text, update

from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from dsebo.settings import Settings
from dsebo.store import schema
from dsebo.store.migrations import bring_up_to_date
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, create
from dsebo.transfer import export_json, import_bytes
from tests.small import small


@pytest.fixture(scope="session", autouse=True)
def _set_up_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The migrations take a moment: of SQLite one store is set up by them, and every other new one copied."""
    file = tmp_path_factory.mktemp("empty") / "runs.db"
    Store.open(str(file)).close()
    whole = file.read_bytes()

    def copied(engine: Engine) -> None:
        name = engine.url.database
        if engine.dialect.name == "sqlite" and name and Path(name).parent.is_dir():
            with suppress(OSError, ValueError), open(name, "xb") as new:  # else it is there, or cannot be
                new.write(whole)
        bring_up_to_date(engine)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dsebo.store.store.bring_up_to_date", copied)
        yield


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A run of DSEBO and one of random search, as a JSON bundle."""
    store = Store.open(str(tmp_path_factory.mktemp("bundle") / "runs.db"))
    ids: list[str] = []
    list(stored_run(small(budget=14), store, "=1+1", tags=["a b", "ü"], on_id=ids.append))
    other = small(budget=4, method="random")
    list(stored_run(other, store, "other", on_id=ids.append))
    data = export_json(store, ids)
    store.close()
    return data


@pytest.fixture
def two(store: Store, bundle: bytes) -> list[str]:
    """Those two runs in the test's own store."""
    return import_bytes(store, bundle, "bundle.json", source="run")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store.open(url)
    yield opened
    opened.close()


@pytest.fixture
def manager(store: Store) -> Iterator[RunManager]:
    opened = RunManager(store, Settings(slots=2))
    yield opened
    opened.close()


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Processes that start quickly, as what they need is imported once.

    A new process runs the parent's main script again, and that is app.py once a page has been
    tested in this process: it gets an empty one instead.
    """
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dsebo.runs.manager", "torch", "objectives"])
    return context


def _binaries() -> Path | None:
    found = shutil.which("postgres")
    if found:
        return Path(found).parent
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return Path(folders[-1]) if folders else None


def _missing(why: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"In CI these tests must run: {why}")
    pytest.skip(why)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of the first database of a server that all tests share."""
    with running_postgres() as server:
        yield server.address


class Postgres:
    """A PostgreSQL server on loopback that can be stopped and started again."""

    def __init__(self, binaries: Path, folder: Path, common: dict[str, Any]) -> None:
        self._binaries, self._folder, self._common = binaries, folder, common
        self._port = _free_port()
        self.address = f"postgresql+psycopg://dsebo@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        folder, port = str(self._folder), str(self._port)
        place = ["-D", f"{folder}/data", "-k", folder, "-h", "127.0.0.1", "-p", port]
        command = [f"{self._binaries}/postgres", *place, "-F"]
        with (self._folder / "log").open("ab") as log:
            self._server: subprocess.Popen[bytes] = subprocess.Popen(
                command, stdout=log, stderr=log, **self._common
            )
        _wait_until_up(self.address, self._server, self._folder / "log")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: as on a restart, every connection is cut; SIGQUIT: as after a crash."""
        self._server.send_signal(how)
        self._server.wait(30)


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of its own."""
    binaries = _binaries()
    if binaries is None:
        _missing("PostgreSQL's server binaries are not installed.")
    assert binaries is not None
    pytest.importorskip("psycopg") if os.environ.get("CI") != "true" else __import__("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="dsebo-pg-"))
    user: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        other = _other_user()
        os.chown(folder, other.pw_uid, other.pw_gid)
        user = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
    common: dict[str, Any] = {"cwd": folder, "env": {"LC_ALL": "C", "PATH": os.defpath}, **user}
    data = folder / "data"
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "dsebo", "-A", "trust", "-E", "UTF8", "-N"],
        check=True,
        capture_output=True,
        **common,
    )
    server = Postgres(binaries, folder, common)
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGQUIT)  # at once: its data is thrown away
        shutil.rmtree(folder, ignore_errors=True)


def _other_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("No user to run PostgreSQL as.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    engine = create_engine(address)
    for _ in range(600):
        try:
            with engine.connect():
                engine.dispose()
                return
        except Exception:
            if server.poll() is not None:
                break
            time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-2000:]}")


@pytest.fixture
def postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> str:
    """The address of an empty database of its own."""
    name = f"t{abs(hash(request.node.nodeid)) % 10**9}_{time.time_ns() % 10**6}"
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return postgres_server.rsplit("/", 1)[0] + f"/{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def any_url(request: pytest.FixtureRequest, url: str) -> str:
    """Each kind of database in turn."""
    if request.param == "sqlite":
        return url
    return str(request.getfixturevalue("postgres_url"))


def many_runs(store: Store, count: int) -> None:
    """Rows as a working store has them."""
    config = small(budget=500)
    for _ in range(count // 1000):
        create(store, NewRuns([config] * 1000, ["a run of some name"] * 1000, ["tag"]))
    with store.write() as connection:
        connection.execute(
            update(schema.run).values(state="finished", best=1.25, d=37, n_done=500, seconds=12.5)
        )


@contextmanager
def little_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own that is soon full; skipped where none may be mounted."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("No file system may be mounted here.")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no room where that folder is."""
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return
