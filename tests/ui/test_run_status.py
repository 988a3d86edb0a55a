"""The sentence under a run, where its state is not plain work."""

from types import SimpleNamespace
from typing import Any

import pytest

from dsebo.ui.run import status


@pytest.mark.parametrize(
    ("state", "wanted", "said"),
    [
        ("running", "run", ""),
        ("running", "cancel", "It is cancelled as soon as the evaluation under way has ended."),
        ("running", "pause", "It pauses as soon as the evaluation under way has ended."),
        ("cancelled", "cancel", "Cancelled."),
    ],
)
def test_what_was_asked_of_a_run_is_said_while_an_evaluation_keeps_it(
    state: str, wanted: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status.session, "manager", lambda: SimpleNamespace(waiting=lambda _: ""))
    row: Any = SimpleNamespace(id="a", state=state, wanted=wanted, error=None, waits_to_pause=False)
    data: Any = SimpleNamespace(row=row)
    assert status._state(data)[0] == said
