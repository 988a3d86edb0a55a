"""The words and symbols of the paper, in a sentence each, in the order in which one meets them.

The same sentences are said where a symbol is pointed at, on any page (`ui/live/symbols.js`).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dsebo.text import typeset


class Term(NamedTuple):
    """A symbol as it is typeset, what it is called, what it means, and how texts write it."""

    symbol: str
    name: str
    meaning: str
    written: tuple[str, ...] = ()


GLOSSARY = (
    Term("F", "function", "What is minimised. Lower is better.", ("F", "F(x)")),
    Term("x", "point", "What F is evaluated at: D numbers in [−1, 1], x = S z, clipped to the box.", ("x",)),
    Term("t", "evaluation", "The number of an evaluation, from 1 to the budget.", ("t",)),
    Term("D", "dimension", "How many variables the function has: 1000 or 10 000 in the paper.", ("D",)),
    Term(
        "d_e",
        "effective dimension",
        "How many of them matter. The method is never told.",
        ("dₑ", "d_e", "de"),
    ),
    Term(
        "c", "shift", "How far the optimum lies from the centre of the box, in the function's units.", ("c",)
    ),
    Term("K", "tail divisor", "The variables that do not matter still weigh 1/K each.", ("K",)),
    Term(
        "S", "shared embedding", "One random D × d_h matrix. Its first d columns make the subspace.", ("S",)
    ),
    Term("d", "subspace dimension", "How many numbers z the search chooses at present.", ("d", "d′", "d'")),
    Term("z", "point of the subspace", "What the model sees: d numbers in [−1, 1].", ("z", "z′")),
    Term("d_l", "smallest d", "Where the subspace starts.", ("dₗ", "d_l", "dl")),
    Term(
        "d_h",
        "largest d",
        "Where growth ends. S has so many columns, so it also sets the memory.",
        ("dₕ", "d_h", "dh"),
    ),
    Term(
        "\\beta",
        "expansion scale",
        "Sets the first step, (d_h − d_l)/β, and the patience, budget/2β.",
        ("β", "beta"),
    ),
    Term(
        "\\alpha",
        "least gain",
        "A gain above α counts, and starts the count of the patience again.",
        ("α", "alpha"),
    ),
    Term(
        "T", "patience", "So many evaluations without a gain above α, and the subspace has stalled.", ("T",)
    ),
    Term("\\Delta d", "step", "How many dimensions an expansion adds.", ("Δd", "Δdprev")),
    Term(
        "\\Delta d_{\\min}",
        "least step",
        "The step never falls below it. With 0, as in the paper, a step of 0 stays 0 for good.",
        ("Δd_min", "Δdmin", "Δdₘᵢₙ", "min_step"),
    ),
    Term(
        "s_i",
        "slope",
        "The gain of the best value per dimension that the i-th expansion added.",
        ("sᵢ", "s", "sₘᵢₙ", "sₘₐₓ", "si", "smin", "smax", "sn−1"),
    ),
    Term(
        "k",
        "factor of the step",
        "The next step is ⌊k Δd⌋. k goes from 0.5 to 1.5, as the newest slope ranks among all.",
        ("k",),
    ),
    Term(
        "\\kappa",
        "exploration",
        "How much the search prefers the unknown over the promising.",
        ("κ", "kappa"),
    ),
    Term("F^*", "minimum", "The least value there is, where it is known.", ("F*", "F∗")),
    Term(
        "n", "runs", "How many runs, each with a seed of its own, a mean or a median is taken over.", ("n",)
    ),
    Term(
        "",
        "centre",
        "The middle of the box. A single evaluation there is the fairest reference.",
        ("centre",),
    ),
    Term(
        "",
        "reachable",
        "The best value that any point of the present subspace has. What lies below "
        "it is approximation error: only a larger d removes it. What lies above is optimization error.",
        ("reachable", "Reachable"),
    ),
    Term(
        "\\varepsilon(d)",
        "approximation error",
        "What a subspace of d dimensions cannot reach.",
        ("ε(d)", "ε", "ε(dj)"),
    ),
)

SECTION_5 = (  # where these letters mean something else
    Term("T", "evaluations", "All evaluations of a run.", ("T",)),
    Term("H", "phases", "In how many subspaces, one after the other, they were made.", ("H",)),
    Term("T_j", "evaluations of a phase", "How many were made in the j-th subspace.", ("Tⱼ", "T_j", "Tj")),
    Term("d_j", "dimension of a phase", "The dimension of the j-th subspace.", ("dⱼ", "d_j", "dj")),
    Term("O^*", "order", "Up to constants and factors that grow with a power of log T.", ("O*", "O∗")),
)


@cache
def explained(terms: tuple[Term, ...]) -> dict[str, str]:
    """What is said of each symbol, by the ways in which it is written."""
    return {text: typeset(f"{term.name}: {term.meaning}") for term in terms for text in term.written}


def help_of(symbol: str) -> str | None:
    """What is said of a symbol; None where it has no meaning of its own."""
    return explained(GLOSSARY).get(symbol)
