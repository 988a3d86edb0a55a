"""Fork points, from which a run can go on otherwise, and the run that is drawn behind another."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table and add the column; runs from before have no fork points and no ghost."""
    op.create_table(
        "fork_point",
        sa.Column("run_id", sa.String(32), sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("t", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("state", sa.Text, nullable=False),
    )
    op.add_column("run", sa.Column("ghost", sa.String(32)))
