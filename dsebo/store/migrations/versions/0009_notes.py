"""Notes on runs, and experiments that can be deleted and brought back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the columns; runs from before have no note, and no experiment is deleted."""
    op.add_column("run", sa.Column("note", sa.Text))
    op.add_column("experiment", sa.Column("deleted_at", sa.Double))
