"""Pressing a button of the page's own components, which AppTest does not know."""

from __future__ import annotations

import json
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import sent


def shown_timeline(at: AppTest) -> dict[str, Any]:
    """What the timeline of a run shows."""
    return next(dict(data["timeline"]) for _, data in sent(at) if "timeline" in data)


def timeline_buttons(at: AppTest) -> set[str]:
    """The names of those that can be pressed."""
    return {button["name"] for button in shown_timeline(at)["buttons"] if button["on"]}


def press(at: AppTest, name: str) -> AppTest:
    """Press a button of the timeline, by its name."""
    buttons = shown_timeline(at)["buttons"]
    return choose(at, next(b["do"] for b in buttons if b["name"] == name and b["on"]))


def choose(at: AppTest, wanted: str | int) -> AppTest:
    """What the timeline sends: an evaluation, or what a button does."""
    return trigger(at, "timeline", wanted)


def trigger(at: AppTest, part: str, wanted: str | int) -> AppTest:
    """What the component sends that is sent this part."""
    component = next(one for one, data in sent(at) if data.get(part))
    states = at._tree.get_widget_states()
    widget = states.widgets.add()
    widget.id = _make_trigger_id(component.proto.id, "events")
    widget.json_trigger_value = json.dumps([{"event": "chosen", "value": wanted}])
    return at._run(states)
