"""MSLR-style ranking: which 136 features would a small network take for the most relevant document?

x in [-1, 1]^136 are quantiles of the features, from the least (-1) to the largest (1) of the training rows.
F is the relevance that the network predicts, negated. Its output is not limited: beyond what rows have, it
extrapolates. The default set is synthetic; genuine rows are read from a file that the user names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from .base import Objective, ObjectiveConfig, inside_the_box
from .fields import ConfigError, setting
from .letor import FEATURES, cached_archive, fingerprint, read_rows
from .ranking import Network, fit

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    Array = NDArray[np.float64]

NETWORK = Path(__file__).parent / "data" / "mslr_network.npz"
VARIABLE = "DSEBO_MSLR"  # of the environment: the file of genuine rows
EXTRAPOLATED = (
    "Labels end at 4. What is above them, as the 8.9 that the paper prints, is extrapolation of a network "
    "whose output is not limited."
)
Source = Literal["synthetic", "genuine"]


class MslrConfig(ObjectiveConfig):
    """Which rows the network was fitted to."""

    brief: ClassVar[tuple[str, ...]] = ("rows",)
    picture: ClassVar[str] = "Rank"

    kind: Literal["mslr"] = "mslr"
    rows: Source = setting(
        "synthetic",
        "Rows",
        f"Synthetic: a generated set. Genuine: as dsebo fetch mslr gets them, or of the file {VARIABLE}.",
    )
    fingerprint: str = setting("", "Fingerprint", "Of the file with the genuine rows.", fixed=True)

    @classmethod
    def names(cls) -> list[str]:
        """The one there is."""
        return ["mslr"]

    @classmethod
    def description(cls, name: str) -> str:
        """What it is, and what its rows are."""
        path = named_file()
        genuine = f", or with rows = genuine on those of {path.name}" if path and path.is_file() else ""
        about = "136 features of a document with a high predicted relevance."
        return f"{about} MSLR-style, on a synthetic set{genuine}."

    @classmethod
    def complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        """With the fingerprint of the file that is named, where its rows are wanted."""
        path = named_file()
        if given.get("rows") == "genuine" and not given.get("fingerprint") and path and path.is_file():
            return {**given, "fingerprint": fingerprint(path)}
        return given

    @property
    def D(self) -> int:
        """A variable for each feature."""
        return FEATURES

    @property
    def task(self) -> str:
        """Reference lines are of the synthetic set."""
        return self.name if self.rows == "synthetic" else f"{self.name} {self.fingerprint}"

    def unavailable(self) -> str:
        """Whether the file of genuine rows is missing, or another one than this config's."""
        if self.rows == "synthetic":
            return ""
        path = named_file()
        if path is None:
            return f"Genuine rows of mslr need dsebo fetch mslr, or {VARIABLE}: the path of a LETOR file."
        if not path.is_file():
            return f"{VARIABLE} must name a file (got {str(path)!r})."
        if fingerprint(path) != self.fingerprint:
            return f"The genuine rows of this run are not those of {path.name}."
        return ""

    @classmethod
    def with_references(cls) -> list[MslrConfig]:
        """The synthetic set."""
        return [cls(name="mslr")]

    def build(self) -> Mslr:
        """The task; its network is read, or fitted to genuine rows, at the first evaluation."""
        return Mslr(self.fingerprint if self.rows == "genuine" else "")


class Mslr(Objective):
    """F(x): the predicted relevance at x, negated. Computed in NumPy: no gradient is given."""

    name, dimension = "mslr", FEATURES

    def __init__(self, fingerprint: str = "") -> None:
        self.fingerprint = fingerprint

    @property
    def network(self) -> Network:
        """The shipped one, or the one of the genuine rows."""
        return _network(self.fingerprint)

    def evaluate(self, x: Tensor) -> Tensor:
        """Row by row, so that a value does not depend on the others."""
        import torch

        points = inside_the_box(self, x)
        values = [-float(self.network.predict(point[None])[0]) for point in points]
        return torch.tensor(values, dtype=torch.float64)

    def portrait(self, x: Array) -> Placement:
        """Where x would stand among all rows."""
        return Placement(
            self.network.predictions, float(self.network.predict(x[None])[0]), not self.fingerprint
        )


@dataclass(frozen=True)
class Placement:
    """The predictions of all rows, ascending, and that of a point."""

    predictions: Array
    found: float
    synthetic: bool

    @property
    def place(self) -> int:
        """1 where no row has a higher prediction."""
        return 1 + int(np.sum(self.predictions > self.found))


def named_file() -> Path | None:
    """The file of genuine rows: the one that is named, else the one that was fetched; None: neither."""
    given = os.environ.get(VARIABLE, "")
    if given:
        return Path(given)
    return cached_archive() if cached_archive().is_file() else None


@lru_cache(maxsize=4)
def _network(wanted: str) -> Network:
    """Genuine rows: fitted once and kept in the user's cache, so that all processes have the same."""
    if not wanted:
        return Network.read(NETWORK)
    from platformdirs import user_cache_path

    kept = user_cache_path("dsebo") / f"mslr-{wanted}.npz"
    if not kept.is_file():
        path = named_file()
        if path is None or not path.is_file() or fingerprint(path) != wanted:
            raise ConfigError(f"Genuine rows of mslr need {VARIABLE}: the LETOR file of this run.")
        network = fit(read_rows(path), f"genuine rows of {path.name}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        own = kept.with_name(f"{kept.stem}-{os.getpid()}.npz")
        network.save(own)
        own.replace(kept)
    return Network.read(kept)
