"""The paper's own sweeps and one of ours, and small versions of each for a classroom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsebo.experiments.spec import ExperimentSpec
from dsebo.paper.tables import PAPER_BUDGET, PAPER_FUNCTIONS


@dataclass(frozen=True)
class Preset:
    """A sweep with what to look for in it."""

    key: str
    title: str
    text: str
    spec: ExperimentSpec
    small: bool


_SEEDS = "1-10"  # as many as the paper has; a paired test of seven values needs them
_FUNCTIONS = ["sphere", "levy"]
_BETAS = [1, 4, 8, 12, 16, 24, 32]
_LARGEST = [60, 80, 100, 120]
_SHIFTS = [0.1, 1, 2, 3, 4, 5]
_EFFECTIVE = [10, 30, 50, 70, 90]
_TWO = "The paper shows two functions and does not name them; here they are Sphere and Levy."


def _preset(key: str, title: str, text: str, budget: int, axes: dict[str, list[Any]]) -> Preset:
    small = budget < PAPER_BUDGET
    shown = f"{title}, small" if small else title
    base = {"objective": {"D": 1000}, "budget": budget}
    given = {"name": shown, "base": base, "axes": axes, "seeds": _SEEDS}
    return Preset(key, shown, text, ExperimentSpec.parse(given), small)


PRESETS: tuple[Preset, ...] = (
    _preset(
        "beta",
        "Expansion scale β",
        f"How long a subspace is kept, and how far the next one reaches. {_TWO}",
        PAPER_BUDGET,
        {"beta": _BETAS, "function": _FUNCTIONS},
    ),
    _preset(
        "beta-small",
        "Expansion scale β",
        "The paper's seven values of β on Sphere, with 200 evaluations.",
        200,
        {"beta": _BETAS},
    ),
    _preset(
        "d_h",
        "Largest dimension dₕ",
        f"How far the subspace may grow. {_TWO}",
        PAPER_BUDGET,
        {"d_h": _LARGEST, "function": _FUNCTIONS},
    ),
    _preset(
        "d_h-small",
        "Largest dimension dₕ",
        "The paper's four values of dₕ on Sphere, with 300 evaluations.",
        300,
        {"d_h": _LARGEST},
    ),
    _preset(
        "c",
        "Shift c on Sphere",
        "How far the optimum lies from the centre of the box, up to its edge.",
        PAPER_BUDGET,
        {"c": _SHIFTS},
    ),
    _preset(
        "c-small",
        "Shift c on Sphere",
        "The paper's six values of c, with 220 evaluations.",
        220,
        {"c": _SHIFTS},
    ),
    _preset(
        "d_e",
        "Effective dimension dₑ on Sphere and Levy",
        "How many of the 1000 variables matter: does the subspace follow?",
        PAPER_BUDGET,
        {"d_e": _EFFECTIVE, "function": _FUNCTIONS},
    ),
    _preset(
        "d_e-small",
        "Effective dimension dₑ on Sphere and Levy",
        "The paper's five values of dₑ on both functions, with 160 evaluations.",
        160,
        {"d_e": _EFFECTIVE, "function": _FUNCTIONS},
    ),
    _preset(
        "variant",
        "The paper's rules and ours",
        "Waiting for the slopes, or growing every few evaluations whatever they gained: which ends lower?",
        PAPER_BUDGET,
        {"variant": ["paper", "adaptive"], "function": list(PAPER_FUNCTIONS)},
    ),
    _preset(
        "variant-small",
        "The paper's rules and ours",
        "Waiting for the slopes, or growing steadily: both on four functions, with 220 evaluations.",
        220,
        {"variant": ["paper", "adaptive"], "function": ["sphere", "rosenbrock", "levy", "michalewicz"]},
    ),
)
