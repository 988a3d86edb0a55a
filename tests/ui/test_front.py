"""What a browser gets before Streamlit's own code has come."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from streamlit import file_util
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dsebo.config import RunConfig
from dsebo.runs.data import read_run
from dsebo.store.store import Store
from dsebo.transfer.examples import bundled_run, import_bundled
from dsebo.ui import front, live, serve, session
from dsebo.ui.learn import opening
from dsebo.ui.run import start

STREAMLIT = Path(file_util.get_static_dir())
Answer = tuple[dict[bytes, bytes], bytes]  # headers and body
Get = Callable[[str], Answer]


@pytest.fixture
def get(monkeypatch: pytest.MonkeyPatch) -> Iterator[Get]:
    """Asks a server that has the app under a path of its own, where nobody has run anything."""
    monkeypatch.setattr(live, "library_places", {})
    monkeypatch.setattr(session, "is_known_untouched", lambda: True)
    front._streamlit_page.cache_clear()
    app = Starlette(routes=front.routes("/base"))

    async def ask(path: str) -> Answer:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        name, _, query = path.partition("?")
        scope = {"type": "http", "method": "GET", "path": name, "query_string": query.encode(), "headers": []}
        await app(scope, lambda: asyncio.sleep(0), send)  # type: ignore[arg-type]
        assert sent[0]["status"] in (200, 307), path
        return dict(sent[0]["headers"]), b"".join(message["body"] for message in sent[1:])

    yield lambda path: asyncio.run(ask(path))
    front._streamlit_page.cache_clear()


def test_the_name_of_run_leads_to_the_apps_own_address(get: Get) -> None:
    assert get("/base/run?D=50&join=code")[0][b"location"] == b"./?D=50&join=code"


def test_the_first_words_stand_in_the_page_itself(get: Get) -> None:
    for path in "/base/", "/base/learn", "/base/?join=code":
        page = get(path)[1].decode()
        assert f"<h2>{start.TITLE}</h2>" in page
        assert start.TEXT in page
        assert all(words in page for words in opening.BEFORE.values())
        assert 'src="./static/js/index.' in page  # Streamlit's own
    for path in "/base/?run=abc", "/base/learn?lesson=1", "/base/paper", "/base/experiments":
        assert start.TITLE not in get(path)[1].decode()


def test_who_has_runs_is_not_led_to_the_lessons(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    assert front.TO_LEARN in get("/base/")[1].decode()
    assert front.TO_LEARN not in get("/base/learn")[1].decode()
    monkeypatch.setattr(session, "is_known_untouched", lambda: False)
    page = get("/base/")[1].decode()
    assert front.TO_LEARN not in page
    assert 'class="is-beside"' in page  # where the Run page has them, beside its form


def test_the_library_is_fetched_once_for_good(get: Get) -> None:
    page = get("/base/paper")[1].decode()
    assert f'<script async fetchpriority="low" src="{live.library_places["dsebo"]}">' in page
    assert f'<link rel="prefetch" href="{live.library_places["plotly"]}">' in page  # our code runs it later
    for name, source in live.library().items():
        headers, body = get(live.library_places[name])
        assert gzip.decompress(body) == source
        assert headers[b"content-encoding"] == b"gzip"
        assert b"immutable" in headers[b"cache-control"]
    assert get("/base/")[0][b"cache-control"] == b"no-cache"


def test_streamlit_connects_without_asking_where_to(get: Get) -> None:
    for page in "", "learn", "paper", "compare":
        body = get(f"/base/{page}")[1].decode()
        known = body.index('window.__streamlit = {BACKEND_BASE_URL: location.origin + "/base"')
        assert known < body.index("</head>")
    code = "".join(file.read_text(encoding="utf-8") for file in STREAMLIT.glob("static/js/index.*.js"))
    for name in "BACKEND_BASE_URL", "HOST_CONFIG", "allowedOrigins", "useExternalAuthToken", "enableBypass":
        assert name in code  # what it goes by, in this version


def test_parts_of_streamlit_are_asked_for_at_once(get: Get) -> None:
    wanted = re.findall(
        r'rel="modulepreload" crossorigin href="\./(static/[^"]+)"', get("/base/")[1].decode()
    )
    assert len(set(wanted)) == len(wanted)
    assert all((STREAMLIT / name).is_file() for name in wanted)
    assert all(any(f"js/{part}." in name for name in wanted) for part in front.PARTS)


def test_the_picture_is_of_the_chart_that_takes_its_place(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    import_bundled(store)
    run = read_run(store, bundled_run(store, RunConfig.parse({})) or "")
    store.close()
    picture = (Path(front.__file__).parents[1] / "data" / front.PICTURE).read_text(encoding="utf-8")
    drawn = re.sub(r"<[^>]*>", "", picture).replace("\u200b", "")
    sketch = opening.sketch_at(run, 1)
    assert f'viewBox="0 0 {front.WIDTH} {opening.HEIGHT}"' in picture
    subscripts = str.maketrans("ₐₑₕᵢⱼₗₘₙₚₓ", "aehijlmnpx")  # as files are written
    for note in sketch.notes:
        words = re.sub(r"<[^>]*>", "", note["text"]).translate(subscripts)
        assert words in drawn, f"{words}: make it again with python -m dsebo.ui.front"


def test_plotly_waits_to_be_called() -> None:
    source = live.library()["plotly"].decode()
    assert source.startswith("window.dseboPlotly = (() => {")
    assert "this, (() => {" in source  # in brackets: compiled while the page is fetched
    assert source.rstrip().endswith("})));\n});")


def test_of_what_anyone_uploads_only_the_newest_files_are_kept() -> None:
    kept = serve.Uploads("/upload")
    for number in range(3 * serve.MOST_UPLOADS):
        for name in "ab":
            kept.add_file(f"session {number}", UploadedFileRec(name, "x.json", "", b"x"))
    assert list(kept.file_storage) == [
        f"session {n}" for n in range(2 * serve.MOST_UPLOADS, 3 * serve.MOST_UPLOADS)
    ]
    assert all(list(files) == ["b"] for files in kept.file_storage.values())
