"""What browsers share."""

from __future__ import annotations

import threading
import time

import pytest

from dsebo.charts.theme import Sketch
from dsebo.config import parse_flat
from dsebo.runs.manager import RunManager
from dsebo.ui.cache import FIGURES_KEPT, SharedCache
from dsebo.ui.refresh import interval, watchers
from tests.small_run import SMALL


def test_data_is_read_on_to_the_same_as_read_whole(manager: RunManager) -> None:
    shared = SharedCache()
    run_id = manager.launch(parse_flat(SMALL))[0]
    for _ in range(600):
        data = shared.data(manager.store, run_id)
        if data.ended:
            break
        time.sleep(0.02)
    whole = SharedCache().data(manager.store, run_id)
    assert data.evaluations["y"].tolist() == whole.evaluations["y"].tolist()
    assert data.events == whole.events
    assert data.t == 40
    assert data.until(10).t == 10
    assert all(event["t"] <= 10 for event in data.until(10).events)


def test_a_figure_is_built_once_for_all_who_watch() -> None:
    shared, built = SharedCache(), []

    def build() -> Sketch:
        built.append(1)
        time.sleep(0.05)
        return Sketch({})

    browsers = [threading.Thread(target=shared.figure, args=("key", build)) for _ in range(30)]
    for browser in browsers:
        browser.start()
    for browser in browsers:
        browser.join()
    assert len(built) == 1
    for key in range(FIGURES_KEPT + 50):
        shared.figure(key, lambda: Sketch({}))
    assert len(shared._figures) == FIGURES_KEPT


def test_polling_slows_down_as_watchers_grow() -> None:
    counts = [watchers("some run", f"browser {i}") for i in range(30)]
    assert counts[-1] == 30
    assert interval(1) == 0.5
    assert interval(30) == pytest.approx(3.0)
    assert interval(1, at_rest=True) > interval(1)
