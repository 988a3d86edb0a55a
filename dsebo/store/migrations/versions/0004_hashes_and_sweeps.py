"""Hashes that find a run again by its config and engine; sweeps."""

from __future__ import annotations

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column, fill it for the old rows, and create the table of sweeps."""
    op.add_column("run", sa.Column("hash", sa.String(64)))
    op.create_index("run_hash", "run", ["hash"])
    op.create_table(
        "sweep",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("wanted", sa.String(8), nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("finished", sa.Double),
        sa.Column("error", sa.Text),
        sa.Column("workers", sa.Integer),
        sa.Column("heartbeat", sa.Double),
        sa.Column("lease_token", sa.String(32)),
        sa.Column("lease_expires", sa.Double),
        sa.Column("lease_host", sa.Text),
        sa.Column("lease_pid", sa.Integer),
        sa.Column("lease_process", sa.Text),
    )
    op.create_index("sweep_created", "sweep", ["created", "id"])
    _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    """As `dsebo.store.identity` computed it when this was written."""
    found = connection.execute(sa.text("SELECT id, config, versions FROM run")).all()
    rows = []
    for run_id, config, versions in found:
        version = json.loads(versions).get("dsebo", "unknown")
        if version == "unknown":
            continue
        whole = {"config": json.loads(config), "dsebo": version}
        canonical = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        rows.append({"id": run_id, "hash": hashlib.sha256(canonical.encode()).hexdigest()})
    if rows:
        connection.execute(sa.text("UPDATE run SET hash = :hash WHERE id = :id"), rows)
