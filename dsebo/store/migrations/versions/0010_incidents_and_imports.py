"""What happened to the database file itself, and what each owner has imported."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the tables, which are empty."""
    op.create_table(
        "incident",
        sa.Column("at", sa.Double, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "import_entry",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("evaluations", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
    )
    op.create_index("import_entry_owner", "import_entry", ["owner", "at"])
