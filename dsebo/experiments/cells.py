"""From the settings that all runs of a sweep share to those of one cell."""

from __future__ import annotations

from typing import Any

from dsebo.config import FUNCTION, METHODS, RunConfig, config_parts, parse_flat, part_of
from dsebo.experiments.given import as_dict
from dsebo.parsing import Value, config_flags
from objectives import KINDS, kind_of
from objectives.fields import ConfigError, not_one_of

_PARTS = ("objective", "optimizer")


def own_settings(base: dict[str, Any]) -> dict[str, Any]:
    """`base` without its seed; of a whole config only what differs from the defaults.

    A form gives a whole config, in which nobody can tell a default from a choice. Its defaults
    must follow the cell: c that of the function, d_h that of D, the kernel that of the variant.
    """
    parts = {name: as_dict(base.get(name) or {}, name) for name in _PARTS}
    rest = {name: value for name, value in base.items() if name not in (*_PARTS, "seed")}
    method = parts["optimizer"].get("method", "dsebo")
    if isinstance(method, str) and method in METHODS and _is_whole(parts, method):
        parts = _without_defaults(parts)
    return {**{name: part for name, part in parts.items() if part}, **rest}


def _is_whole(parts: dict[str, dict[str, Any]], method: str) -> bool:
    models = config_parts(method, parts["objective"].get("name", FUNCTION))
    return all(set(models[name].model_fields) - {"kind"} <= set(parts[name]) for name in _PARTS)


def _without_defaults(parts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The parts that a config with the same function, D, method and variant would not have."""
    objective, optimizer = parts["objective"], parts["optimizer"]
    kept: dict[str, dict[str, Any]] = {
        "objective": {name: objective[name] for name in ("name", "D") if name in objective},
        "optimizer": {n: optimizer[n] for n in ("method", "variant") if n in optimizer},
    }
    defaults = RunConfig.parse(kept).model_dump(mode="json")
    for name in _PARTS:
        for field, value in parts[name].items():
            if field != "kind" and value != defaults[name].get(field):
                kept[name][field] = value
    return kept


def cell_config(base: dict[str, Any], values: dict[str, Value], seed: int) -> RunConfig:
    """The config of one cell: its values over the base.

    Another method drops the settings that it does not have, another function takes its own c
    where neither the base nor an axis gives one.
    """
    parts = {name: dict(base.get(name, {})) for name in _PARTS}
    method = values.get("method", parts["optimizer"].get("method", "dsebo"))
    if not isinstance(method, str) or method not in METHODS:
        raise ConfigError(not_one_of("method", METHODS, method))
    if method != parts["optimizer"].get("method", "dsebo"):
        known = METHODS[method].model_fields
        of_others = set(config_flags()) - set(known)
        parts["optimizer"] = {
            name: value for name, value in parts["optimizer"].items() if name not in of_others
        }
    function = values.get("function", parts["objective"].get("name", FUNCTION))
    known = KINDS[kind_of(function)].model_fields
    of_others = {name for kind in KINDS.values() for name in kind.model_fields} - set(known)
    parts["objective"] = {n: value for n, value in parts["objective"].items() if n not in of_others}
    _check_axes(values, method, str(function))
    shared = {name: value for name, value in base.items() if name not in _PARTS}
    return parse_flat({**values, "seed": seed}, {**shared, **parts})


def _check_axes(values: dict[str, Value], method: str, function: str) -> None:
    """A setting that this cell's method or function does not have cannot vary."""
    for name in values:
        part = part_of(name)
        if part and name not in ("function", *config_parts(method, function)[part].model_fields):
            owner = f"function {function}" if part == "objective" else f"method {method}"
            raise ConfigError(f"{name} is not a setting of the {owner}.")


def setting_of(config: RunConfig, field: str) -> Value:
    """A setting of a config by its flat name."""
    found: Value = config.setting(field)
    return found
