"""The tables of the store, as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

SCHEMA_VERSION = 11
VERSION_TABLE = "dsebo_schema"  # Alembic's table of versions; its name marks a store as ours

# The states of a run or an experiment; a dead or silent holder is shown as interrupted or stalled.
ACTIVE = ("queued", "running", "paused")  # some process holds the lease
ENDED = ("finished", "failed", "cancelled")
STATES = (*ACTIVE, *ENDED, "interrupted", "stalled")

# Where a run is from: computed here, delivered with the package, or read from somebody's file.
RUN, BUNDLED, IMPORTED = "run", "bundled", "imported"

metadata = MetaData()


def _run_id() -> Column[str]:
    """Part of a primary key, pointing at the run."""
    return Column("run_id", String(32), ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)


run = Table(
    "run",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("group", String(64), nullable=False),
    Column("owner", String(64), nullable=False),
    Column("tags", Text, nullable=False),  # JSON list
    Column("config", Text, nullable=False),  # JSON
    Column("method", String(64), nullable=False),
    Column("function", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("versions", Text, nullable=False),  # JSON: the software that began it
    Column("created", Double, nullable=False),
    Column("started", Double),
    Column("finished", Double),
    Column("heartbeat", Double),
    Column("n_done", Integer, nullable=False),
    Column("best", Double),
    Column("error", Text),
    Column("deleted_at", Double),
    # since schema 2
    Column("budget", Integer, nullable=False, server_default="0"),
    Column("d", Integer),
    Column("seconds", Double, nullable=False, server_default="0"),
    Column("minimum", Double),
    Column("at_centre", Double),
    Column("source", String(16), nullable=False, server_default=RUN),
    # what its owner wants of it; the thread that works on it reads this between evaluations
    Column("wanted", String(8), nullable=False, server_default="run"),
    Column("steps", Integer, nullable=False, server_default="0"),
    Column("speed", Double),
    # the lease: who works on it, and until when that may be believed
    Column("lease_token", String(32)),
    Column("lease_expires", Double),
    Column("lease_host", Text),
    Column("lease_pid", Integer),
    Column("lease_process", Text),  # start of that process: a pid alone is used again
    # since schema 4: config and engine in one mark; NULL where the engine is not known
    Column("hash", String(64)),
    # since schema 8: the run that charts draw behind it; it may be gone
    Column("ghost", String(32)),
    # since schema 9: what its owner wrote on it
    Column("note", Text),
    Index("run_created", "created", "id"),
    Index("run_state", "state"),
    Index("run_group", "group"),
    Index("run_hash", "hash"),
)

evaluation = Table(
    "evaluation",
    metadata,
    _run_id(),
    Column("t", Integer, primary_key=True),
    Column("y", Double),  # NULL: failed
    Column("best", Double),
    Column("d", Integer),
    Column("z", LargeBinary),  # the point in the method's own space; NULL: imported without
    Column("seconds", Double, nullable=False),
    Column("seconds_fit", Double, nullable=False),
    Column("seconds_acq", Double, nullable=False),
    Column("seconds_eval", Double, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("patience", Integer, key="T"),  # SQLite takes "T" and "t" for one name
    Column("since_gain", Integer),
    # since schema 2
    Column("error", Text),
    Column("z_type", String(2), nullable=False, server_default="f8"),
)

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(32), ForeignKey("run.id", ondelete="CASCADE"), nullable=False),
    Column("t", Integer, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("payload", Text, nullable=False),  # JSON
    Index("event_run", "run_id", "t"),
)

checkpoint = Table(
    "checkpoint",
    metadata,
    _run_id(),
    Column("t", Integer, nullable=False),
    Column("state", Text, nullable=False),  # JSON, without what the evaluations give
)

# since schema 8: the state at a convergence, before its decision was taken
fork_point = Table(
    "fork_point",
    metadata,
    _run_id(),
    Column("t", Integer, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),  # JSON, without what the evaluations give
)

# since schema 3
floor = Table(
    "floor",
    metadata,
    Column("key", String(64), primary_key=True),  # a hash of all that the floor depends on
    Column("d", Integer, primary_key=True),
    Column("value", Double, nullable=False),
    Column("z", LargeBinary, nullable=False),  # where it is reached: larger d start from there
)

# since schema 11: seconds that a machine takes for each one of that which costs were measured on
machine = Table(
    "machine",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("pace", Double, nullable=False),
    Column("measured", Double, nullable=False),
)

prediction = Table(
    "prediction",
    metadata,
    Column("room", String(40), primary_key=True),
    Column("lesson", String(64), primary_key=True),
    Column("nickname", String(40), primary_key=True),
    Column("value", String(64), nullable=False),
    Column("created", Double, nullable=False),
)

# since schema 10: what happened to the database file itself
incident = Table(
    "incident",
    metadata,
    Column("at", Double, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
)

# since schema 10: what each owner has imported, as that is limited by the day
import_entry = Table(
    "import_entry",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("at", Double, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("evaluations", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Index("import_entry_owner", "owner", "at"),
)

# since schema 4, under this name since schema 7
experiment = Table(
    "experiment",
    metadata,
    Column("id", String(32), primary_key=True),  # also the group of the runs that it makes
    Column("name", Text, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("spec", Text, nullable=False),  # JSON
    Column("state", String(16), nullable=False),
    Column("wanted", String(8), nullable=False),  # its workers read this between evaluations
    Column("created", Double, nullable=False),
    Column("started", Double),
    Column("finished", Double),
    Column("error", Text),
    Column("workers", Integer),
    # the lease, as a run has it
    Column("heartbeat", Double),
    Column("lease_token", String(32)),
    Column("lease_expires", Double),
    Column("lease_host", Text),
    Column("lease_pid", Integer),
    Column("lease_process", Text),
    # since schema 9: off the list, but it can be brought back
    Column("deleted_at", Double),
    Index("experiment_created", "created", "id"),
)
