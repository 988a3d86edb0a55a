"""What a sweep's form says, as flat values: from a preset, from a link, to a link, to a spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from dsebo.config import METHODS, nested_config
from dsebo.experiments.presets import PRESETS, Preset
from dsebo.experiments.spec import Axis, ExperimentSpec
from dsebo.parsing import read_seeds, read_values
from dsebo.text import seeds_text
from dsebo.ui import values as settings
from objectives import names
from objectives.fields import ConfigError, FieldSpec

Values = dict[str, Any]  # OF_SWEEP as texts, and the settings that all runs share

FIRST, SECOND = "vary", "also"  # the two axes; of each its field, and its values as a text
OF_SWEEP = (FIRST, SECOND, "seeds", "name")
LONGEST_TEXT = 300
DEFAULT = next(preset for preset in PRESETS if preset.small)
_NOT_FIXED = ("seed", "repeats", "speed")
_PAPER = {"beta": "1,4,8,12,16,24,32", "d_h": "60,80,100,120", "c": "0.1,1,2,3,4,5", "d_e": "10,30,50,70,90"}
_USUAL = {
    **_PAPER,
    "D": "100,1000,10000",
    "budget": "100,200,400",
    "function": "sphere,levy",
    "method": "dsebo,random",
    "d_l": "2,5,10",
}


def fixed_fields(method: str) -> list[FieldSpec]:
    """The settings that all runs share, where they are not swept."""
    return [spec for spec in settings.fields(method) if spec.name not in _NOT_FIXED]


def axis_fields(method: str) -> dict[str, FieldSpec]:
    """What may be swept, by name: what the paper sweeps first, the advanced ones last."""
    specs = {spec.name: spec for spec in fixed_fields(method)}
    order = [*_PAPER, "D", "function", "method", "budget"]
    first = [name for name in order if name in specs]
    rest = sorted((n for n in specs if n not in first), key=lambda n: specs[n].advanced)
    return {name: specs[name] for name in [*first, *rest]}


def usual_values(field: str, spec: FieldSpec | None) -> str:
    """Values to begin with, for a field that has just been chosen."""
    if field in _USUAL or spec is None:
        return _USUAL.get(field, "")
    if spec.kind == "bool":
        return "false,true"
    if spec.kind == "choice":
        return ",".join(spec.choices[:3])
    if not spec.default:
        return "0,1,2"
    default = spec.default
    if spec.kind == "int":
        return ",".join(str(v) for v in dict.fromkeys((max(1, default // 2), default, default * 2)))
    return ",".join(f"{v:g}" for v in (default / 10, default, min(default * 10, spec.high or 1e9)))


def of_spec(spec: ExperimentSpec) -> Values:
    """The form that says this sweep, without its name: what is changed from there is another."""
    objective, optimizer = dict(spec.base.get("objective", {})), spec.base.get("optimizer", {})
    flat = {"function": objective.pop("name", "sphere"), **objective, **optimizer}
    flat |= {name: spec.base[name] for name in ("budget",) if name in spec.base}
    shared = settings.complete(flat)
    axes = [*spec.axes, None][:2]
    return {
        **{field.name: shared[field.name] for field in fixed_fields(shared["method"])},
        FIRST: _axis_text(axes[0]),
        SECOND: _axis_text(axes[1]),
        "seeds": seeds_text(spec.seeds),
        "name": "",
    }


def _axis_text(axis: Axis | None) -> str:
    return f"{axis.field}={','.join(as_text(value) for value in axis.values)}" if axis else ""


def as_text(value: Any) -> str:
    """A value as one would type it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def to_spec(values: Values) -> ExperimentSpec:
    """The sweep of these values; a ConfigError, in a sentence, where they do not fit together."""
    return _checked(json.dumps(values, sort_keys=True))


