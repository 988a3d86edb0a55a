"""A class's pages: who is let in, and where the lecturer's token is given."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.qr import qr_svg
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


def pictured(at: AppTest) -> list[str]:
    """The pictures of a page, as text."""
    urls = [url for picture in at.get("image") for url in picture.value]
    return [base64.b64decode(url.partition("base64,")[2]).decode() for url in urls]


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
    link = at.code[-1].value
    assert link.endswith(f"/?join={CODE}")
    assert pictured(at) == [qr_svg(link)]


def test_a_room_has_a_link_and_a_code_which_lets_a_class_in_where_the_lecturer_shows_them() -> None:
    room = open_page("lessons", {"lecturer": TOKEN}, lesson="2-expansion")
    room.text_input(key="room name").set_value("Hall 5")
    next(button for button in room.button if button.label == "Open the room").click().run()
    assert not room.exception
    link = room.code[-1].value
    assert link.endswith(f"/?lesson=2-expansion&room=Hall+5&join={CODE}")
    assert pictured(room) == [qr_svg(link)]
    student = open_page("lessons", join=CODE, lesson="2-expansion", room="Hall 5")
    assert student.code[-1].value.endswith("/?lesson=2-expansion&room=Hall+5")
