"""Pages without a browser, on a store of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import script_runner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dsebo.config import parse_flat
from dsebo.runs.manager import RunManager
from dsebo.transfer import examples as bundle
from dsebo.transfer import export_json, import_bytes
from dsebo.ui import cache, links, session
from tests.small import wait_for
from tests.small_run import SMALL

ROOT = Path(__file__).parents[2]


def _run_router(path: str) -> None:
    """What a server does from its first page on: AppTest would run a file of `pages/` past the router, each
    time as if it were the first."""
    exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), {"__name__": "__main__"})


@pytest.fixture(autouse=True, scope="session")
def _no_measuring() -> Iterator[None]:
    """No machine is measured behind a test's back: predictions stay what they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "measure_once", lambda store: None)
        yield


@pytest.fixture(autouse=True)
def _own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DSEBO_DB", f"sqlite:///{tmp_path}/pages.db")
    monkeypatch.setattr(bundle, "NAME", "none")
    monkeypatch.setattr(cache, "FRESH", -1.0)  # what a test has just done is seen
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(script_runner, "_mpa_v1", _run_router)
    session.forget()
    yield
    session.forget()


@pytest.fixture
def manager() -> RunManager:
    return session.manager()


_made: dict[str, bytes] = {}  # each run is made once in a test session, then imported


@pytest.fixture
def finished(manager: RunManager) -> Callable[..., str]:
    """The id of a small run that has ended."""

    def run(**more: object) -> str:
        key = json.dumps(more, sort_keys=True)
        if key in _made:
            return import_bytes(manager.store, _made[key], "run.json", source="run")[0]
        wanted = SMALL if "method" not in more else {"D": 50, "d_e": 8, "budget": 40}
        run_id = manager.launch(parse_flat({**wanted, **more}))[0]
        wait_for(lambda: manager.store.get_run(run_id).state == "finished")
        _made[key] = export_json(manager.store, [run_id])
        return run_id

    return run


def open_page(
    name: str, /, session: Mapping[str, str] | None = None, new: bool = False, **query: str
) -> AppTest:
    """A page as the router shows it, in a browser of which the session knows this much; `new`: nothing."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    at._page_hash = _hash(name)
    if not new:
        at.session_state["page"] = ""
    for key, value in query.items():
        at.query_params[key] = value
    for key, value in (session or {}).items():
        at.session_state[key] = value
    at.run()
    at._page_hash = _hash(links.MOVED.get(name, (name,))[0])  # where a browser is by now
    return at


def _hash(name: str) -> str:
    """As st.navigation makes it of the path."""
    return calc_hash("" if name == "run" else name)


def said(at: AppTest) -> str:
    """Everything that the page says."""
    kinds = ("markdown", "caption", "error", "warning", "info", "metric", "title", "subheader")
    texts = [f"{getattr(e, 'value', '')} {getattr(e, 'label', '')}" for kind in kinds for e in at.get(kind)]
    texts += [entry["text"] for data in components(at) for entry in data.get("entries", [])]
    for data in components(at):
        texts += [f"{one['label']} {one['value']}" for one in data.get("numbers", [])]
        newest = data.get("newest") or {}
        texts += [
            newest.get("text", ""),
            newest.get("grey", ""),
            (data.get("progress") or {}).get("text", ""),
        ]
    return "\n".join(texts)


def sent(at: AppTest) -> list[tuple[Any, dict[str, Any]]]:
    """Each of the page's own components, and what it is sent: all of it, as pages are drawn whole here."""
    found = [(c, c.proto.bytes) for c in at.get("bidi_component")]
    return [(component, json.loads(data)["whole"]) for component, data in found if data]


def components(at: AppTest) -> list[dict[str, Any]]:
    """What the page's own components are sent."""
    return [data for _, data in sent(at)]


def figures(at: AppTest) -> list[dict[str, Any]]:
    """The page's charts."""
    return [data for data in components(at) if "layout" in data]


def shown_best(at: AppTest) -> str:
    """The best value as the page shows it."""
    return next(str(data["numbers"][0]["value"]) for data in components(at) if "numbers" in data)
