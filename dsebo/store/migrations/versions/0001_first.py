"""The first schema: runs, evaluations, events, checkpoints."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the four tables."""
    op.create_table(
        "run",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("group", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("method", sa.String(64), nullable=False),
        sa.Column("function", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("versions", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("finished", sa.Double),
        sa.Column("heartbeat", sa.Double),
        sa.Column("n_done", sa.Integer, nullable=False),
        sa.Column("best", sa.Double),
        sa.Column("error", sa.Text),
        sa.Column("deleted_at", sa.Double),
    )
    op.create_table(
        "evaluation",
        sa.Column("run_id", sa.String(32), _to_run(), primary_key=True),
        sa.Column("t", sa.Integer, primary_key=True),
        sa.Column("y", sa.Double),
        sa.Column("best", sa.Double),
        sa.Column("d", sa.Integer),
        sa.Column("z", sa.LargeBinary),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("seconds_fit", sa.Double, nullable=False),
        sa.Column("seconds_acq", sa.Double, nullable=False),
        sa.Column("seconds_eval", sa.Double, nullable=False),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("patience", sa.Integer),
        sa.Column("since_gain", sa.Integer),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(32), _to_run(), nullable=False),
        sa.Column("t", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
    )
    op.create_table(
        "checkpoint",
        sa.Column("run_id", sa.String(32), _to_run(), primary_key=True),
        sa.Column("t", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
    )


def _to_run() -> sa.ForeignKey:
    return sa.ForeignKey("run.id", ondelete="CASCADE")
