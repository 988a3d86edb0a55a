"""Rows of learning to rank: a strict reader of LETOR files, and a generated set that looks like one."""

from __future__ import annotations

import hashlib
import math
import os
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .fields import ConfigError, must, short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEATURES, HIGHEST = 136, 4
SEED, QUERIES = 136, 160
# 5000 + 5000 genuine rows are in this source archive. Its terms are unclear, so none are kept here.
PACKAGE = "rankeval==0.8.2"
ARCHIVE = "rankeval-0.8.2.tar.gz"
ARCHIVE_HASH = "c7d71602ab7fe0a0281976c1f0e883cb16431f72e4e946e5fd83790449bb21a9"
MEMBERS = tuple(f"rankeval-0.8.2/rankeval/test/data/msn1.fold1.{part}.5k.txt" for part in ("train", "test"))
LIKE_MSLR = (0.52, 0.84, 0.97, 0.99)  # shares of the labels 0, 0 to 1, 0 to 2, 0 to 3


@dataclass(frozen=True)
class Rows:
    """(n,) relevance from 0 to 4, (n,) the query of each row, (n, 136) features."""

    relevance: Array
    queries: NDArray[np.int64]
    features: Array


def read_letor(lines: Iterable[str], name: str) -> Rows:
    """`2 qid:10 1:3.5 … 136:0`, a row a line; ConfigError with the number of the line that is no such row."""
    labels, queries, features = [], [], []
    for place, line in enumerate(lines, start=1):
        text = line.split("#", 1)[0].split()
        if not text:
            continue
        try:
            label, query, row = _row(text)
        except ConfigError as error:
            raise ConfigError(f"{name}, line {place}: {error}") from None
        labels.append(label)
        queries.append(query)
        features.append(row)
    if len(set(queries)) < 2:
        raise ConfigError(f"{name} must have rows of 2 queries or more (got {len(set(queries))}).")
    return Rows(np.array(labels, dtype=np.float64), np.array(queries), np.array(features))


def _row(text: list[str]) -> tuple[int, int, list[float]]:
    label, query, pairs = text[0], text[1] if len(text) > 1 else "", text[2:]
    if not (label.isascii() and label.isdigit() and int(label) <= HIGHEST):
        raise ConfigError(must("the relevance", f"a whole number from 0 to {HIGHEST}", label))
    number = query.removeprefix("qid:")
    if number == query or not (number.isascii() and number.isdigit()):
        raise ConfigError(must("the second word", "qid: and a whole number", query))
    if len(pairs) != FEATURES:
        raise ConfigError(f"a row must have {FEATURES} features (got {len(pairs)}).")
    return int(label), int(number), [_value(k, pair) for k, pair in enumerate(pairs, start=1)]


def _value(k: int, pair: str) -> float:
    index, _, written = pair.partition(":")
    if index != str(k):
        raise ConfigError(f"feature {k} must come next, as {k}:value (got {short(pair)}).")
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(must(f"feature {k}", "a finite number", written))
    return value


def read_rows(path: Path) -> Rows:
    """Of a LETOR file, or of the source archive that bundles genuine rows, whose hash is verified."""
    try:
        if path.name.endswith(".tar.gz"):
            return _archive_rows(path)
        with path.open(encoding="utf-8") as file:
            return read_letor(file, path.name)
    except (OSError, tarfile.TarError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} cannot be read: {type(error).__name__}.") from None


def cached_archive() -> Path:
    """Where `dsebo fetch mslr` keeps it."""
    from platformdirs import user_cache_path

    return user_cache_path("dsebo") / ARCHIVE


def keep_archive(path: Path) -> Path:
    """Copy the archive to the user's cache, once its hash is verified; where it is then."""
    try:
        data = _verified(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        kept = cached_archive()
        kept.parent.mkdir(parents=True, exist_ok=True)
        own = kept.with_name(f"{kept.name}.{os.getpid()}")
        own.write_bytes(data)
        own.replace(kept)
    except OSError as error:
        raise ConfigError(f"{kept} cannot be kept: {error.strerror}.") from None
    return kept


def _verified(path: Path) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != ARCHIVE_HASH:
        raise ConfigError(f"{path.name} is not {ARCHIVE} as published: its SHA-256 is another one.")
    return data


def _archive_rows(path: Path) -> Rows:
    _verified(path)
    parts = []
    with tarfile.open(path) as archive:
        for member in MEMBERS:
            file = archive.extractfile(member)
            assert file is not None  # the hash says so
            parts.append(read_letor(file.read().decode().splitlines(), member.rsplit("/", 1)[-1]))
    return Rows(
        np.concatenate([part.relevance for part in parts]),
        np.concatenate([part.queries for part in parts]),
        np.concatenate([part.features for part in parts]),
    )


def fingerprint(path: Path) -> str:
    """By which a config knows the rows of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def generated(seed: int = SEED) -> Rows:
    """A synthetic set that looks like MSLR-WEB: 160 queries, counts, shares and sums of very different sizes.

    A hidden relevance moves some of the features, each a little; labels have about MSLR's shares.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(30, 71, QUERIES)
    queries = np.repeat(np.arange(1, QUERIES + 1), sizes)
    n = len(queries)
    hidden = 0.5 * np.repeat(rng.standard_normal(QUERIES), sizes) + rng.standard_normal(n)
    relevance = np.searchsorted(np.quantile(hidden, LIKE_MSLR), hidden).astype(np.float64)
    features = np.empty((n, FEATURES))
    for k in range(FEATURES):
        pull = rng.normal(0.25, 0.3) if rng.random() < 0.4 else 0.0
        of_query = 0.7 * np.repeat(rng.standard_normal(QUERIES), sizes)
        u = pull * hidden + of_query + rng.standard_normal(n)
        what = k % 5
        if what == 0:
            features[:, k] = np.floor(np.exp(u))
        elif what == 1:
            features[:, k] = 1 / (1 + np.exp(-u))
        elif what == 2:
            features[:, k] = np.exp(4 + 2.5 * u)
        elif what == 3:
            features[:, k] = np.where(u > 0.5, u, 0.0)
        else:
            features[:, k] = u
    return Rows(relevance, queries, features)
