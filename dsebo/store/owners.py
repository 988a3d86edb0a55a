"""Owners: a browser's token, of which the store keeps only a mark."""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol

from dsebo.store.rows import LOCAL_OWNER


class Owned(Protocol):
    """A run, a sweep: what belongs to someone."""

    @property
    def owner(self) -> str:
        """The mark of the owner's token."""


def owner_mark(token: str) -> str:
    """What is stored of an owner's token: everyone may watch, and must not learn it."""
    if token == LOCAL_OWNER:
        return LOCAL_OWNER
    return hashlib.sha256(f"dsebo owner {token}".encode()).hexdigest()[:32]


def same_secret(given: str, secret: str) -> bool:
    """Whether a token is the secret one; an empty secret is nobody's."""
    return bool(secret) and hmac.compare_digest(given.encode(), secret.encode())
