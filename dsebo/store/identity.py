"""What makes two runs the same run: one config, seed included, and one version of the engine."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from dsebo.config import RunConfig
from dsebo.store.records import versions

UNKNOWN = "unknown"  # what `versions` says of a package that is not installed


def config_hash(config: RunConfig) -> str:
    """The mark of a run of this config by this version of the engine."""
    return hash_of(config.model_dump(mode="json"), versions()["dsebo"])


def hash_of(config: dict[str, Any], version: str) -> str:
    """The same from the config's JSON object and the version that began the run."""
    canonical = json.dumps({"config": config, "dsebo": version}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def known_hash(config: dict[str, Any], by: dict[str, str]) -> str | None:
    """The mark of a stored run; None where it is not known which engine made it."""
    version = by.get("dsebo", UNKNOWN)
    return None if version == UNKNOWN else hash_of(config, version)
