"""Alembic's entry: it runs on the connection that `upgrade` hands over."""

from __future__ import annotations

from alembic import context

from dsebo.store.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,  # SQLite can; Alembic assumes it cannot
)
context.run_migrations()
