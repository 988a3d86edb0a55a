"""A class's pages: who is let in, and where the lecturer's token is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.runs import admission
from dsebo.ui import session
from tests.pages.conftest import open_page, said

TOKEN, CODE = "chalk-on-a-blackboard", "join-this-class"


@pytest.fixture(autouse=True)
def _class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "class.toml"
    file.write_text(f'mode = "class"\nlecturer_token = "{TOKEN}"\njoin_code = "{CODE}"\n')
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    session.forget()


def is_in(at: AppTest) -> bool:
    assert not at.exception
    return "owner" in at.session_state


def test_with_the_code_everyone_is_let_in_and_without_it_five(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "NEW_OWNERS", 1)
    assert is_in(open_page("theory"))
    at = open_page("theory")
    assert not is_in(at)
    assert "new visitors a minute" in said(at)
    joined = open_page("theory", join=CODE)
    assert is_in(joined)
    assert "join" not in joined.query_params
    assert "cannot be used" not in said(joined)
    assert not is_in(open_page("theory", join="not this class's"))


def test_the_lecturer_sees_the_link_for_the_class() -> None:
    at = open_page("run", join=CODE)
    at.text_input[-1].set_value("not the token").run()
    assert "not the lecturer's token" in said(at)
    at.text_input[-1].set_value(TOKEN).run()
    assert "You may control every run" in said(at)
    assert at.code[-1].value.endswith(f"/?join={CODE}")
