"""MSLR-style ranking: the network, the strict reader, genuine rows by request, and what is refused."""

from __future__ import annotations

import hashlib
import io
import math
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.references import BEST_RANDOM, references
from dsebo.analysis.floor import NoFloor, applies
from dsebo.cli import app
from dsebo.config import parse_flat
from dsebo.run import run
from objectives import MslrConfig
from objectives.fields import ConfigError
from objectives.letor import ARCHIVE, FEATURES, MEMBERS, cached_archive, generated, read_letor, read_rows
from objectives.mslr import VARIABLE, Placement, _network
from objectives.ranking import SIZES, fit, normalised
from objectives.references import CENTRE

MSLR = MslrConfig()
VALUES = " ".join(f"{k}:{k / 2}" for k in range(1, FEATURES + 1))


def letor(rows: int = 60) -> str:
    """A small file of 6 queries, in which the first feature makes relevant."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(rows):
        features = rng.standard_normal(FEATURES)
        label = int(np.clip(2 + features[0], 0, 4))
        pairs = " ".join(f"{k}:{value:.6f}" for k, value in enumerate(features, start=1))
        lines.append(f"{label} qid:{row % 6} {pairs}")
    return "\n".join(lines)


@pytest.fixture
def genuine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "rows.txt"
    file.write_text(letor())
    monkeypatch.setenv(VARIABLE, str(file))
    yield file
    _network.cache_clear()


def test_the_description_names_genuine_rows_that_are_here(
    genuine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MslrConfig.description("mslr").endswith(
        "a synthetic set, or with rows = genuine on those of rows.txt."
    )
    monkeypatch.setenv(VARIABLE, str(genuine.with_name("none.txt")))
    assert MslrConfig.description("mslr").endswith("on a synthetic set.")


def test_the_network_has_its_layers_and_golden_values() -> None:
    network = MSLR.build().network
    assert [weights.shape for weights, _ in network.layers] == list(pairwise(SIZES))
    assert "synthetic" in network.made["source"]
    assert network.made["error held out"] < 0.5 * network.made["variance held out"]
    ones = np.ones((1, FEATURES))
    values = [float(MSLR.build()(v * ones)[0]) for v in (0.0, 1.0, -1.0)]
    assert values == pytest.approx([-0.48673648682, -3.0100607158, 0.1290418254], rel=1e-6)


def test_what_is_shipped_is_what_the_generated_rows_give() -> None:
    """The predictions of all rows again, from the generated set and the shipped weights."""
    rows, network = generated(), MSLR.build().network
    names = np.random.default_rng(network.made["seed"]).permutation(np.unique(rows.queries))
    train = ~np.isin(rows.queries, names[: round(0.2 * len(names))])
    predictions = network.predict(normalised(rows.features, rows.features[train]))
    assert np.sort(predictions) == pytest.approx(network.predictions, abs=1e-5)


def test_reference_lines_are_what_is_computed() -> None:
    known = MSLR.references()
    assert list(known) == [CENTRE, BEST_RANDOM]
    assert known == pytest.approx(references(MSLR), rel=1e-9)


def test_quantiles_do_not_depend_on_the_size_of_a_feature() -> None:
    values = np.array([[0.0, 0.0], [1.0, 2e8], [2.0, 3e8], [2.0, 3e8]])
    shares = normalised(values, values)
    assert list(shares[:, 0]) == list(shares[:, 1]) == [-0.75, -0.25, 0.5, 0.5]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"5 qid:1 {VALUES}", "the relevance must be a whole number from 0 to 4 (got '5')."),
        (f"x qid:1 {VALUES}", "the relevance must be a whole number from 0 to 4 (got 'x')."),
        (f"1 {VALUES}", "the second word must be qid: and a whole number (got '1:0.5')."),
        ("1", "the second word must be qid: and a whole number (got '')."),
        ("1 qid:1 1:2 2:3", "a row must have 136 features (got 2)."),
        (f"1 qid:1 {VALUES} 137:1", "a row must have 136 features (got 137)."),
        (f"1 qid:1 {VALUES.replace(' 7:', ' 8:')}", "feature 7 must come next, as 7:value (got '8:3.5')."),
        (f"1 qid:1 {VALUES.replace('7:3.5', '7:nan')}", "feature 7 must be a finite number (got 'nan')."),
        (f"1 qid:1 {VALUES.replace('7:3.5', '7:')}", "feature 7 must be a finite number (got '')."),
    ],
)
def test_a_bad_line_is_refused_with_its_number(line: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_letor([f"0 qid:1 {VALUES} # first", "", line], "rows.txt")
    assert str(refused.value) == f"rows.txt, line 3: {words}"


def test_good_lines_are_read_as_they_are() -> None:
    rows = read_letor([f"0 qid:1 {VALUES} # first", f"4 qid:2 {VALUES}"], "rows.txt")
    assert list(rows.relevance) == [0, 4]
    assert list(rows.queries) == [1, 2]
    assert rows.features[1, 6] == 3.5
    with pytest.raises(ConfigError, match="2 queries or more"):
        read_letor([f"0 qid:1 {VALUES}"], "rows.txt")


def test_an_archive_of_other_bytes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rankeval-0.8.2.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("empty"), io.BytesIO())
    with pytest.raises(ConfigError, match="its SHA-256 is another one"):
        read_rows(file)


def test_genuine_rows_are_read_from_the_file_that_is_named(genuine: Path) -> None:
    config = parse_flat({"function": "mslr", "rows": "genuine", "method": "random", "budget": 4})
    assert config.objective.unavailable() == ""
    assert config.objective.references() == {}
    events = [event.to_json() for event in run(config)]
    assert events[-1]["state"] == "finished"
    placed = config.objective.build().portrait(np.zeros(FEATURES))
    assert isinstance(placed, Placement)
    assert not placed.synthetic
    assert len(placed.predictions) == 60
    genuine.write_text(letor(66))  # another file under the same name
    assert config.objective.unavailable() == "The genuine rows of this run are not those of rows.txt."


@pytest.mark.parametrize(
    ("named", "words"), [("", "need dsebo fetch mslr, or DSEBO_MSLR"), ("nowhere.txt", "must name a file")]
)
def test_genuine_rows_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, words: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, named)
    config = parse_flat({"function": "mslr", "rows": "genuine", "method": "random"})
    with pytest.raises(ConfigError, match=words):
        next(run(config))


def fake_archive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with rows at the places of the genuine ones, whose hash is taken for the published one."""
    file = folder / ARCHIVE
    with tarfile.open(file, "w:gz") as archive:
        for member in MEMBERS:
            data = letor(30).encode()
            about = tarfile.TarInfo(member)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    monkeypatch.setattr("objectives.letor.ARCHIVE_HASH", hashlib.sha256(file.read_bytes()).hexdigest())
    return file


