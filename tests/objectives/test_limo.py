"""The molecules of `limo`: golden values, the decoder, and what is refused."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

from benchmarks.references import BEST_RANDOM, references
from dsebo.analysis.facts import facts
from dsebo.analysis.floor import NoFloor, applies
from dsebo.config import parse_flat
from dsebo.run import run
from objectives import LimoConfig
from objectives.fields import ConfigError
from objectives.limo import DECODER, LATENT, Decoder, Molecule, penalised_logp
from objectives.references import CENTRE

LIMO = LimoConfig()


@pytest.mark.parametrize(
    ("smiles", "value", "within"),
    [("c1ccccc1", 0.6866, 5e-5), ("C" * 20, 6.985, 5e-4), ("C" * 30, 10.85, 5e-3)],
)
def test_penalised_logp_has_its_known_values(smiles: str, value: float, within: float) -> None:
    assert penalised_logp(smiles) == pytest.approx(value, abs=within)


def test_only_what_a_ring_has_above_six_atoms_is_taken_off() -> None:
    assert [Molecule(f"C1{'C' * (n - 2)}C1").ring_excess for n in (3, 6, 7, 9)] == [0, 0, 1, 3]
    assert Molecule("CCC").ring_excess == 0
    eight = Molecule("C1CCCCCCC1")
    assert eight.value == pytest.approx(eight.logp - eight.accessibility - 2)


@pytest.mark.parametrize("smiles", ["", "no molecule"])
def test_what_is_no_molecule_has_no_value(smiles: str) -> None:
    assert math.isnan(penalised_logp(smiles))


def test_the_decoder_is_small_and_says_how_it_was_made() -> None:
    decoder = Decoder.shipped()
    assert DECODER.stat().st_size < 4e6
    assert len(decoder.symbols) == 40
    assert decoder.made["what"] == "LIMO-style, our own smaller VAE"
    assert decoder.made["accuracy"] > 0.85
    assert {"torch", "rdkit", "selfies"} <= set(decoder.made["versions"])


def test_random_points_are_molecules_and_the_task_is_not_trivial() -> None:
    points = np.random.default_rng(2).uniform(-1, 1, (300, LATENT))
    values = LIMO.build()(points)
    assert np.isfinite(values).all()
    assert len(set(values)) > 200
    assert values.min() > -4


def test_values_and_references_are_what_is_computed() -> None:
    known = LIMO.references()
    assert list(known) == [CENTRE, BEST_RANDOM]
    assert known[CENTRE] == pytest.approx(LIMO.build().at_centre(), rel=1e-9)
    assert -4 < known[BEST_RANDOM] < known[CENTRE]
    assert facts(parse_flat({"function": "limo"})).at_centre == known[CENTRE]


@pytest.mark.slow
def test_reference_lines_are_computed_again() -> None:
    assert LIMO.references() == pytest.approx(references(LIMO), rel=1e-9)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.full((1, LATENT), math.nan), "finite"),
        (np.full((1, LATENT), 1.01), r"\[-1, 1\]\^1024"),
        (np.zeros((1, 60)), r"takes \(n, 1024\)"),
    ],
)
def test_bad_points_are_refused_in_a_sentence(x: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LIMO.build()(x)


@pytest.mark.parametrize("missing", ["rdkit", "selfies"])
def test_without_its_packages_the_extra_is_named(monkeypatch: Any, missing: str) -> None:
    config = parse_flat({"function": "limo", "method": "random"})
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=rf"limo needs {missing}: pip install 'dsebo\[molecules\]'\."):
        next(run(config))
    assert config.from_json(config.to_json()) == config


def test_there_is_no_floor_and_no_gradient() -> None:
    with pytest.raises(NoFloor, match="limo has no gradients"):
        applies(parse_flat({"function": "limo"}))


def test_a_run_is_the_same_twice() -> None:
    flat = {"function": "limo", "method": "random", "budget": 6}
    first, again = ([e.to_json() for e in run(parse_flat(flat))] for _ in range(2))
    values = [[e["y"] for e in events if e["event"] == "evaluated"] for events in (first, again)]
    assert values[0] == values[1]
    assert first[0]["config"]["objective"] == {"kind": "limo", "name": "limo"}
