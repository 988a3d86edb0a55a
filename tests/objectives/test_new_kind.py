"""An objective of another kind is one file and one line: terminal, form, experiment and files know it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.copies import copied_software, insert_after, python_in

TOY = '''"""A bowl of twelve variables, with a setting of its own and nothing of F_c."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Objective, ObjectiveConfig
from .fields import setting


class Toy(Objective):
    name, dimension = "toy", 12

    def __init__(self, twist: float) -> None:
        self.twist = twist

    def evaluate(self, x):
        return (x.abs() ** self.twist).sum(dim=-1)


class ToyConfig(ObjectiveConfig):
    brief: ClassVar[tuple[str, ...]] = ("twist",)
    kind: Literal["toy"] = "toy"
    twist: float = setting(2.0, "Twist", "The power of each variable.", "t", gt=0, le=9)

    @classmethod
    def names(cls) -> list[str]:
        return ["toy"]

    @property
    def D(self) -> int:
        return Toy.dimension

    def build(self) -> Toy:
        return Toy(self.twist)
'''

FORM = """
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
page = AppTest.from_file("app.py", default_timeout=60)
page._page_hash = calc_hash("")
page.query_params["function"], page.query_params["twist"], page.query_params["method"] = "toy", "3", "random"
page.run()
assert not page.exception, page.exception
labels = [field.label for field in [*page.number_input, *page.selectbox]]
assert "$t$ twist" in labels and not any("effective" in label for label in labels), labels
assert page.session_state["set_twist"] == 3.0
print(*[warning.value for warning in [*page.warning, *page.error]])
"""

FILES = """
import sys
from dsebo.analysis.facts import facts
from dsebo.analysis.floor import NoFloor, applies
from dsebo.config import parse_flat
from dsebo.paper.tables import paper_value
from dsebo.store.store import Store
from dsebo.transfer import FORMATS, import_bytes

store = Store.open(sys.argv[1])
ids = [row.id for row in store.list_runs() if row.function == "toy"]
assert len(ids) == 5
files = {key: record.runs(store, ids) for key, record in FORMATS.items() if record.runs}
assert "twist = " in files["html"].decode() and "twist" in files["csv"].decode()
again = import_bytes(store, files["json"], "runs.json")
assert [store.config(run_id) for run_id in again] == [store.config(run_id) for run_id in ids]
config = parse_flat({"function": "toy"})
assert facts(config).largest_tail is None and facts(config).at_centre == 0.0
assert paper_value(config.model_dump(mode="json")) is None
try:
    applies(config)
except NoFloor as reason:
    print(reason, *files)
"""


@pytest.mark.slow  # a process for each place, with the imports of its own
def test_a_new_kind_is_one_file_and_one_line(tmp_path: Path) -> None:
    copied = copied_software(tmp_path / "copy")
    (copied / "objectives" / "toy.py").write_text(TOY)
    line = "from .embedded import EmbeddedConfig, EmbeddedFunction"
    insert_after(copied / "objectives" / "__init__.py", line, "from .toy import ToyConfig")
    db = f"sqlite:///{tmp_path}/toy.db"
    random_search = ["--method", "random", "--db", db]

    flags = ["--function", "toy", "--twist", "3", "--budget", "5", "--json"]
    shown = python_in(copied, "-m", "dsebo", "run", *flags, *random_search)
    events = [json.loads(text) for text in shown.splitlines()]
    assert events[0]["config"]["objective"] == {"kind": "toy", "name": "toy", "twist": 3.0}
    assert events[0]["at_centre"] == 0.0
    assert [event["event"] for event in events].count("evaluated") == 5

    sweep = ["--function", "toy", "--vary", "twist=1,2", "--seeds", "1-2", "--budget", "4", "--workers", "1"]
    assert "twist" in python_in(copied, "-m", "dsebo", "sweep", *sweep, *random_search)

    assert python_in(copied, "-c", FORM).strip() == ""
    shown = python_in(copied, "-c", FILES, db)
    assert "The floor does not apply: toy has no gradients." in shown
    assert {"json", "html", "csv"} <= set(shown.split())
