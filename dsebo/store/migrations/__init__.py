"""The migrations. Here a database is opened: created, migrated, or refused if newer or foreign."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, exc, inspect, text

from dsebo.store.database import LASTING, plain_errors, shown
from dsebo.store.errors import StoreError
from dsebo.store.schema import SCHEMA_VERSION, VERSION_TABLE

_PATIENCE = 30.0  # seconds that another process may take to create the same file


def bring_up_to_date(engine: Engine) -> None:
    """Leave the database at the newest schema, or say why that cannot be."""
    with plain_errors(engine.url):
        if engine.url.get_backend_name() == "sqlite":
            _write_ahead(engine)
        with engine.connect() as connection:
            if _version(connection, engine.url) == SCHEMA_VERSION:
                return
        with engine.execution_options(**LASTING).begin() as connection:
            _only_one(connection)
            if _version(connection, engine.url) != SCHEMA_VERSION:
                upgrade(connection)


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations on an open transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _version(connection: Connection, url: URL) -> int:
    """The stored schema version; 0 for an empty database."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return 0
    if VERSION_TABLE not in tables:
        raise StoreError(
            f"{shown(url)} is not a dsebo store: it holds other tables ({', '.join(tables[:3])})."
        )
    stored = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if stored is None or not str(stored).isdigit():
        raise StoreError(f"{shown(url)} is not a dsebo store: schema version {stored!r}.")
    if int(stored) > SCHEMA_VERSION:
        raise StoreError(
            f"{shown(url)} was written by a newer dsebo: its schema is {int(stored)}, "
            f"this one knows up to {SCHEMA_VERSION}."
        )
    return int(stored)


def _only_one(connection: Connection) -> None:
    """Two processes that open an old database at once must not both migrate it."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('dsebo_schema'))"))


def _write_ahead(engine: Engine) -> None:
    """WAL is a property of the file; setting it needs the file alone for a moment."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        raw = engine.raw_connection()
        try:
            if raw.cursor().execute("PRAGMA journal_mode").fetchone()[0] != "wal":  # else only read
                raw.cursor().execute("PRAGMA journal_mode = WAL")
            return
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise exc.OperationalError("PRAGMA", None, error) from error
            time.sleep(0.05)
        finally:
            raw.close()
