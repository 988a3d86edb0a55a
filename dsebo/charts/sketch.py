"""A figure in the making."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go


@dataclass
class Sketch:
    """Plain dicts that Plotly validates once, at the end: piece by piece is ten times slower."""

    layout: dict[str, Any]
    traces: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)

    def scatter(self, **trace: Any) -> None:
        """Dots or a line."""
        self.traces.append({"type": "scatter", **trace})

    def bar(self, **trace: Any) -> None:
        """Bars."""
        self.traces.append({"type": "bar", **trace})

    def line(self, **place: Any) -> None:
        """A straight line under the data."""
        self.shapes.append({"type": "line", "layer": "below", **place})

    def note(self, text: str, **place: Any) -> None:
        """A text without an arrow."""
        self.notes.append({"text": text, "showarrow": False, **place})

    def figure(self) -> go.Figure:
        """The finished figure. The empty template keeps Plotly's own off the wire."""
        whole = {**self.layout, "annotations": self.notes, "shapes": self.shapes, "template": {}}
        return go.Figure(data=self.traces, layout=whole)
