"""What is done while the database is away: try again, with pauses that grow, and say so."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from dsebo.store.errors import StoreAway

PATIENCE_SECONDS = 120.0  # after which whoever waits gives up
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
SLOW_SECONDS = 1.5  # of one write, after which it is said that the database is waited for
WAITING = "Waiting for the database"
SLOW_WORDS = f"{WAITING}: another program is writing to it."

Result = TypeVar("Result")

_log = logging.getLogger(__name__)


class Waiting:
    """Does things with the store, again where the database was away. For one thread; anyone may ask.

    Args:
        who: Who waits, as the log says it: "Run 3f2a91c0".
        stop: No longer waited for once it is set.
    """

    def __init__(self, who: str, stop: threading.Event | None = None) -> None:
        self._who, self._stop = who, stop or threading.Event()
        self._since: float | None = None
        self._reason = ""

    def words(self) -> str:
        """For whom it concerns: that the database is waited for, and why; empty where it is not."""
        reason, since = self._reason, self._since
        if reason:
            return f"{WAITING}: {reason}"
        slow = since is not None and time.monotonic() - since > SLOW_SECONDS
        return SLOW_WORDS if slow else ""

    def do(self, attempt: Callable[[bool], Result], *, slow: bool = False) -> Result:
        """What `attempt` gives once the database lets it; after two minutes its StoreAway.

        Args:
            attempt: Is told whether it is made again. Then an earlier one may have been written,
                though the answer was lost: it has to look before it writes.
            slow: It takes its time where nothing is wrong too.
        """
        deadline, pause = time.monotonic() + PATIENCE_SECONDS, FIRST_PAUSE
        self._since = None if slow else time.monotonic()
        began, again = time.monotonic(), False
        try:
            while True:
                try:
                    result = attempt(again)
                except StoreAway as error:
                    if not again:
                        _log.warning("%s waits for the database: %s", self._who, error)
                    self._reason, again = str(error), True
                    if time.monotonic() + pause > deadline or self._stop.wait(pause):
                        raise
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                if again:
                    away = time.monotonic() - began
                    _log.warning("%s goes on: the database is back after %.1f s.", self._who, away)
                return result
        finally:
            self._since, self._reason = None, ""
