"""What is changed in the experiments on figures that are far from the printed ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from dsebo.gp.surrogate import Surrogate
from dsebo.methods.alebo import ALEBO
from dsebo.methods.base import stream
from dsebo.methods.baxus import BAxUS
from dsebo.methods.sbo_se import SBOSE
from dsebo.paper.tables import PAPER_FUNCTIONS


@dataclass(frozen=True)
class Experiment:
    """One change of a method, on some functions from some seeds.

    Attributes:
        objective: What is changed of the function.
        prepare: What is changed of the optimizer that no setting changes.
    """

    method: str
    change: str
    settings: dict[str, Any] = field(default_factory=dict)
    functions: tuple[str, ...] = ("sphere",)
    seeds: tuple[int, ...] = (1, 2)
    objective: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[Any], None] | None = None


def stages_for(evaluations: int) -> Callable[[BAxUS], None]:
    """BAxUS shares out that many evaluations over its stages, whatever the run's budget."""

    def prepare(optimizer: BAxUS) -> None:
        optimizer.budget = evaluations

    return prepare


def half_as_far(optimizer: ALEBO) -> None:
    """ALEBO's random points with half its b, where hardly a draw is outside: nearer to the centre."""
    b, polytope = optimizer.design[1] / 2.0, optimizer.polytope
    draws = polytope.uniform(optimizer.config.n_init, b, stream(optimizer.seed, 1))
    optimizer._design = polytope.pulled(draws), b, 1.0


def start_at_ln_2(optimizer: SBOSE) -> None:
    """SBO-SE's fits start at GPyTorch's usual lengthscale, not at √D."""
    optimizer.gp = Surrogate(replace(optimizer.gp.settings, lengthscale_start=0.6931))


TEN = tuple(range(1, 11))
BEST_OF_2000: dict[str, Any] = {"raw_samples": 2000, "local_samples": 0, "acq_iterations": 0}
BEST_OF_20 = {**BEST_OF_2000, "raw_samples": 20}
FEW_STARTS = {"raw_samples": 20, "local_samples": 0}  # as optimize_acqf is often called
NO_MODEL = "no model: 500 random points"
LN_2 = "fits start at ℓ = ln 2, no samples around the best points"
SIZED = "stages sized for 50 evaluations"
BANDITS = ("c-ucb", "epsilon-greedy", "ucb-e", "thompson", "expectation")