def test_rows_that_were_fetched_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = fake_archive(tmp_path, monkeypatch)
    fetched = CliRunner().invoke(app, ["fetch", "mslr", "--from", str(file)])
    assert (fetched.exit_code, fetched.output) == (0, f"Kept as {cached_archive()}.\n")
    assert cached_archive().read_bytes() == file.read_bytes()
    config = parse_flat({"function": "mslr", "rows": "genuine", "method": "random"})
    assert config.unavailable() == ""
    assert len(read_rows(cached_archive()).relevance) == 60
    again = CliRunner().invoke(app, ["fetch", "mslr"])
    assert again.output == f"It is here already: {cached_archive()}.\n"


def test_pip_fetches_them_by_name_or_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip itself is not started: tests have no network."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = fake_archive(tmp_path, monkeypatch)
    commands: list[list[str]] = []

    def pip(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if len(commands) == 1:
            return subprocess.CompletedProcess(command, 1, "", "Looking\nERROR: No matching distribution.\n")
        shutil.copy(file, Path(command[command.index("-d") + 1]) / ARCHIVE)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    refused = CliRunner().invoke(app, ["fetch", "mslr"])
    assert refused.exit_code == 2
    assert "pip could not download rankeval==0.8.2: ERROR: No matching distribution. Where" in refused.output
    assert not cached_archive().exists()
    fetched = CliRunner().invoke(app, ["fetch", "mslr"])
    assert fetched.exit_code == 0
    assert cached_archive().is_file()
    assert commands[0][1:4] == ["-m", "pip", "download"]
    assert commands[0][-1] == "rankeval==0.8.2"


def test_a_fit_is_the_same_twice_and_learns() -> None:
    rows = read_letor(letor(600).splitlines(), "rows.txt")
    first, again = fit(rows, "test"), fit(rows, "test")
    assert (first.predictions == again.predictions).all()
    assert first.made["error held out"] < 0.7 * first.made["variance held out"]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.full((1, FEATURES), math.inf), "finite"),
        (np.full((1, FEATURES), -1.5), r"\[-1, 1\]\^136"),
        (np.zeros((1, 60)), r"takes \(n, 136\)"),
    ],
)
def test_bad_points_are_refused_in_a_sentence(x: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MSLR.build()(x)


def test_there_is_no_floor_and_bad_settings_are_refused() -> None:
    with pytest.raises(NoFloor, match="mslr has no gradients"):
        applies(parse_flat({"function": "mslr"}))
    with pytest.raises(ConfigError, match="rows must be one of synthetic, genuine"):
        parse_flat({"function": "mslr", "rows": "real"})


def test_the_place_among_the_rows_is_counted() -> None:
    rows = np.array([0.0, 1.0, 2.0])
    assert [Placement(rows, found, True).place for found in (3.0, 2.0, 1.5, -1.0)] == [1, 1, 2, 4]
