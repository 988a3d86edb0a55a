"""Values as words: numbers, counts, times, symbols, labels. The same in terminal, charts and pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from numbers import Real
from typing import Any

from dsebo.config import KNOWN, METHOD, RunConfig, flat_config
from dsebo.objectives import KINDS
from dsebo.objectives.base import ObjectiveConfig

SYMBOLS = {
    **{"beta": "β", "alpha": "α", "d_l": "dₗ", "d_h": "dₕ", "d_e": "dₑ", "kappa_scale": "κ scale"},
    **{"L_min": "Lₘᵢₙ", "L_max": "Lₘₐₓ", "C_p": "Cₚ", "n_init": "n₀"},
}
NAMED = ("function", "method")  # whose values are names that need no field before them
_CHANGES = {
    "scale=dsebo": "DSEBO's scale",
    "scale=unit": "z in ±1",
    "scale=own": "z in ±√d",
    "variant=authors": "authors' variant",
    "variant=adaptive": "our rules",
    "kl_weight=0.0005": "small KL weight",
}


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


_SPELLED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def spelled(value: int, thing: str) -> str:
    """`one run`, `two runs`, `11 runs`: as a sentence has it."""
    number = _SPELLED[value] if value < len(_SPELLED) else str(value)
    return f"{number} {thing}{'' if value == 1 else 's'}"


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
    if hours >= 48:
        return count(round(hours / 24), "day")
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def about(seconds: float) -> str:
    """A predicted time: `about 12 s`, `under 1 s`."""
    return f"about {duration(seconds)}" if seconds >= 1 else duration(seconds)


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


_ADDRESS = re.compile(r"(?i)(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|@")


def plain(text: str) -> str:
    """Text that a user wrote, safe inside Markdown: shown letter by letter, never as markup."""
    words = [word for word in re.split("[^\\S\u00a0]+", text) if word]
    one_line = _ADDRESS.sub("\\g<0>\u2060", " ".join(words))  # a bare address would be a link
    return re.sub(r"([\\`*_{}\[\]<>()#+\-.!|~$:&^=])", r"\\\1", one_line)


# What may move a cursor, colour a terminal or turn the direction of writing; a new line may not.
_CONTROLS = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ud800-\\udfff]"
)


def without_controls(text: str) -> str:
    """Text that a terminal or a page can print: each control character is a space."""
    return _CONTROLS.sub(" ", text)


def one_line(text: str) -> str:
    """A name as it is kept: what cannot be printed, which a database may refuse, is a space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def escaped_controls(json_text: str) -> str:
    """JSON for a terminal: the same values, with control characters written as escapes."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


INITIALS = ("limo", "mslr")  # functions whose names are those of words


def function_name(name: str) -> str:
    """`dixon-price` as `Dixon-Price`; one's own, such as `my_problem:f`, as it is."""
    if ":" in name:
        return name
    return name.upper() if name in INITIALS else "-".join(part.capitalize() for part in name.split("-"))


def method_name(method: str) -> str:
    """The method's name for people; of an entrant `rembo:d=5` with its changes: `REMBO, d = 5`."""
    name, *changes = method.split(":")
    words = [KNOWN[name].label if name in KNOWN else name]
    for change in changes:
        field, _, value = change.partition("=")
        words.append(_CHANGES.get(change) or f"{symbol(field)} = {value}")
    return ", ".join(words)


def value_text(value: Any) -> str:
    """A setting's value as flags, links and labels have it; reading it gives the same value back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def seeds_text(seeds: Iterable[int]) -> str:
    """`1-3,7` of 1, 2, 3, 7."""
    stretches: list[list[int]] = []
    for seed in seeds:
        if stretches and stretches[-1][-1] + 1 == seed:
            stretches[-1].append(seed)
        else:
            stretches.append([seed])
    return ",".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else f"{s[0]}" for s in stretches)


def symbol(field: str) -> str:
    """`β` for beta, `dₕ` for d_h, else the field's own name."""
    return SYMBOLS.get(field, field)


_WRITTEN = re.compile(rf"\b({'|'.join(name for name in SYMBOLS if '_' in name and name != 'kappa_scale')})\b")


def typeset(text: str) -> str:
    """A sentence as it is shown: `d_h` as `dₕ`, and no line ends inside `d = 5` or `5 → 12`."""
    written = _WRITTEN.sub(lambda match: symbol(match[1]), text).replace("Δd_min", "Δdₘᵢₙ")
    return re.sub(r" ([=→]) ", "\u00a0\\1\u00a0", written)


