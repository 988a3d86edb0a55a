"""The words and symbols of the paper, in a sentence each, in the order in which one meets them."""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """A symbol as it is typeset, what it is called, and what it means."""

    symbol: str
    name: str
    meaning: str


GLOSSARY = (
    Term("D", "dimension", "How many variables the function has: 1000 or 10 000 in the paper."),
    Term("d_e", "effective dimension", "How many of them matter. The method is never told."),
    Term("c", "shift", "How far the optimum lies from the centre of the box, in the function's units."),
    Term("K", "tail divisor", "The variables that do not matter still weigh 1/K each."),
    Term("S", "shared embedding", "One random D × d_h matrix. Its first d columns make the subspace."),
    Term("d", "subspace dimension", "How many numbers z the search chooses at present."),
    Term("z", "point of the subspace", "What the model sees: d numbers in [−1, 1]."),
    Term("d_l,\\ d_h", "smallest and largest d", "Where the subspace starts, and where growth ends."),
    Term("\\beta", "expansion scale", "Sets the first step, (d_h − d_l)/β, and the patience, budget/2β."),
    Term("\\alpha", "least gain", "A gain above α counts, and starts the count of the patience again."),
    Term("T", "patience", "So many evaluations without a gain above α, and the subspace has stalled."),
    Term("\\Delta d", "step", "How many dimensions an expansion adds."),
    Term("s_i", "slope", "The gain of the best value per dimension that the i-th expansion added."),
    Term(
        "k",
        "factor of the step",
        "The next step is ⌊k Δd⌋. k goes from 0.5 to 1.5, as the newest slope ranks among all.",
    ),
    Term("\\kappa", "exploration", "How much the search prefers the unknown over the promising."),
    Term("F^*", "minimum", "The least value there is, where it is known."),
    Term("", "centre", "The middle of the box. A single evaluation there is the fairest reference."),
    Term(
        "",
        "reachable",
        "The best value that any point of the present subspace has. What lies below "
        "it is approximation error: only a larger d removes it. What lies above is optimization error.",
    ),
    Term("\\varepsilon(d)", "approximation error", "What a subspace of d dimensions cannot reach."),
)
