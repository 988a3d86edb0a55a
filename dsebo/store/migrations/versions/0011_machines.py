"""How fast each machine is that has worked with this store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table; each machine is measured when its dashboard next starts."""
    op.create_table(
        "machine",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("pace", sa.Double, nullable=False),
        sa.Column("measured", sa.Double, nullable=False),
    )
