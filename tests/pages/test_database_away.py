"""What pages say while the database is away, and after it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dsebo.runs.manager import RunManager
from dsebo.store.errors import StoreAway
from dsebo.store.patience import WAITING
from dsebo.ui import session
from dsebo.ui.refresh import GOES_ON
from tests.pages.conftest import open_page, said


def away(*_: Any, **__: Any) -> Any:
    raise StoreAway("The server is restarting.")


def unescaped(at: Any) -> str:
    return said(at).replace("\\", "")


@pytest.mark.parametrize("page", ["run", "runs", "compare", "sweep"])
def test_a_page_waits_for_the_database_and_comes_back(
    finished: Callable[..., str], manager: RunManager, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    run_id = finished()
    query = {"run": {"run": run_id}, "compare": {"runs": run_id}}.get(page, {})
    with monkeypatch.context() as gone:
        gone.setattr(manager.store, "read", away)
        at = open_page(page, **query)
        assert not at.exception
        assert f"{WAITING}: The server is restarting. {GOES_ON}" in unescaped(at)
    at.run()  # as the page does by itself
    assert not at.exception
    assert WAITING not in said(at)
    assert len(said(at)) > 10


def test_a_run_that_waits_says_so(
    finished: Callable[..., str], manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = finished()
    monkeypatch.setattr(session.manager(), "waiting", lambda _: f"{WAITING}: The disk is full.")
    assert f"{WAITING}: The disk is full. {GOES_ON}" in unescaped(open_page("run", run=run_id))
