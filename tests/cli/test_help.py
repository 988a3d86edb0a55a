"""The terminal's help: what it lists is what the commands say of themselves."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from dsebo.cli import app, load_command

LISTED = {info.name or "": info.callback for info in app.registered_commands}


@pytest.mark.parametrize("name", LISTED)
def test_a_commands_line_is_the_first_of_its_own_help(name: str) -> None:
    whole = load_command(name)
    assert LISTED[name].__doc__.splitlines()[0] == whole.help.splitlines()[0]  # type: ignore[union-attr]


def test_all_commands_are_listed() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    for name, load in LISTED.items():
        assert f" {name} " in shown.stdout
        assert str(load.__doc__).splitlines()[0] in shown.stdout


def test_a_commands_own_options_are_in_its_help() -> None:
    assert "--beta" in CliRunner().invoke(app, ["run", "--help"]).stdout
    assert "--beta" not in CliRunner().invoke(app, ["runs", "--help"]).stdout


def test_a_name_that_is_nearly_one_is_guessed() -> None:
    shown = CliRunner().invoke(app, ["rnu"])
    assert shown.exit_code == 2
    assert "Did you mean 'run'" in shown.stderr
