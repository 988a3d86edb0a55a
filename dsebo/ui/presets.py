"""Settings that a lesson starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dsebo.ui.values import Settings, complete


@dataclass(frozen=True)
class Preset:
    """A named setting and what to look for in it."""

    key: str
    title: str
    look_for: str
    changes: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> Settings:
        """The whole form."""
        return complete(dict(self.changes))


PRESETS = (
    Preset(
        "demo",
        "20-second demonstration",
        "100 variables, 10 of them matter: 100 evaluations at five a second.",
        {"D": 100, "d_e": 10, "d_h": 40, "budget": 100, "beta": 8.0, "speed": 5.0},
    ),
    Preset("paper", "The paper's setting", "Sphere, D = 1000, dₑ = 30: does the subspace stop near 30?"),
    Preset(
        "dh-small",
        "dₕ below dₑ",
        "The subspace may not grow to the 30 variables that matter: what is out of reach?",
        {"d_h": 20},
    ),
    Preset(
        "beta-small",
        "β too small (1)",
        "One long wait, then a jump to dₕ: what does patience cost?",
        {"beta": 1.0},
    ),
    Preset(
        "beta-large",
        "β too large (32)",
        "Little patience and small steps: the step soon reaches 0, and stays there.",
        {"beta": 32.0},
    ),
    Preset(
        "far-shift",
        "A far shift (c = 5)",
        "The optimum is at the edge of the box: the centre is no longer a good guess.",
        {"c": 5.0},
    ),
    Preset(
        "large-D",
        "D = 10 000",
        "Ten times the variables: the tail grows, the search does not slow down.",
        {"D": 10_000},
    ),
    Preset(
        "authors",
        "The authors' code",
        "Steps and patience as their program has them: the subspace grows much further.",
        {"variant": "authors"},
    ),
)

BY_KEY = {preset.key: preset for preset in PRESETS}
