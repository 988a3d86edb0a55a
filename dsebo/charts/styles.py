"""Colour and dash of each method in a race: the same on every page and in every race."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from dsebo.charts.theme import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from dsebo.config import METHODS

Style = tuple[str, str]
BROWN = "#8C6D00"
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, BROWN)

STYLES: dict[str, Style] = {
    "dsebo": (BLUE, "solid"),
    "random": (VERMILLION, "dash"),
    "turbo": (GREEN, "dot"),
    "baxus": (ORANGE, "dashdot"),
    "rembo": (PURPLE, "longdash"),
    "hesbo": (SKY, "solid"),
    "vbo": (BROWN, "dot"),
    "sbo-se": (BROWN, "solid"),
    "sirbo": (GREEN, "dash"),
    "mcts-vs": (ORANGE, "solid"),
    "lm-ma-es": (VERMILLION, "dot"),
    "dcem": (VERMILLION, "dashdot"),
    "centre": (GREY, "dash"),  # as its line is on every chart
    "bandit-extreme": (GREEN, "solid"),
    "bandit-c-ucb": (SKY, "dash"),
    "bandit-epsilon-greedy": (PURPLE, "dot"),
    "bandit-softmax": (BROWN, "dash"),
    "bandit-successive-halving": (SKY, "dot"),
    "bandit-ucb-e": (SKY, "dashdot"),
    "bandit-thompson": (ORANGE, "dash"),
    "bandit-expectation": (ORANGE, "dot"),
    "bandit-random": (BROWN, "dashdot"),
}
for _method in METHODS:  # one that is not listed gets the first pair that is free
    _free_styles = (style for style in product(COLOURS, DASHES) if style not in STYLES.values())
    STYLES.setdefault(_method, next(_free_styles, (BLUE, "solid")))


def styles_of(methods: Mapping[str, str]) -> dict[str, Style]:
    """(colour, dash) by label; a method that runs twice keeps its colour and takes another dash.

    Args:
        methods: The method of each label.
    """
    found: dict[str, Style] = {}
    for label, method in methods.items():
        found[label] = _free(STYLES.get(method, (BLUE, "solid")), set(found.values()))
    return found


def _free(wanted: Style, taken: set[Style]) -> Style:
    colours = (wanted[0], *(colour for colour in COLOURS if colour != wanted[0]))
    options = [wanted, *((colour, dash) for colour in colours for dash in DASHES)]
    return next((style for style in options if style not in taken), wanted)
