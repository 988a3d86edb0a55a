"""Leases, commands, budgets that grow, and indexes for the list."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns, then fill those that the old rows can give."""
    for column in (
        sa.Column("budget", sa.Integer, nullable=False, server_default="0"),
        sa.Column("d", sa.Integer),
        sa.Column("seconds", sa.Double, nullable=False, server_default="0"),
        sa.Column("minimum", sa.Double),
        sa.Column("at_centre", sa.Double),
        sa.Column("source", sa.String(16), nullable=False, server_default="run"),
        sa.Column("wanted", sa.String(8), nullable=False, server_default="run"),
        sa.Column("steps", sa.Integer, nullable=False, server_default="0"),
        sa.Column("speed", sa.Double),
        sa.Column("lease_token", sa.String(32)),
        sa.Column("lease_expires", sa.Double),
        sa.Column("lease_host", sa.Text),
        sa.Column("lease_pid", sa.Integer),
        sa.Column("lease_process", sa.Text),
    ):
        op.add_column("run", column)
    op.add_column("evaluation", sa.Column("error", sa.Text))
    op.add_column("evaluation", sa.Column("z_type", sa.String(2), nullable=False, server_default="f8"))
    op.create_index("run_created", "run", ["created", "id"])
    op.create_index("run_state", "run", ["state"])
    op.create_index("run_group", "run", ["group"])
    op.create_index("event_run", "event", ["run_id", "t"])
    _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    connection.execute(
        sa.text(
            "UPDATE run SET seconds = COALESCE("
            "(SELECT SUM(seconds) FROM evaluation WHERE run_id = run.id), 0), "
            "d = (SELECT d FROM evaluation WHERE run_id = run.id ORDER BY t DESC LIMIT 1)"
        )
    )
    for run_id, config in connection.execute(sa.text("SELECT id, config FROM run")).all():
        connection.execute(
            sa.text("UPDATE run SET budget = :budget WHERE id = :id"),
            {"budget": json.loads(config)["budget"], "id": run_id},
        )
    started = sa.text("SELECT run_id, payload FROM event WHERE kind = 'started'")
    for run_id, payload in connection.execute(started).all():
        known = json.loads(payload)
        connection.execute(
            sa.text("UPDATE run SET minimum = :minimum, at_centre = :centre WHERE id = :id"),
            {"minimum": known["minimum"], "centre": known["at_centre"], "id": run_id},
        )
