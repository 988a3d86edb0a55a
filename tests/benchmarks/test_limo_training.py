"""The tokeniser that made the symbols of limo's decoder, and how its accuracy is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("selfies")
import selfies
import torch

from benchmarks.limo_training import LENGTH, PADDING, tokens_of
from benchmarks.limo_training import shares as accuracy
from objectives.limo import NOTHING

# Molecules of any textbook: none of the training set's file is kept here.
MOLECULES = ["CCO", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C#N"]


def test_molecules_come_back_from_their_symbols(tmp_path: Path) -> None:
    file = tmp_path / "some.smiles"
    file.write_text("\n".join([*MOLECULES, "C" * (LENGTH + 1)]))
    tokens, symbols, left_out = tokens_of(file)
    assert symbols[PADDING] == NOTHING
    assert tokens.shape == (len(MOLECULES), LENGTH)
    assert left_out == 1  # it is longer than a string may be
    for smiles, row in zip(MOLECULES, tokens, strict=True):
        written = "".join(symbols[k] for k in row if k != PADDING)
        assert written == selfies.encoder(smiles)
        ends = np.flatnonzero(row == PADDING)
        assert ends[0] == selfies.len_selfies(written)  # padding stands at the end only


def test_a_molecule_with_a_rarer_symbol_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.limo_training.SYMBOLS", 3)
    file = tmp_path / "some.smiles"
    file.write_text("\n".join(["CCC"] * 5 + ["CCO"] * 3 + ["CCBr"]))
    tokens, symbols, left_out = tokens_of(file)
    assert symbols == [NOTHING, "[C]", "[O]"]
    assert (len(tokens), left_out) == (8, 1)


def test_accuracy_is_counted_with_and_without_padding() -> None:
    tokens = torch.tensor([[1, 2, 0, 0], [3, 0, 0, 0]])
    hits = torch.tensor([[True, False, True, True], [True, True, True, True]])
    assert accuracy(hits, tokens) == (7 / 8, 2 / 3)
