"""Who is let in to a class: new owners, counted by address, and guesses of the lecturer's token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
import time
from collections.abc import Callable, Sequence

from dsebo.settings import Settings
from dsebo.store.errors import NotAllowed
from dsebo.store.rows import RunFilter, owner_hash
from dsebo.store.store import Store

NEW_OWNERS, PER_SECONDS = 5, 60.0  # for each address, without the join code
LONGEST_DELAY, LONGEST_FOR_RIGHT = 30.0, 2.0  # seconds after a wrong and a right token
FORGET_SECONDS = 600.0  # after the last wrong one
_FIRST_DELAY = 0.25
_HALF = 16  # hexadecimal digits of a token, of which the second half proves that this server made it


class Admission:
    """Makes owners' tokens, and knows them again."""

    def __init__(self, settings: Settings, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._store, self._clock = settings, store, clock
        # Tokens outlive a restart where the file has a secret; else those with runs are known by them.
        self._key = settings.lecturer_token.encode() or secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._recent: dict[str, list[float]] = {}  # by address: when it made a new owner

    def admit(self, kept: str, join_code: str, address: str) -> str:
        """The token of a browser, which may keep one already; NotAllowed where it is one too many."""
        if kept and self.knows(kept):
            return kept
        if not self._settings.is_join_code(join_code):
            self._count(address_group(address))
        half = secrets.token_hex(_HALF // 2)
        return half + self._proof(half)

    def knows(self, token: str) -> bool:
        """Whether a token was made here, or has runs. The lecturer's is given where guesses are slow."""
        if self._settings.is_lecturer(token):
            return False
        if hmac.compare_digest(token[_HALF:].encode(), self._proof(token[:_HALF]).encode()):
            return True
        return self._store.count_runs(RunFilter(owner=owner_hash(token))) > 0

    def _proof(self, half: str) -> str:
        return hmac.new(self._key, f"dsebo owner {half}".encode(), "sha256").hexdigest()[:_HALF]

    def _count(self, address: str) -> None:
        with self._lock:
            since = self._clock() - PER_SECONDS
            self._recent = {
                who: late for who, at in self._recent.items() if (late := [t for t in at if t > since])
            }
            recent = self._recent.setdefault(address, [])
            if len(recent) >= NEW_OWNERS:
                raise NotAllowed(
                    f"{NEW_OWNERS} new visitors a minute are let in from one address: open the link that "
                    "your lecturer gave you, or wait a minute and load this page again."
                )
            recent.append(self._clock())


class Guesses:
    """Slows down whoever tries tokens, by browser and by address; a right one waits 2 s at most."""

    def __init__(
        self,
        settings: Settings,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._sleep, self._clock = settings, sleep, clock
        self._lock = threading.Lock()
        self._wrong: dict[str, tuple[int, float]] = {}  # by who: how many, and when the last

    def is_lecturer(self, token: str, browser: str, address: str) -> bool:
        """Whether the token is the lecturer's, after the delay that earlier wrong ones have earned."""
        right, keys = self._settings.is_lecturer(token), (f"b {browser}", f"a {address_group(address)}")
        with self._lock:
            since = self._clock() - FORGET_SECONDS
            self._wrong = {key: wrong for key, wrong in self._wrong.items() if wrong[1] > since}
            count = max(self._wrong.get(key, (0, 0.0))[0] for key in keys)
            if not right:
                self._wrong |= {key: (self._wrong.get(key, (0, 0.0))[0] + 1, self._clock()) for key in keys}
        delay = min(LONGEST_DELAY, _FIRST_DELAY * 2 ** min(count, 20)) if count else 0.0
        self._sleep(min(delay, LONGEST_FOR_RIGHT) if right else delay)
        return right


def client_address(peer: str, forwarded_for: str, proxies: Sequence[str]) -> str:
    """Where a request comes from: the header of a proxy is believed only of those that are named."""
    hops = [*(hop.strip() for hop in forwarded_for.split(",") if hop.strip()), peer]
    while len(hops) > 1 and _is_among(hops[-1], proxies):
        hops.pop()
    return hops[-1]


def address_group(address: str) -> str:
    """The address, or the network of one household, which has 2^64 of the long ones to choose from."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    return str(number) if number.version == 4 else str(ipaddress.ip_network(f"{number}/64", strict=False))


def _is_among(address: str, networks: Sequence[str]) -> bool:
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(number in ipaddress.ip_network(network, strict=False) for network in networks)
