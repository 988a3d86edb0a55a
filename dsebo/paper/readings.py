"""How the paper is read, point by point: what stands here, what else it could mean, the switch.

The paper's text, its pseudo-code and its authors' public code differ in places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reading:
    """One point. `switch` holds the settings of a run that show the other reading."""

    point: str
    here: str
    other: str
    switch: Mapping[str, Any] = field(default_factory=dict)


AUTHORS = {"variant": "authors"}

READINGS = (
    Reading(
        "Kernel, prior and targets",
        "The paper leaves them open. Matérn-5/2, lengthscales whose prior grows with √d, "
        "standardised targets.",
        "The authors' code: a Gamma(3, 6) prior, a fitted output scale, targets that are centred "
        "but not scaled.",
        {"lengthscale_prior": "gamma", "fit_outputscale": True, "targets": "centred"},
    ),
    Reading(
        "Exploration κ",
        "The paper leaves its size open: a tenth of 0.2 d log 2n, chosen by evidence.",
        "The authors' code: 0.2 d log 2n itself.",
        {"kappa_scale": 1.0},
    ),
    Reading(
        "First steps",
        "Δd = ⌊(d_h − d_l)/β⌋; slopes count from the third convergence on.",
        "The authors' code: twice that for the first three expansions; slopes count from the fourth on.",
        AUTHORS,
    ),
    Reading(
        "Patience T after a convergence",
        "⌊(1 + (d − d_l)/(d_h − d_l)) budget/2β⌋ with the d just left.",
        "The authors' code: budget/β instead of budget/2β, with the new d.",
        AUTHORS,
    ),
    Reading(
        "The value that a gain is measured from",
        "Set to the best of the data on entering a subspace (Algorithm 1, line 7).",
        "The authors' code: not set again.",
        AUTHORS,
    ),
    Reading("The first count", "0 after the first random point.", "The authors' code: 1.", AUTHORS),
    Reading(
        "How a larger subspace takes over the data",
        "Every z is padded with zeros, its y kept.",
        "The authors' code: the pseudo-inverse of its matrix, which is the same map. No switch.",
    ),
    Reading(
        "Where z lives",
        "[−1, 1]ᵈ throughout.",
        "The authors' code: the box shrinks by 0.8 whenever a subspace converges and cannot grow.",
        AUTHORS,
    ),
    Reading(
        "A step of 0",
        "⌊k · 0⌋ = 0, so a run that has reached it never grows again. Real runs meet it.",
        "A least step of 1 lifts it; the paper has none.",
        {"min_step": 1},
    ),
    Reading(
        "A gain",
        "α = 0.5 in the function's own units, whatever their size.",
        "A share of the spread of the values seen so far.",
        {"alpha_mode": "relative", "alpha": 0.05},
    ),
    Reading(
        "Which variables matter",
        "The first d_e.",
        "The authors' code: a random subset.",
        {"coordinates": "random"},
    ),
    Reading(
        "The unit of the shift c",
        "That of the function's own domain; x in [−1, 1] is scaled to it. The paper's Sphere goes "
        "up to c = 5 on ±5.12.",
        "With c = 5 the centre of the box is no longer a good guess.",
        {"c": 5.0},
    ),
    Reading(
        "Scale of REMBO and of the bandits",
        "The tables' rows: A of N(0, 1) and z in [−1, 1], which clips most coordinates to a wall "
        "of the box and comes nearest to most of what is printed. REMBO's authors have z in ±√d.",
        "DSEBO's, with which they take part.",
        {"method": "rembo", "scale": "dsebo"},
    ),
    Reading(
        "Random search",
        "Uniform in the whole box [−1, 1].",
        "Points of [0, 1] only: at D = 1000 they give the figures printed for Levy, Griewank, "
        "Dixon-Price and Michalewicz. Rosenbrock's is higher still; Sphere's row is impossible.",
        {"method": "random", "points": "upper-half"},
    ),
    Reading(
        "Rosenbrock's shift",
        "c = 1, with which the centre of the box is worth 1639.",
        "What is printed for DSEBO (37700) and BAxUS (33332) is of the size that c = 0 gives: "
        "there the centre is worth 40847.",
        {"function": "rosenbrock", "c": 0.0},
    ),
    Reading(
        "How an acquisition is searched",
        "By gradients, from the best of 100 random points and 50 around the best so far.",
        "The best of 20 random points, not followed further, gives what is printed for HeSBO.",
        {"method": "hesbo", "raw_samples": 20, "local_samples": 0, "acq_iterations": 0},
    ),
    Reading(
        "TuRBO's starting points",
        "20. Its authors' 2 D would be more than the budget.",
        "With 200 it comes near what is printed for Sphere, Rosenbrock and Griewank, but not for "
        "Levy and Michalewicz.",
        {"method": "turbo", "n_init": 200},
    ),
    Reading(
        "First step of LM-MA-ES",
        "σ = 0.3, as for DCEM. The paper does not say.",
        "0.6 comes near what is printed for four functions; Levy and Griewank want 0.45.",
        {"method": "lm-ma-es", "sigma": 0.6},
    ),
    Reading(
        "Where SBO-SE's fits start",
        "At lengthscales of √D, as its authors have it.",
        "At GPyTorch's usual ln 2 nothing is learnt in 1000 dimensions: SBO-SE is random search, "
        "and that is what is printed for it, on all six functions. No switch.",
    ),
    Reading(
        "Stages of BAxUS",
        "Sized for the run's budget. It then ends below DSEBO on all six functions.",
        "Sized for a tenth of it, it hurries into all D dimensions and comes near what is printed: "
        "on Rosenbrock with c = 0 only, on Levy not. No switch.",
    ),
    Reading(
        "The tail of the functions",
        "Added: K⁻¹ Σ (xᵢ − c)².",
        "Printed with a minus; then there would be no minimum at c. A slip: no switch.",
    ),
    Reading(
        "The matrix of a subspace",
        "The first d columns of S.",
        "Printed as rows, which do not fit its shape. A slip: no switch.",
    ),
    Reading("What is returned", "The point with the least value.", "Printed as argmax. A slip: no switch."),
    Reading(
        "The first point",
        "Counted in the budget.",
        "The pseudo-code spends it on top of the budget. No switch.",
    ),
    Reading(
        "Rosenbrock's second term",
        "(xᵢ − 1)², as everywhere.",
        "The authors' code has (xᵢ₊₁ − 1)². No switch.",
    ),
)
