"""What a page needs of the server: the one manager, and who is at the browser."""

from __future__ import annotations

import re
import secrets

import streamlit as st

from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.store import Store

COOKIE = "dsebo_owner"
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

        store = Store.open()
        import_bundled(store)
        _manager = RunManager(store, Settings.load())
    return _manager


def manager() -> RunManager:
    """The manager of this server, the same for every browser."""
    global _manager
    _manager = _resource()
    return _manager


def forget() -> None:
    """Close the manager, so that the next page opens another: for tests."""
    global _manager
    if _manager is not None:
        _manager.close()
    _manager = None
    _resource.clear()


def class_mode() -> bool:
    """Whether each browser has an owner of its own."""
    return manager().settings.mode == "class"


def owner() -> str:
    """The token of whoever is at this browser. It never appears on a page or in a link."""
    if not class_mode():
        return LOCAL_OWNER
    if "lecturer" in st.session_state:
        return str(st.session_state["lecturer"])
    if "owner" not in st.session_state:
        kept = str(st.context.cookies.get(COOKIE, ""))
        st.session_state["owner"] = kept if _TOKEN.fullmatch(kept) else secrets.token_hex(16)
    return str(st.session_state["owner"])


def remember_owner() -> None:
    """Leave the token with the browser, so that a reload is not a stranger."""
    if class_mode() and owner() == st.session_state.get("owner"):
        keep = st.components.v2.component("keep_owner", js=_KEEP_TOKEN)
        token = st.session_state["owner"]
        keep(key="keep_owner", data={"name": COOKIE, "token": token}, height=1)


def lecturer_entry() -> None:
    """In class mode: where the lecturer's token is given, which then controls every run."""
    if not class_mode() or not manager().settings.lecturer_token:
        return
    with st.popover("Lecturer", type="tertiary"):
        if "lecturer" in st.session_state:
            st.markdown("You may control every run.")
            return
        token = st.text_input("Lecturer's token", type="password", max_chars=200)
        if not token:
            return
        if manager().settings.is_lecturer(token):
            st.session_state["lecturer"] = token
            st.rerun()
        st.error("This is not the lecturer's token.")
