"""Random search has a setting, its points: runs from before it are found again as uniform ones."""

from __future__ import annotations

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Compute their hashes again, as `dsebo.store.identity` did when this was written."""
    connection = op.get_bind()
    found = connection.execute(
        sa.text("SELECT id, config, versions FROM run WHERE hash IS NOT NULL AND method = 'random'")
    )
    rows = []
    for run_id, text, versions in found.all():
        config = json.loads(text)
        config["optimizer"].setdefault("points", "uniform")
        whole = {"config": config, "dsebo": json.loads(versions)["dsebo"]}
        canonical = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        rows.append({"id": run_id, "hash": hashlib.sha256(canonical.encode()).hexdigest()})
    if rows:
        connection.execute(sa.text("UPDATE run SET hash = :hash WHERE id = :id"), rows)