def is_number(value: Any) -> bool:
    """Whether it belongs on a number axis; true and false do not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def value_label(field: str, value: Any) -> str:
    """`12`, `Sphere`, `DSEBO`."""
    if field == "function":
        return function_name(str(value))
    if field == "method":
        return method_name(str(value))
    return value_text(value)


def part(field: str, value: Any) -> str:
    """`β = 12`, `Sphere`."""
    text = value_label(field, value)
    return text if field in NAMED else f"{symbol(field)} = {text}"


def is_range(chosen: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether these are all that lie between the least and the largest of them, and numbers."""
    if len(chosen) < 2 or not all(is_number(value) for value in values):
        return False
    low, high = min(chosen), max(chosen)
    return len([value for value in values if low <= value <= high]) == len(chosen)


def several(field: str, chosen: Sequence[Any], values: Sequence[Any]) -> str:
    """`β between 8 and 24` of all values between; else `β = 4, 8 and 24`."""
    if len(chosen) == 1:
        return part(field, chosen[0])
    if is_range(chosen, values):
        low, high = (value_label(field, end) for end in (min(chosen), max(chosen)))
        return f"{symbol(field)} between {low} and {high}"
    names = joined([value_label(field, value) for value in chosen])
    return names if field in NAMED else f"{symbol(field)} = {names}"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def brief(objective: Mapping[str, Any]) -> list[str]:
    """`D = 1000`, `dₑ = 30`, `c = 1`: what a title says of an objective beside its name."""
    kind = KINDS.get(objective.get("kind", "embedded"), ObjectiveConfig)
    return [part(name, objective[name]) for name in kind.brief]


MOST_CHANGES = 3  # that a name mentions


def run_title(config: RunConfig, at: float | None = None) -> str:
    """`Sphere 1000/30, seed 7, β 8, 17:22`: a name that tells a run from others, begun at that time."""
    given, flat = config.given(), flat_config(config)
    sizes = config.objective.brief[:2]
    method = given["optimizer"].pop("method")
    waits = method == METHOD and flat["growth"] == "patience"  # for what β says how long
    own = {"beta": flat["beta"]} if waits else {}
    own |= {**given["optimizer"], **given["objective"]}
    own |= {"budget": given["budget"]} if "budget" in given else {}
    told = [name for name in own if name not in (*config.objective.identity, *sizes)][:MOST_CHANGES]
    size = "/".join(value_text(flat[name]) for name in sizes)
    words = [f"{function_name(config.function)} {size}".strip()]
    words += [] if method == METHOD else [method_name(method)]
    words += [f"seed {given['seed']}"] if "seed" in given else []
    changes = {name: f"{symbol(name)} {value_text(own[name])}" for name in told}
    words += [_CHANGES.get(f"{name}={own[name]}", change) for name, change in changes.items()]
    words += [f"forked at {config.forks[-1].at}"] if config.forks else []
    words += [datetime.fromtimestamp(at).strftime("%H:%M")] if at is not None else []
    return ", ".join(words)


def fork_changes(config: Mapping[str, Any]) -> list[str]:
    """`β 12 → 8`, `Δd = 7`: what a fork does otherwise than its parent; nothing of a plain run."""
    if not config.get("forks"):
        return []
    fork, now = config["forks"][-1], flat_config(config)
    words = [
        f"{symbol(name)} {value_text(old)} → {value_text(now[name])}" for name, old in fork["before"].items()
    ]
    return words if fork["decide"] is None else [*words, f"Δd = {fork['decide']}"]


def fork_words(config: Mapping[str, Any]) -> str:
    """`fork of 1a2b3c4d at 231, β 12 → 8`; empty of a plain run."""
    if not config.get("forks"):
        return ""
    fork = config["forks"][-1]
    return ", ".join([f"fork of {fork['run'][:8]} at {fork['at']}", *fork_changes(config)])


def setting_line(config: Mapping[str, Any]) -> str:
    """A run's setting in one line, in the paper's symbols."""
    objective, optimizer = config["objective"], config["optimizer"]
    words = [function_name(objective["name"]), *brief(objective)]
    method = optimizer["method"]
    if method == "dsebo":
        words += [f"β = {value_text(optimizer['beta'])}", f"d from {optimizer['d_l']} to {optimizer['d_h']}"]
        if optimizer["variant"] != "paper":
            words.append(_CHANGES[f"variant={optimizer['variant']}"])
    else:
        words.append(method_name(method))
    forked = [fork_words(config)] if config.get("forks") else []
    return " · ".join([*words, f"budget {config['budget']}", f"seed {config['seed']}", *forked])


def html_table(rows: Mapping[str, str]) -> str:
    """Names and what is said of them, for a notebook; whatever they hold is shown as text."""
    cells = (
        f"<tr><th style='text-align: left'>{escape(name)}</th>"
        f"<td style='text-align: left'>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table>{''.join(cells)}</table>"