@lru_cache(maxsize=64)
def _checked(text: str) -> ExperimentSpec:
    """By its text: a page asks again at every click, and each cell is checked."""
    values = json.loads(text)
    shared = {spec.name: values.get(spec.name) for spec in fixed_fields(values["method"])}
    axes = [values[axis] for axis in (FIRST, SECOND) if values[axis]]
    preset = preset_of(values)
    name = values["name"] or (preset.spec.name if preset else "")
    return ExperimentSpec.from_flags(nested_config(shared), axes, values["seeds"], name)


def preset_of(values: Values) -> Preset | None:
    """The preset that says the same, whatever it is called."""
    unnamed = {**values, "name": ""}
    return next((preset for preset in PRESETS if of_preset(preset.key) == unnamed), None)


@cache
def of_preset(key: str) -> Values:
    """The form of a preset."""
    return of_spec(next(preset for preset in PRESETS if preset.key == key).spec)


def to_link(values: Values) -> dict[str, str]:
    """The address that says the same; a swept setting has no value of its own."""
    shared = settings.to_url({"repeats": 1, "speed": None, "seed": 1, **values})
    swept = {axis_name(values[axis]) for axis in (FIRST, SECOND)}
    link = {name: text for name, text in shared.items() if name not in (*_NOT_FIXED, *swept)}
    return {name: values[name] for name in OF_SWEEP if values[name]} | link


def axis_name(text: str) -> str:
    """`beta` of `beta=4,8`."""
    return text.partition("=")[0].strip()


def from_link(params: Mapping[str, str]) -> tuple[Values, list[str]]:
    """(the values of a link, a sentence for each part of it that cannot be used)."""
    shared = {name: text for name, text in params.items() if name not in OF_SWEEP}
    found, said = settings.from_url(shared)
    usual = of_spec(DEFAULT.spec)
    values: Values = {spec.name: found[spec.name] for spec in fixed_fields(found["method"])}
    values[FIRST] = _axis_of_link(params, FIRST, values["method"], said) or usual[FIRST]
    values[SECOND] = _axis_of_link(params, SECOND, values["method"], said)
    if values[SECOND] and (twice := axis_name(values[SECOND])) == axis_name(values[FIRST]):
        said.append(f"The link's {SECOND} = {twice!r} is not allowed: it varies already.")
        values[SECOND] = ""
    values["seeds"] = _seeds_of_link(params, str(usual["seeds"]), said)
    values["name"] = " ".join(params.get("name", "").split())[:100]
    return values, said


def _axis_of_link(params: Mapping[str, str], name: str, method: str, said: list[str]) -> str:
    """An axis whose field there is and whose values can be read; whether they fit is seen later."""
    text = params.get(name, "")
    if not text:
        return ""
    field, equals, values = text.partition("=")
    fields = axis_fields(method)
    if field not in fields or not equals or len(values) > LONGEST_TEXT:
        said.append(f"The link's {name} = {text[:40]!r} is not allowed: such as beta=4,8,12.")
        return ""
    try:
        read_values(field, values)
    except ConfigError as error:
        said.append(f"The link's {error}")
        return ""
    choices = known_choices(field, fields[field])
    unknown = [one for one in values.split(",") if choices and one.strip() not in choices]
    if unknown:
        wrong = f"{field} = {unknown[0][:40]!r} is not allowed"
        said.append(f"The link's {wrong}: one of {', '.join(choices)}.")
        return ""
    return text


def _seeds_of_link(params: Mapping[str, str], usual: str, said: list[str]) -> str:
    text = params.get("seeds", "")
    if len(text) > LONGEST_TEXT:
        said.append(f"The link's seeds are too long: at most {LONGEST_TEXT} characters.")
        return usual
    try:
        return text if text and read_seeds(text) else usual
    except ConfigError as error:
        said.append(f"The link's {error}")
        return usual


def known_choices(field: str, spec: FieldSpec) -> tuple[str, ...]:
    """The values of a field that has names; empty for numbers."""
    if field == "function":
        return tuple(names())
    if field == "method":
        return tuple(METHODS)
    return ("false", "true") if spec.kind == "bool" else spec.choices