EXPERIMENTS = (
    *(
        Experiment("alebo", f"{NO_MODEL} of its polytope{words}", settings, PAPER_FUNCTIONS, TEN, {}, prepare)
        for words, settings, prepare in (
            ("", {"n_init": 500}, None),
            (", d = 50", {"n_init": 500, "d": 50}, None),
            (", with half its b", {"n_init": 500}, half_as_far),
            (", with half its b, d = 50", {"n_init": 500, "d": 50}, half_as_far),
        )
    ),
    Experiment("rducb", NO_MODEL, {"n_init": 500}, PAPER_FUNCTIONS, TEN),
    Experiment(
        "vaebo", "z in ±d, as in the authors' file", {"z_box": 30.0}, ("griewank", "rosenbrock"), (1,)
    ),
    Experiment(
        "dsebo", "the authors' variant", {"variant": "authors"}, ("rosenbrock", "griewank", "michalewicz")
    ),
    Experiment(
        "dsebo",
        "the authors' variant, acquisition from 20 random samples",
        {"variant": "authors", **FEW_STARTS},
        PAPER_FUNCTIONS,
        (1, 2, 3),
    ),
    Experiment(
        "dsebo",
        "the authors' variant, acquisition from 20 random samples, c = 0",
        {"variant": "authors", **FEW_STARTS},
        ("rosenbrock",),
        (1, 2, 3),
        {"c": 0.0},
    ),
    *(
        Experiment(
            "dsebo",
            f"κ = {factor} · 0.2 d log 2n, acquisition from 20 random samples, c = 0",
            {"kappa_scale": factor, **FEW_STARTS},
            ("rosenbrock",),
            (1, 2, 3),
            {"c": 0.0},
        )
        for factor in (3, 5)
    ),
    Experiment("random", "x uniform in [0, 1]^D", {"points": "upper-half"}, PAPER_FUNCTIONS, TEN),
    Experiment(
        "rembo",
        "z in ±1, acquisition: best of 2000 samples",
        {"scale": "unit", **BEST_OF_2000},
        PAPER_FUNCTIONS,
    ),
    Experiment("rembo", "z in ±1 and d = 50, as printed", {"scale": "unit", "d": 50}, ("sphere", "griewank")),
    Experiment("hesbo", "acquisition: best of 2000 samples", BEST_OF_2000, ("sphere", "levy", "griewank")),
    Experiment("hesbo", "acquisition: best of 20 samples", BEST_OF_20, PAPER_FUNCTIONS),
    Experiment(
        "sbo-se", "no samples around the best points", {"local_samples": 0}, ("sphere", "griewank"), (1,)
    ),
    Experiment("sbo-se", LN_2, {"local_samples": 0}, PAPER_FUNCTIONS, prepare=start_at_ln_2),
    Experiment("turbo", "no failure shrinks the region", {"failure_tolerance": 1000}, ("levy",)),
    Experiment("turbo", "200 starting points", {"n_init": 200}, PAPER_FUNCTIONS),
    Experiment(
        "turbo", "five failures halve the region", {"failure_tolerance": 5}, ("sphere", "levy", "michalewicz")
    ),
    Experiment("baxus", "one iteration a fit", {"fit_iterations": 1}, ("sphere", "levy")),
    Experiment("baxus", "all coordinates perturbed", {"perturbed": 1000}),
    Experiment("baxus", SIZED, {}, PAPER_FUNCTIONS, prepare=stages_for(50)),
    Experiment("baxus", f"{SIZED}, c = 0", {}, ("rosenbrock",), (1, 2), {"c": 0.0}, stages_for(50)),
    Experiment(
        "baxus", "stages sized for 100 evaluations", {}, ("sphere", "griewank"), prepare=stages_for(100)
    ),
    Experiment("sirbo", "acquisition: best of 2000 samples", BEST_OF_2000, ("sphere", "griewank")),
    Experiment("sirbo", "κ three times as large", {"kappa_scale": 0.3}, PAPER_FUNCTIONS),
    Experiment("sirbo", "κ twice as large", {"kappa_scale": 0.2}, ("griewank", "dixon-price", "michalewicz")),
    Experiment(
        "sirbo",
        "no samples around the best points",
        {"local_samples": 0},
        ("sphere", "griewank", "michalewicz"),
    ),
    Experiment("sirbo", "75 starting points", {"n_init": 75}, ("griewank",)),
    Experiment(
        "mcts-vs", "acquisition: best of 2000 samples", BEST_OF_2000, ("sphere", "griewank", "michalewicz")
    ),
    Experiment(
        "mcts-vs", "the other variables from any point", {"top": 500}, ("sphere", "griewank", "michalewicz")
    ),
    Experiment("lm-ma-es", "σ = 0.45", {"sigma": 0.45}, PAPER_FUNCTIONS, TEN),
    Experiment("lm-ma-es", "σ = 0.6", {"sigma": 0.6}, PAPER_FUNCTIONS, (1, 2, 3)),
    Experiment("bandit-epsilon-greedy", "z in ±√d", {"scale": "own"}),
    Experiment("bandit-softmax", "z in ±√d", {"scale": "own"}),
    Experiment("bandit-epsilon-greedy", "κ ten times as large", {"kappa_scale": 1.0}, ("sphere",), (1, 2, 3)),
    *(
        Experiment(f"bandit-{name}", "acquisition from 20 random samples", FEW_STARTS, ("sphere",), (1, 2, 3))
        for name in BANDITS
    ),
)
