"""Settings of a dashboard or a classroom, from one TOML file.

`DSEBO_SETTINGS` names the file; else it is `settings.toml` in the user's config folder, and where
there is none everything has its default. An example:

    mode = "class"                  # "local": one owner; "class": each browser its own
    lecturer_token = "..."          # may control every run
    slots = 3                       # evaluations at a time
    database = "postgresql://dsebo@localhost/dsebo"
    lessons = "/srv/lessons"        # a folder of further lessons, one text file each
    room_size = 100                 # nicknames that a lesson's room takes

    [limits.owner]                  # for each owner
    active = 2                      # runs at work or paused; more wait in the queue
    queued = 10
    budget = 1000
    D = 100000
    memory_mb = 500                 # predicted, over the owner's unfinished runs
    seconds = 3600                  # likewise

    [limits.all]                    # the same names, over all owners

    [limits.imports]                # for each owner
    upload_mb = 5                   # of one file
    runs = 500                      # a day
    evaluations = 200000
    mb = 25
"""

from __future__ import annotations

import hmac
import os
import tomllib
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, ValidationError

from objectives.fields import ConfigError, Frozen, short


def core_count() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Limits(Frozen):
    """What may be asked for; None is without limit."""

    active: int | None = Field(default=None, ge=1)
    queued: int | None = Field(default=None, ge=0)
    budget: int | None = Field(default=None, ge=2)
    D: int | None = Field(default=None, ge=1)
    memory_mb: float | None = Field(default=None, gt=0)
    seconds: float | None = Field(default=None, gt=0)


_OPEN = Limits()
_ALL = Limits(active=32, queued=1000)
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
    all: Limits = _ALL
    imports: ImportLimits | None = None


class Settings(Frozen):
    """Everything that is set outside a run's own config."""

    mode: Literal["local", "class"] = "local"
    lecturer_token: str = ""
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
    def import_limits(self) -> ImportLimits:
        """What each owner may import; a class has limits even where the file names none."""
        if self.limits.imports is not None:
            return self.limits.imports
        return _STUDENT_IMPORT if self.mode == "class" else _ANY_IMPORT

    def is_lecturer(self, token: str) -> bool:
        """Whether a token is the lecturer's; where none is set nobody's is."""
        secret = self.lecturer_token.encode()
        return bool(secret) and hmac.compare_digest(token.encode(), secret)

    @property
    def slot_count(self) -> int:
        """Evaluations at a time: one core is left for the pages."""
        return self.slots if self.slots is not None else max(1, core_count() - 1)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Settings:
        """From that file, from `DSEBO_SETTINGS`, or from the user's own."""
        named = path or os.environ.get("DSEBO_SETTINGS")
        file = Path(named) if named else _own_file()
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
            raise ConfigError(f"{file}: {name}: {first['msg']} (got {short(first['input'])}).") from None


def _own_file() -> Path:
    return platformdirs.user_config_path("dsebo", appauthor=False) / "settings.toml"
