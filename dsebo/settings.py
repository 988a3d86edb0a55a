"""Settings of a dashboard or a classroom, from one TOML file.

`DSEBO_SETTINGS` names the file; else it is `settings.toml` in the user's config folder, and where
there is none everything has its default. An example:

    mode = "class"                  # "local": one owner; "class": each browser its own
    lecturer_token = "..."          # may control every run; 16 characters or more
    join_code = "..."               # of the class, in its link (?join=...): no cap by address with it
    address = "0.0.0.0"             # that `dsebo app` answers on; by default this machine only
    proxies = ["127.0.0.1"]         # whose X-Forwarded-For is believed
    slots = 3                       # evaluations at a time
    database = "postgresql://dsebo@localhost/dsebo"
    lessons = "/srv/lessons"        # a folder of further lessons, one text file each
    room_size = 100                 # nicknames that a lesson's room takes

    [limits.owner]                  # for each owner
    active = 2                      # runs that compute; more wait in the queue
    queued = 10
    budget = 1000
    D = 100000
    memory_mb = 500                 # predicted, over the owner's runs at work; more wait in the queue
    seconds = 3600                  # predicted, over the owner's unfinished runs

    [limits.all]                    # the same names, over all owners; by default from the machine:
                                    # a month of each core (in a class a day), 0.8 (0.5) of the memory

    [limits.imports]                # for each owner
    upload_mb = 5                   # of one file
    runs = 500                      # a day
    evaluations = 200000
    mb = 25
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, Field, ValidationError

from dsebo.objectives.fields import ConfigError, Frozen, short

MOST_FILES, SURE_FILES = 65_536, 10_240  # that a server asks to open


def core_count() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def machine_megabytes() -> float:
    """Memory that this process may use: the machine's, or its container's where that is less."""
    limits = []
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6)
    container = Path("/sys/fs/cgroup/memory.max")
    if container.is_file() and (text := container.read_text().strip()).isdigit():
        limits.append(int(text) / 1e6)
    return min(limits, default=4000.0)


def raise_open_files() -> int | None:
    """Let this process open as many files as it may: each browser and each run at work takes some.

    Returns:
        How many it may open now; None where the system has no such limit.
    """
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (MOST_FILES, SURE_FILES):  # macOS allows fewer than its hard limit says
        most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        try:
            if soft != resource.RLIM_INFINITY and most > soft:
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            break
        except (OSError, ValueError):
            continue
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


class Limits(Frozen):
    """What may be asked for; None is without limit."""

    active: int | None = Field(default=None, ge=1)
    queued: int | None = Field(default=None, ge=0)
    budget: int | None = Field(default=None, ge=2)
    D: int | None = Field(default=None, ge=1)
    memory_mb: float | None = Field(default=None, gt=0)
    seconds: float | None = Field(default=None, gt=0)


_OPEN = Limits()
_STUDENT = Limits(active=4, queued=50, budget=2000, D=100_000, memory_mb=1000, seconds=3600)


class ImportLimits(Frozen):
    """What an owner may import; None is without limit."""

    upload_mb: int = Field(default=50, ge=1, le=1000)  # of one file
    runs: int | None = Field(default=None, ge=1)  # a day, as all that follows
    evaluations: int | None = Field(default=None, ge=1)
    mb: float | None = Field(default=None, gt=0)


_ANY_IMPORT = ImportLimits()
_STUDENT_IMPORT = ImportLimits(upload_mb=5, runs=500, evaluations=200_000, mb=25)


class LimitSettings(Frozen):
    """Limits for each owner and for all of them together."""

    owner: Limits | None = None
    all: Limits | None = None
    imports: ImportLimits | None = None


LEAST_TOKEN, LEAST_CODE = 16, 8  # characters
MAKE_TOKEN = 'python -c "import secrets; print(secrets.token_urlsafe(24))"'
_SECRET = ("lecturer_token", "join_code")
_DAY = 86_400.0


def _is_long(least: int) -> AfterValidator:
    """What is secret is empty or long; an error never shows it."""

    def check(secret: str) -> str:
        if secret and len(secret) < least:
            raise ValueError(f"must have at least {least} characters; this makes one: {MAKE_TOKEN}")
        return secret

    return AfterValidator(check)


def _network(text: str) -> str:
    ipaddress.ip_network(text, strict=False)
    return text


class Settings(Frozen):
    """Everything that is set outside a run's own config."""

    mode: Literal["local", "class"] = "local"
    lecturer_token: Annotated[str, _is_long(LEAST_TOKEN)] = ""
    join_code: Annotated[str, _is_long(LEAST_CODE)] = ""
    address: str = "127.0.0.1"
    proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    slots: int | None = Field(default=None, ge=1, le=1024)
    database: str = ""
    lessons: str = ""
    room_size: int = Field(default=100, ge=1, le=10_000)
    limits: LimitSettings = LimitSettings()

    @property
    def owner_limits(self) -> Limits:
        """What each owner may ask for; a class has limits even where the file names none."""
        if self.limits.owner is not None:
            return self.limits.owner
        return _STUDENT if self.mode == "class" else _OPEN

    @property
    def all_limits(self) -> Limits:
        """What all owners may ask for together: in a class half of the memory and a day of each core.

        A machine of one's own may be busy for a month; what is predicted to take longer was not meant.
        In a class few at work are enough: an owner's first starts at once whatever the others have.
        """
        if self.limits.all is not None:
            return self.limits.all
        if self.mode == "local":
            month = 30 * _DAY * core_count()
            return Limits(active=32, queued=1000, memory_mb=0.8 * machine_megabytes(), seconds=month)
        return Limits(
            active=16, queued=1000, memory_mb=0.5 * machine_megabytes(), seconds=_DAY * core_count()
        )

    @property
    def import_limits(self) -> ImportLimits:
        """What each owner may import; a class has limits even where the file names none."""
        if self.limits.imports is not None:
            return self.limits.imports
        return _STUDENT_IMPORT if self.mode == "class" else _ANY_IMPORT

    def is_lecturer(self, token: str) -> bool:
        """Whether a token is the lecturer's; where none is set nobody's is."""
        return _same(token, self.lecturer_token)

    def is_join_code(self, code: str) -> bool:
        """Whether a code is the class's; where none is set nobody's is."""
        return _same(code, self.join_code)

    @property
    def slot_count(self) -> int:
        """Evaluations at a time: one core is left for the pages."""
        return self.slots if self.slots is not None else max(1, core_count() - 1)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Settings:
        """From that file, from `DSEBO_SETTINGS`, or from the user's own."""
        named = path or os.environ.get("DSEBO_SETTINGS")
        file = Path(named) if named else settings_file()
        if not named and not file.exists():
            return cls()
        try:
            given = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"Settings {file} cannot be read: {error.strerror}.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"Settings {file} are not TOML: {error}.") from None
        return cls.parse(given, str(file))

    @classmethod
    def parse(cls, given: dict[str, Any], file: str = "settings") -> Settings:
        """From a dict; the first field that does not fit is named."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(step) for step in first["loc"])
            got = "" if name in _SECRET else f" (got {short(first['input'])})"
            raise ConfigError(f"{file}: {name}: {first['msg'].removeprefix('Value error, ')}{got}.") from None


def _same(given: str, secret: str) -> bool:
    return bool(secret) and hmac.compare_digest(given.encode(), secret.encode())


def settings_file() -> Path:
    """Where the settings are: in the file that DSEBO_SETTINGS names, or in the user's own."""
    named = os.environ.get("DSEBO_SETTINGS")
    if named:
        return Path(named)
    return platformdirs.user_config_path("dsebo", appauthor=False) / "settings.toml"
