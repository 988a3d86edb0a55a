"""Numbers, times and settings in words: the same everywhere, for people."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any

from dsebo.config import METHODS


def number(value: float | None, digits: int = 4) -> str:
    """Four significant digits, thousands set apart; a dash where there is no number."""
    if value is None or not math.isfinite(value):
        return "–"
    rounded = float(f"{value:.{digits}g}") if abs(value) < 10**digits else round(value)
    if rounded != 0 and not 1e-4 <= abs(rounded) < 1e9:
        mantissa, exponent = f"{rounded:.{digits - 1}e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    else:
        text = f"{rounded:,.10f}".rstrip("0").rstrip(".")
    return text.replace(",", "\u202f").replace("-", "−")


def spread(mean: float | None, std: float | None) -> str:
    """`3.9 ± 1.3`: two digits of the deviation, and as many places of the mean."""
    if mean is None or std is None or not (math.isfinite(mean) and math.isfinite(std)) or std <= 0:
        return number(mean)
    place = math.floor(math.log10(std)) - 1
    shown = (f"{round(value, -place) + 0.0:,.{max(0, -place)}f}" for value in (mean, std))
    return " ± ".join(shown).replace(",", "\u202f").replace("-", "−")


def count(value: int, thing: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{value:,} {thing}{'' if value == 1 else 's'}".replace(",", "\u202f")


def duration(seconds: float | None) -> str:
    """A time span, no finer than it matters."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 1:
        return "under 1 s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(count_of_bytes: float, digits: int = 3) -> str:
    """Bytes in the unit that keeps the number short."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count_of_bytes < 1000 or unit == "GB":
            break
        count_of_bytes /= 1000
    return f"{float(f'{count_of_bytes:.{digits}g}'):g} {unit}"


def moment(timestamp: float | None) -> str:
    """A point in time, to the minute."""
    if timestamp is None:
        return "–"
    return datetime.fromtimestamp(timestamp).strftime("%Y-%m-%d %H:%M")


def plain(text: str) -> str:
    """Text that a user wrote, safe inside Markdown: shown letter by letter, never as markup."""
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>()#+\-.!|~$:&^=])", r"\\\1", one_line)


def function_name(name: str) -> str:
    """`dixon-price` as `Dixon-Price`."""
    return "-".join(part.capitalize() for part in name.split("-"))


def method_name(method: str) -> str:
    """The method's name for people."""
    return METHODS[method].label if method in METHODS else method


def setting_line(config: dict[str, Any]) -> str:
    """A run's setting in one line, in the paper's symbols."""
    objective, optimizer = config["objective"], config["optimizer"]
    said = [
        function_name(objective["name"]),
        f"D = {objective['D']}",
        f"d_e = {objective['d_e']}",
        f"c = {objective['c']:g}",
    ]
    method = optimizer["method"]
    if method == "dsebo":
        said += [f"β = {optimizer['beta']:g}", f"d from {optimizer['d_l']} to {optimizer['d_h']}"]
        if optimizer["variant"] != "paper":
            said.append(f"{optimizer['variant']}' variant")
    else:
        said.append(method_name(method))
    return " · ".join([*said, f"budget {config['budget']}", f"seed {config['seed']}"])
