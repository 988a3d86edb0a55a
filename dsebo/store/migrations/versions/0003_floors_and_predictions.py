"""Floors of subspaces, and what a class predicted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the two tables."""
    op.create_table(
        "floor",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("d", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("z", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "prediction",
        sa.Column("room", sa.String(40), primary_key=True),
        sa.Column("lesson", sa.String(64), primary_key=True),
        sa.Column("nickname", sa.String(40), primary_key=True),
        sa.Column("value", sa.String(64), nullable=False),
        sa.Column("created", sa.Double, nullable=False),
    )
