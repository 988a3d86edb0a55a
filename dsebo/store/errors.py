"""What the store refuses, each in one sentence for people."""

from __future__ import annotations


class StoreError(RuntimeError):
    """Something the store cannot do; the message is one plain sentence."""


class NotFound(StoreError):
    """No run or experiment, or more than one, has that id."""


class NotAllowed(StoreError):
    """The run belongs to someone else."""


class LimitExceeded(StoreError):
    """A launch over a limit; the message says the figure and the limit."""


class LeaseLost(StoreError):
    """Another process has taken the run over, or it was taken away: nothing was written."""


class StoreAway(StoreError):
    """The database cannot be reached, read or written now, and may come back: a restart, a lock."""


class StoreFull(StoreAway):
    """The disk, or the database, has no room left."""
