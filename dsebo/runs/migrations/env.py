"""Alembic's entry: it runs on the connection that `dsebo.runs.migrate` hands over."""

from __future__ import annotations

from alembic import context

from dsebo.runs.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,  # SQLite can; Alembic assumes it cannot
)
context.run_migrations()
