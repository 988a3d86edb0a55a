"""Stores as the tests of runs have them."""

from tests.runs.conftest import (
    any_url,
    empty_store,
    own_folders,
    postgres_server,
    postgres_url,
    processes,
    store,
    url,
)

__all__ = [
    "any_url", "empty_store", "own_folders", "postgres_server", "postgres_url", "processes",
    "store", "url",
]  # fmt: skip
