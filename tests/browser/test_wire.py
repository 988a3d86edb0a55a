"""What live/wire.js makes of the messages: the same as the whole, or it asks for that."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dsebo.ui
from dsebo.ui.wire import Frame

pytestmark = pytest.mark.browser
WIRE = Path(dsebo.ui.__file__).parent / "live" / "wire.js"
SINGLES = np.array([1.5, np.nan, 2.0], dtype=np.float32)
STATES: list[dict[str, Any]] = [
    {"data": [{"y": SINGLES[:0], "name": "value"}], "layout": {"title": "a"}},
    {"data": [{"y": SINGLES[:2], "name": "value"}], "layout": {}},
    {"data": [{"y": SINGLES, "name": "value"}], "layout": {"x": None}},
    {"data": [{"y": SINGLES[::-1]}, {"y": ["a"]}], "layout": {"x": [0, 1]}},
    {"data": [{"y": [9.0, 2.0]}], "layout": {"x": [0, 2], "notes": [{"t": 1}]}},
    {"data": [{"y": [9.0, 2.0]}], "layout": {"x": [0, 2], "notes": [{"t": 2}, {"t": 3, "z": np.eye(2)}]}},
    {"data": [], "layout": {"x": [0, 2], "notes": [{"t": 2}, {"t": 3, "z": np.ones((2, 2))}]}},
]


@pytest.fixture
def wire(page: Any) -> Any:
    """A page with the code alone: `tell(messages)` gives the states they lead to and what is asked for."""
    page.add_script_tag(path=str(WIRE))
    page.evaluate("""() => {
        window.tell = messages => {
          const parentElement = document.createElement('div');
          const asked = [];
          const setTriggerValue = (name, value) => asked.push([name, value]);
          const receive = data => window.dseboReceive({ data, parentElement, setTriggerValue });
          return { states: messages.map(receive), asked };
        };
    }""")
    return page


def tell(wire: Any, *messages: bytes) -> dict[str, Any]:
    found: dict[str, Any] = wire.evaluate("m => window.tell(m)", [message.decode() for message in messages])
    return found


def test_what_is_new_leads_from_any_state_to_any_other(wire: Any) -> None:
    frames = [Frame(state) for state in STATES]
    for before, after in itertools.permutations(frames, 2):
        told = tell(wire, before.whole(), after.since(before))
        assert told["asked"] == []
        assert told["states"][1] == json.loads(after.whole())["whole"]


def test_what_has_not_changed_is_not_drawn_again(wire: Any) -> None:
    frame = Frame(STATES[2])
    told = tell(wire, frame.whole(), frame.whole(), frame.since(frame), Frame(STATES[2]).since(frame))
    assert told == {"states": [json.loads(frame.whole())["whole"], None, None, None], "asked": []}


def test_who_has_missed_a_message_asks_once_for_the_whole(wire: Any) -> None:
    first, missed, last = (Frame(state) for state in STATES[:3])
    told = tell(wire, first.whole(), last.since(missed), last.since(missed), last.whole())
    assert told["asked"] == [["whole", last.number]]
    assert told["states"][1:] == [None, None, json.loads(last.whole())["whole"]]
    assert tell(wire, last.since(missed))["asked"] == [["whole", last.number]]


@pytest.fixture
def ticking(browser: Any) -> Iterator[Any]:
    """A page that rests, with a button and a tick after 0.5 s; `sent` are ticks, `heard` presses.

    It has a window of its own, as a clock is that of a window.
    """
    page = browser.new_page()
    page.clock.install(time=0)
    page.clock.pause_at(10_000)
    page.set_content("""<div data-testid="stApp" data-test-script-state="notRunning">
        <button>Run it</button><div id="part"></div><div id="other"></div></div>""")
    page.add_script_tag(path=str(WIRE))
    page.evaluate("""() => {
        window.sent = [];
        window.heard = 0;
        document.querySelector('button').onclick = () => (window.heard += 1);
        const setTriggerValue = (name, value) => window.sent.push(value);
        window.tick = (part, number) => window.dseboTick(
          { data: { every: 0.5, number }, parentElement: document.getElementById(part), setTriggerValue });
        window.tick('part', 1);
    }""")
    yield page
    page.close()


def test_a_tick_waits_until_the_page_rests(ticking: Any) -> None:
    state = "s => (document.querySelector('[data-testid=stApp]').dataset.testScriptState = s)"
    ticking.evaluate(state, "running")
    ticking.clock.run_for(2000)
    assert ticking.evaluate("sent") == []
    ticking.evaluate(state, "notRunning")
    ticking.clock.run_for(50)
    assert ticking.evaluate("sent") == [1]


def test_a_tick_waits_for_what_has_just_been_pressed(ticking: Any) -> None:
    ticking.get_by_role("button").click()
    ticking.clock.run_for(900)
    assert ticking.evaluate("[heard, sent]") == [1, []]
    ticking.clock.run_for(200)
    assert ticking.evaluate("sent") == [1]


@pytest.mark.parametrize("press", ["click", "Enter"])
def test_what_is_pressed_while_a_tick_is_on_its_way_is_heard_after_it(ticking: Any, press: str) -> None:
    button = ticking.get_by_role("button")
    ticking.clock.run_for(500)
    assert ticking.evaluate("sent") == [1]
    button.click() if press == "click" else button.press(press)
    assert ticking.evaluate("heard") == 0
    ticking.clock.run_for(20)
    assert ticking.evaluate("heard") == 1


def test_two_ticks_go_one_after_the_other(ticking: Any) -> None:
    ticking.evaluate("tick('other', 2)")
    ticking.clock.run_for(500)
    assert ticking.evaluate("sent") == [1]
    ticking.clock.run_for(50)
    assert ticking.evaluate("sent") == [1, 2]
