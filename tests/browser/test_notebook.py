"""A notebook's figure in a browser: the code that a widget carries draws it, and draws it again."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dsebo
from dsebo.notebook import show

pytestmark = pytest.mark.browser
WIDGET = """async ([code, figure]) => {
  const file = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const widget = (await import(file)).default;
  const model = { get: () => window.figure, on: (_, call) => (window.changed = call) };
  window.figure = figure;
  widget.render({ model, el: document.querySelector("main") });
}"""


def test_it_is_drawn_and_follows_the_run(page: Any) -> None:
    pytest.importorskip("anywidget")
    found = dsebo.minimize(lambda x: float((x**2).sum()), [(-1, 2)] * 20, budget=8, method="random")
    widget = show(found)
    page.set_content("<body style='background: white'><main style='width: 800px'></main></body>")
    page.evaluate(WIDGET, [str(widget._esm), widget.figure])
    page.get_by_text("Best value so far").wait_for()
    assert page.locator(".main-svg").first.bounding_box()["width"] == 800
    longer = json.loads(json.dumps(widget.figure))
    longer["layout"]["annotations"][0]["text"] = "Longer by one"
    page.evaluate("(figure) => { window.figure = figure; window.changed(); }", longer)
    page.get_by_text("Longer by one").wait_for()
