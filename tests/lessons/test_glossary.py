"""Every symbol is explained, and in one way."""

from __future__ import annotations

import pytest

from dsebo.lessons.glossary import GLOSSARY, SECTION_5, explained, help_of
from dsebo.parsing import launch_fields
from dsebo.text import SYMBOLS


@pytest.mark.parametrize("terms", [GLOSSARY, SECTION_5], ids=["everywhere", "section 5"])
def test_a_way_to_write_a_symbol_has_one_meaning(terms: tuple[object, ...]) -> None:
    written = [text for term in terms for text in term.written]  # type: ignore[attr-defined]
    assert len(written) == len(set(written))
    assert all(term.written for term in terms)  # type: ignore[attr-defined]


def test_the_symbols_of_a_form_and_of_the_charts_are_explained() -> None:
    known = explained(GLOSSARY)
    of_form = {spec.symbol for spec in launch_fields("dsebo", "sphere") if spec.symbol and not spec.advanced}
    plain = {symbol for symbol in of_form if not (symbol.isalpha() and len(symbol) > 1 and symbol.isascii())}
    assert plain - {"f"} <= {*known}
    assert {SYMBOLS[name] for name in ("beta", "alpha", "d_l", "d_h", "d_e")} <= {*known}
    assert {"F(x)", "d", "sᵢ", "sₘᵢₙ", "sₘₐₓ", "k", "Δd", "T", "F*", "t", "n"} <= {*known}
    assert "dₕ" in (help_of("β") or "")  # typeset itself
    assert help_of("budget") is None
