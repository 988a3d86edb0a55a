"""Only what is new is sent, once made for all; tests/browser/test_wire.py sees what it leads to."""

from __future__ import annotations

import json

import numpy as np

from dsebo.ui.wire import Frame


def test_a_series_that_grows_is_sent_from_its_last_value_on() -> None:
    values = np.arange(500, dtype=np.float32)
    before, after = (Frame({"data": [{"y": values[:n]}, {"y": values[:9]}]}) for n in (490, 492))
    assert json.loads(after.since(before))["changes"] == [["add", ["data", 0, "y"], 490, [490.0, 491.0]]]
    assert json.loads(after.since(after))["changes"] == []


def test_messages_are_made_once_for_all_and_old_ones_forgotten() -> None:
    frames = [Frame({"t": t}) for t in range(20)]
    assert frames[-1].since(frames[0]) is frames[-1].since(frames[0])
    for frame in frames:
        frames[-1].since(frame)
    assert len(frames[-1]._messages) < 8
