"""The two methods without a model."""

from __future__ import annotations

from typing import ClassVar, Literal

from dsebo.method_config import MethodConfig


class RandomConfig(MethodConfig):
    """Random search."""

    label: ClassVar[str] = "Random search"
    method: Literal["random"] = "random"


class CentreConfig(MethodConfig):
    """One evaluation of the centre of the box: the line that every curve is read against."""

    label: ClassVar[str] = "Centre"
    method: Literal["centre"] = "centre"
