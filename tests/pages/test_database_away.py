"""What pages say while the database is away, and after it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsebo.config import parse_flat
from dsebo.runs.commands import change
from dsebo.runs.manager import RunManager
from dsebo.store.errors import StoreAway
from dsebo.store.patience import WAITING
from dsebo.ui import session
from dsebo.ui.experiments.actions import RESUME_ALL
from dsebo.ui.refresh import GOES_ON
from tests.pages.conftest import open_page, said
from tests.small import wait_for
from tests.small_run import SMALL


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


def test_every_page_says_that_the_database_file_was_gone(manager: RunManager) -> None:
    Path(str(manager.store.engine.url.database)).unlink()
    for page in ("run", "experiments", "learn", "paper"):
        assert "was deleted under a running program" in unescaped(open_page(page))


def test_a_run_that_waits_says_so(
    finished: Callable[..., str], manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = finished()
    monkeypatch.setattr(session.manager(), "waiting", lambda _: f"{WAITING}: The disk is full.")
    assert f"{WAITING}: The disk is full. {GOES_ON}" in unescaped(open_page("run", run=run_id))


def test_one_button_resumes_all_that_were_at_work(manager: RunManager) -> None:
    runs = [manager.launch(parse_flat({**SMALL, "seed": seed}), paused=True)[0] for seed in (1, 2)]
    for run_id in runs:
        wait_for(lambda run_id=run_id: manager.store.get_run(run_id).state == "paused")
    session.forget()  # the server ends
    store = session.manager().store
    change(store, runs[0], wanted="run", error="The disk is full.")
    at = open_page("runs")
    assert not at.exception
    assert list(at.dataframe[0].value["Reason"].dropna()) == ["The disk is full."]
    button = next(b for b in at.button if b.label == RESUME_ALL.format(1))
    button.click().run()
    wait_for(lambda: store.get_run(runs[0]).state == "finished")
    assert store.get_run(runs[1]).state == "interrupted"  # it was paused
    assert RESUME_ALL.format(1) not in [b.label for b in open_page("runs").button]
