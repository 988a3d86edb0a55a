"""What a browser gets before Streamlit's own code has come: the first words, and our library.

Streamlit's page is empty until its code is evaluated, the script has run and the answer has come. The words
that a newcomer reads first stand in the page itself, until they come again from the script.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit import config, file_util

from dsebo.charts import theme
from dsebo.config import RunConfig
from dsebo.runs.data import read_run
from dsebo.store.store import Store
from dsebo.transfer.examples import bundled_run, import_bundled
from dsebo.transfer.figures import CSS_DPI, write_figure
from dsebo.ui import links, live, session
from dsebo.ui.learn import opening
from dsebo.ui.run import start

FOR_GOOD = "public, immutable, max-age=31536000"  # for what has another name once it is another
WORDED, OTHERS = ("", "learn"), ("experiments", "paper")  # pages that open with the first words, and others
PICTURE, WIDTH = "opening.svg", 1210  # px: the chart's in a window of 1280
PAPER = {  # what stands on paper, and what it is here
    r"<svg class=\"main-svg\"": '<svg id="first-picture" role="img" aria-label="The run as it begins"',
    r' (width|height)="[\d.]+in"': "",
    # Words that stand at the left are at the left in any font.
    r'(rotate\(0,[^>]*>(?:<[^>]*>){2}<text [^>]*)"middle" x="[\d.]+"': r'\1"start" x="1"',
    r"font-family: [^;]*": "font-family: inherit",
    r"rgb\(31, 35, 40\)": "currentColor",
    r"rgb\(255, 255, 255\)": "none",
    r"<g class=\"[\w -]*\"/>": "",
    r"(\d\.\d\d)\d+(?=[^<>]*>)": r"\1",
}
PARTS = ("BidiComponent", "Html", "Button", "rehype-katex", "hastscript")  # Streamlit's, for what we show
# Where a newcomer is led: without it the script runs once for the first address, only to lead on.
TO_LEARN = '<script>history.replaceState(null, "", "learn" + location.search)</script>'
# What Streamlit's code would otherwise find out by asking, one address after the other, before it connects.
KNOWN = Template(
    "<script>window.dseboPlaces = $places; window.__streamlit = {BACKEND_BASE_URL: location.origin + $base, "
    "HOST_CONFIG: {allowedOrigins: $origins, useExternalAuthToken: false}}</script>"
)
NAME = "DSEBO explorer"
ROOT = '<div id="root"></div>'  # where Streamlit draws


def routes(base: str) -> list[Route]:
    """The library, and the pages of the app at that path of the server."""
    session.has_no_file()
    live.library_places = {name: f"{base}/{file}" for name, file in live.library_files().items()}
    files = [Route(place, _file) for place in live.library_places.values()]
    pages = [Route(f"{base}/{page}", _page) for page in (*WORDED, *OTHERS, *links.MOVED)]
    return [*files, *pages, Route(f"{base}/run", _to_run)]


async def _file(request: Request) -> Response:
    """A file of the library, compressed once: Streamlit would do so for each who asks."""
    headers = {"Cache-Control": FOR_GOOD, "Content-Encoding": "gzip"}
    data = await run_in_threadpool(_compressed, _last(request).split("-")[0])
    return Response(data, media_type="text/javascript", headers=headers)


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(live.library()[name], 4, mtime=0)


def _last(request: Request) -> str:
    return request.url.path.rsplit("/", 1)[1]


async def _to_run(request: Request) -> Response:
    """Run has the app's own address; who tries its name comes there, too."""
    return RedirectResponse(f"./?{request.url.query}")


async def _page(request: Request) -> Response:
    page, asked = _last(request), set(request.query_params) - {"join"}
    first = _first(page) if page in WORDED and not asked else ""
    base = request.url.path.rsplit("/", 1)[0]
    body = _streamlit_page(base).replace(ROOT, ROOT + first)
    return HTMLResponse(body, headers={"Cache-Control": "no-cache"})


@cache
def _streamlit_page(base: str) -> str:
    """Streamlit's page with our name, which fetches at once what it would ask for one after the other."""
    folder = Path(file_util.get_static_dir())
    page = (folder / "index.html").read_text(encoding="utf-8")
    parts = "".join(
        f'<link rel="modulepreload" crossorigin href="./static/js/{name}">'
        for name in _needed(folder / "static" / "js")
        if name not in page
    )
    ours, plotly = live.library_places["dsebo"], live.library_places["plotly"]
    origins = config.get_option("client.allowedOrigins")
    known = KNOWN.substitute(
        places=json.dumps(live.library_places), base=json.dumps(base), origins=json.dumps(origins)
    )
    scripts = f'<script async fetchpriority="low" src="{ours}"></script><link rel="prefetch" href="{plotly}">'
    page = page.replace("<title>Streamlit</title>", f"<title>{NAME}</title>")
    return page.replace("</head>", f"{parts}{known}{scripts}</head>")


def _needed(folder: Path) -> list[str]:
    """The files of Streamlit's that our pages are drawn with, and those that these import."""
    names = [path.name for part in PARTS for path in folder.glob(f"{part}.*.js")]
    for name in names:  # which grows meanwhile
        imported = re.findall(r'from"\./([^"]+\.js)"', (folder / name).read_text(encoding="utf-8"))
        names += [other for other in dict.fromkeys(imported) if other not in names]
    return names


def _first(page: str) -> str:
    """The words that the page opens with, and how the run that plays in it begins."""
    plays = session.is_known_untouched()
    words = _template().substitute(
        place="" if plays or page == "learn" else "is-beside",
        title=escape(start.TITLE),
        text=escape(start.TEXT),
        captions="".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in opening.BEFORE.items()),
        picture=(files("dsebo.data") / PICTURE).read_text(encoding="utf-8"),
    )
    return words + (TO_LEARN if plays and not page else "")


@cache
def _template() -> Template:
    return Template((files("dsebo.ui") / "live" / "first.html").read_text(encoding="utf-8"))


def make_picture() -> str:
    """The first picture of the run that Learn opens with, on the page's ground and in its ink."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        import_bundled(store)
        run = read_run(store, bundled_run(store, RunConfig.parse({})) or "")
        store.close()
    figure = theme.captioned(opening.sketch_at(run, 1).figure(), "")
    picture = write_figure(figure, "svg", WIDTH / CSS_DPI, theme.SIZE * 72 / CSS_DPI).decode()
    for written, wanted in PAPER.items():
        picture = re.sub(written, wanted, picture)
    return picture


def main() -> None:
    """Write it into the package."""
    file = Path(str(files("dsebo.data") / PICTURE))
    file.write_text(make_picture(), encoding="utf-8")
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
