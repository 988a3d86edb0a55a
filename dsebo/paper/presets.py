"""The paper's own sweeps and two of ours, and small versions of each for a classroom."""

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


def _both(
    key: str,
    title: str,
    axes: dict[str, list[Any]],
    text: str,
    budget: int,
    small_text: str,
    small_axes: dict[str, list[Any]] | None = None,
    optimizer: dict[str, Any] | None = None,
) -> tuple[Preset, Preset]:
    """The paper's, and a small one with that budget: of the same axes unless some are given."""
    small = _preset(f"{key}-small", f"{title}, small", small_text, budget, small_axes or axes, optimizer)
    return _preset(key, title, text, PAPER_BUDGET, axes, optimizer), small


def _preset(
    key: str, title: str, text: str, budget: int, axes: dict[str, list[Any]], optimizer: dict[str, Any] | None
) -> Preset:
    base: dict[str, Any] = {"objective": {"D": 1000}, "budget": budget}
    base |= {} if optimizer is None else {"optimizer": optimizer}
    spec = ExperimentSpec.parse({"name": title, "base": base, "axes": axes, "seeds": _SEEDS})
    return Preset(key, title, text, spec, budget < PAPER_BUDGET)


PRESETS: tuple[Preset, ...] = (
    *_both(
        "beta",
        "Expansion scale β",
        {"beta": _BETAS, "function": _FUNCTIONS},
        f"How long a subspace is kept, and how far the next one reaches. {_TWO}",
        200,
        "The paper's seven values of β on Sphere, with 200 evaluations.",
        {"beta": _BETAS},
    ),
    *_both(
        "d_h",
        "Largest dimension dₕ",
        {"d_h": _LARGEST, "function": _FUNCTIONS},
        f"How far the subspace may grow. {_TWO}",
        300,
        "The paper's four values of dₕ on Sphere, with 300 evaluations.",
        {"d_h": _LARGEST},
    ),
    *_both(
        "c",
        "Shift c on Sphere",
        {"c": _SHIFTS},
        "How far the optimum lies from the centre of the box, up to its edge.",
        220,
        "The paper's six values of c, with 220 evaluations.",
    ),
    *_both(
        "d_e",
        "Effective dimension dₑ on Sphere and Levy",
        {"d_e": _EFFECTIVE, "function": _FUNCTIONS},
        "How many of the 1000 variables matter: does the subspace follow?",
        160,
        "The paper's five values of dₑ on both functions, with 160 evaluations.",
    ),
    *_both(
        "variant",
        "The paper's rules and ours",
        {"variant": ["paper", "adaptive"], "function": list(PAPER_FUNCTIONS)},
        "Waiting for the slopes, or growing every few evaluations whatever they gained: which ends lower?",
        250,
        "Waiting for the slopes, or growing steadily: both on four functions, with 250 evaluations.",
        {"variant": ["paper", "adaptive"], "function": ["sphere", "rosenbrock", "levy", "michalewicz"]},
    ),
    *_both(
        "embeddings",
        "Several embeddings",
        {"embeddings": [1, 2, 4], "function": list(PAPER_FUNCTIONS)},
        "Several embeddings share the first tenth of the evaluations, and the best one goes on: does it pay?",
        300,
        "One, two or four embeddings to begin with, on four functions, with 300 evaluations.",
        {"embeddings": [1, 2, 4], "function": ["sphere", "rosenbrock", "levy", "michalewicz"]},
        {"variant": "adaptive", "blocks": 0},  # which several embeddings do not have
    ),
)
