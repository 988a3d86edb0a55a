"""Sweeps and races are experiments: the table of sweeps gets that name."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Rename the table and its index; what is in it stays as it is."""
    op.drop_index("sweep_created", "sweep")
    op.rename_table("sweep", "experiment")
    op.create_index("experiment_created", "experiment", ["created", "id"])
