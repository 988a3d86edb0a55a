"""Hashes leave out what a config's defaults give, and hold the arithmetic; an objective has a kind."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Recompute every hash, by today's defaults: a run must be found by the config of today.

    What cannot be read by this version has no hash, as no config can ask for it. Everything in the
    store was made before there was a second arithmetic.
    """
    from dsebo.config import FIRST_ARITHMETIC, RunConfig, stored_hash
    from dsebo.objectives.fields import ConfigError

    connection = op.get_bind()
    rows = []
    for run_id, text, versions in connection.execute(sa.text("SELECT id, config, versions FROM run")).all():
        config = json.loads(text)
        config["objective"].setdefault("kind", "embedded")
        by = {**json.loads(versions), "arithmetic": FIRST_ARITHMETIC}
        try:
            found = stored_hash(RunConfig.parse(config), by)
        except ConfigError:
            found = None
        rows.append({"id": run_id, "hash": found, "config": json.dumps(config)})
    if rows:
        connection.execute(sa.text("UPDATE run SET hash = :hash, config = :config WHERE id = :id"), rows)
