"""The refresh loop: what was pressed counts, also where what is watched changes at the same moment."""

from __future__ import annotations

import pytest

from dsebo.ui import refresh
from dsebo.ui.refresh import Look


class DrawnAnew(Exception):
    """The page was asked for as a whole."""


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a refresh does, one after another."""
    done: list[str] = []

    def rerun() -> None:
        done.append("page")
        raise DrawnAnew

    monkeypatch.setattr(refresh, "by_timer", lambda: True)
    monkeypatch.setattr(refresh, "live_tick", lambda every, key: done.append("tick"))
    monkeypatch.setattr(refresh.st, "rerun", rerun)
    return done


def test_the_page_is_drawn_anew_after_its_buttons_were_reached(order: list[str]) -> None:
    before, now = Look("stands", "running", 0.5), Look("stands", "paused", 1.0)
    with pytest.raises(DrawnAnew):
        refresh._refresh(lambda: now, order.append, [before])
    assert order == ["tick", "stands", "page"]


def test_as_long_as_the_state_is_the_same_only_the_part_is_drawn(order: list[str]) -> None:
    look = Look("stands", "running", 0.5)
    refresh._refresh(lambda: look, order.append, [look])
    assert order == ["tick", "stands"]
