"""What a page needs of the server: the one manager, and who is at the browser."""

from __future__ import annotations

import logging
import re
import threading
from functools import cache
from pathlib import Path
from urllib.parse import urlencode, urljoin

import streamlit as st

from dsebo.qr import qr_svg
from dsebo.runs.admission import Admission, Guesses, client_address
from dsebo.runs.machine import measure_once
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings, raise_open_files
from dsebo.store.database import resolve
from dsebo.store.errors import NotAllowed, StoreAway, StoreError
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.schema import BUNDLED
from dsebo.store.store import Store
from dsebo.text import plain

COOKIE = "dsebo_owner"
OURSELVES = "dsebo"  # who opens the first page ahead of all readers (`ui.serve`)
QR_PIXELS = 240
QUIET_SECONDS = 4.0  # after the imports, until the machine is measured: the first page has come by then
_log = logging.getLogger(__name__)
_TOKEN = re.compile(r"[0-9a-f]{32}")
_KEEP_TOKEN = """
export default function ({ data }) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  const year = 31536000;
  document.cookie = `${data.name}=${data.token}; path=/; max-age=${year}; samesite=strict${secure}`;
}
"""

# Held twice: a hot reload of this module forgets the one, "Clear cache" the other.
_manager: RunManager | None = None


@st.cache_resource(show_spinner="Opening the store …")
def _resource() -> RunManager:
    global _manager
    if _manager is None:
        from dsebo.transfer.examples import import_bundled

        raise_open_files()
        store = Store.open()
        import_bundled(store)
        _manager = RunManager(store, Settings.load())
    return _manager


def get_ready() -> None:
    """Once a reader's first page stands: load what the first run needs, which takes seconds."""
    if st.context.headers.get("User-Agent") != OURSELVES:
        _load_engine()


@st.cache_resource(show_spinner=False)
def _load_engine() -> None:
    """No daemon: where a process ends in the middle of torch's import, C++ aborts it."""
    import concurrent.futures.process  # noqa: F401  what torch imports of it cannot begin while a process ends

    threading.Thread(target=_import_engine, name="dsebo-imports", daemon=False).start()


def _import_engine() -> None:
    import botorch.models
    import botorch.test_functions  # noqa: F401

    later = threading.Timer(QUIET_SECONDS, _measure)
    later.daemon = True
    later.start()


def _measure() -> None:
    """See how fast this machine is."""
    try:
        if _manager is not None:
            measure_once(_manager.store)
    except StoreError as error:  # predictions are then those of another machine
        _log.warning("This machine's speed could not be kept: %s", error)


def manager() -> RunManager:
    """The manager of this server, the same for every browser."""
    global _manager
    _manager = _resource()
    return _manager


@st.cache_resource(show_spinner=False)
def _door() -> tuple[Admission, Guesses]:
    """Who has come in and who has guessed, of all browsers."""
    return Admission(manager().settings, manager().store), Guesses(manager().settings)


def forget() -> None:
    """Close the manager, so that the next page opens another: for tests."""
    global _manager
    if _manager is not None:
        _manager.close()
    _manager = None
    _resource.clear()
    _door.clear()


def is_untouched() -> bool:
    """Whether the store holds nothing but what came with the package."""
    sources = manager().store.run_columns(("source",), limit=1000)["source"]
    return all(source == BUNDLED for source in sources)


@cache
def has_no_file() -> bool:
    """Whether there was no store at this server's start: `ui.front` asks before one is made."""
    try:
        url = resolve(None)
    except StoreError:
        return False
    return url.get_backend_name() == "sqlite" and not Path(url.database or "").exists()


def is_known_untouched() -> bool:
    """The same as far as it is known without waiting."""
    try:
        return has_no_file() if _manager is None else is_untouched()
    except StoreError:
        return False


def incidents() -> list[str]:
    """What has happened to the database file since yesterday: everyone who looks at runs should know."""
    try:
        return manager().store.incidents()
    except StoreAway:  # the page says so
        return []


def class_mode() -> bool:
    """Whether each browser has an owner of its own."""
    return manager().settings.mode == "class"


def owner() -> str:
    """The token of whoever is at this browser. It never appears on a page or in a link.

    Where an address has made too many, the page ends with a sentence instead.
    """
    if not class_mode():
        return LOCAL_OWNER
    if "lecturer" in st.session_state:
        return str(st.session_state["lecturer"])
    if "owner" not in st.session_state:
        kept = str(st.context.cookies.get(COOKIE, ""))
        kept = kept if _TOKEN.fullmatch(kept) else ""
        code = str(st.session_state.get("join_code", ""))
        try:
            st.session_state["owner"] = _door()[0].admit(kept, code, address())
        except NotAllowed as refusal:
            st.warning(plain(str(refusal)))
            st.stop()
    return str(st.session_state["owner"])


def address() -> str:
    """Where this browser is."""
    peer = st.context.ip_address or "127.0.0.1"
    return client_address(peer, st.context.headers.get("X-Forwarded-For", ""), manager().settings.proxies)


def join() -> None:
    """Take the class's join code out of the address bar: it is not a page's own, and not to be passed on."""
    if "join" in st.query_params:
        st.session_state["join_code"] = st.query_params.pop("join")


def remember_owner() -> None:
    """Leave the token with the browser, so that a reload is not a stranger."""
    if class_mode() and owner() == st.session_state.get("owner"):
        keep = st.components.v2.component("keep_owner", js=_KEEP_TOKEN)
        token = st.session_state["owner"]
        keep(key="keep_owner", data={"name": COOKIE, "token": token}, height=1)


def show_link(**query: str) -> None:
    """A link into the app as a QR code and as text, for a projector; a lecturer's lets a class in."""
    if "lecturer" in st.session_state and (code := manager().settings.join_code):
        query["join"] = code
    link = urljoin(st.context.url or "", f"/?{urlencode(query)}")
    st.image(qr_svg(link), width=QR_PIXELS)
    st.code(link, language=None, wrap_lines=True)


def lecturer_entry() -> None:
    """In class mode: where the lecturer's token is given, which then controls every run."""
    if not class_mode() or not manager().settings.lecturer_token:
        return
    with st.popover("Lecturer", type="tertiary"):
        if "lecturer" in st.session_state:
            st.markdown("You may control every run.")
            if manager().settings.join_code:
                st.markdown("For the class:")
                show_link()
            return
        token = st.text_input("Lecturer's token", type="password", max_chars=200)
        if not token:
            return
        if _door()[1].is_lecturer(token, owner(), address()):
            st.session_state["lecturer"] = token
            st.rerun()
        st.error("This is not the lecturer's token.")
