"""`dsebo methods` and `dsebo functions`: what there is to choose from."""

from __future__ import annotations

import typer

from dsebo.config import METHODS
from dsebo.objectives import KINDS
from dsebo.objectives.fields import specs


def methods_command() -> None:
    """List the methods with their settings, defaults and ranges."""
    for method, config in METHODS.items():
        typer.echo(f"{method}: {config.label}")
        for spec in specs(config):
            flag = f"--{spec.name.replace('_', '-')}"
            shown = f"{spec.symbol} " if spec.symbol else ""
            typer.echo(f"    {flag:24s} {shown}= {spec.default}. {spec.help} ({spec.allowed})")


def functions_command() -> None:
    """List the functions, with what is known of each."""
    for kind in KINDS.values():
        for name in kind.names():
            objective = kind.model_validate({"name": name}).build()
            about = filter(None, (kind.description(name).rstrip("."), objective.gradient_note))
            typer.echo(f"{name:12s} {'. '.join(about)}")
