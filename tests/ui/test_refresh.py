"""The refresh loop: what was pressed counts, also where what is watched changes at the same moment."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dsebo.ui import refresh
from dsebo.ui.refresh import Look
from dsebo.ui.run import watch


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


def test_a_browsers_first_page_has_what_is_out_of_sight_once_the_rest_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks: list[float | None] = []
    drawn: list[str] = []
    monkeypatch.setattr(refresh.st, "session_state", {})
    monkeypatch.setattr(refresh, "live_tick", lambda every, key: ticks.append(every))

    def run(by_timer: bool) -> tuple[float | None, int]:
        monkeypatch.setattr(refresh, "by_timer", lambda: by_timer)
        refresh._draw_last(lambda: drawn.append("below"))
        return ticks[-1], len(drawn)

    assert run(False) == (None, 1)  # not our own server: nobody is known to ask
    refresh.st.session_state.clear()
    monkeypatch.setattr(refresh.live, "library_places", {"dsebo": "/dsebo.js"})
    assert run(False) == (0.0, 1)  # the first page: the browser asks at once
    assert run(True) == (None, 2)
    assert run(False) == (None, 3)  # any later page is drawn whole


@pytest.mark.parametrize(("speed", "seconds"), [(None, refresh.STEADY), (5.0, refresh.FASTEST)])
def test_a_run_at_full_speed_is_looked_at_less_often(
    monkeypatch: pytest.MonkeyPatch, speed: float | None, seconds: float
) -> None:
    row = SimpleNamespace(id=f"at {speed}", state="running", speed=speed)
    monkeypatch.setattr(watch, "_data", lambda run_id: SimpleNamespace(row=row, ended=False, changes=[]))
    monkeypatch.setattr(watch.timeline, "advance", lambda runs: None)
    monkeypatch.setattr(watch.timeline, "is_playing", lambda runs: False)
    assert watch._look([row.id]).every == seconds
