"""The address bar: what a link asks of a page, and the link that shows what a page shows.

Each page declares the parameters that it takes, with a parser for each. Whatever comes from an
address is checked: what cannot be used is said in a sentence, and the page opens without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import streamlit as st

from dsebo.objectives.fields import ConfigError, must
from dsebo.store.errors import StoreAway, StoreError
from dsebo.store.rows import RunFilter
from dsebo.ui import session

FRAME = ("hide", "show")  # how a page is framed and which of its views it shows: not the view's own
MOVED = {  # what was a page of its own, and where it is now: the page, and which of its views
    "replay": ("run", ""),
    "embedding": ("run", "embedding"),
    "runs": ("experiments", "runs"),
    "compare": ("experiments", "compare"),
    "race": ("experiments", "race"),
    "sweep": ("experiments", "sweep"),
    "lessons": ("learn", ""),
    "theory": ("learn", "theory"),
}
MOST_RUNS = 200  # that a link may name
MOST_SENTENCES = 3  # about one parameter
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_PAGE, _UNUSABLE, _WANTED, _LED = "page", "unusable", "wanted_page", "led on"  # in the session

Parser = Callable[[str], Any]


# --- pages ------------------------------------------------------------------------------------


def script(page: str) -> str:
    """The file of a page."""
    return f"pages/{page}.py"


def at(page: str) -> None:
    """Say which page is shown."""
    st.session_state[_PAGE] = page


def is_new() -> bool:
    """Whether a browser has just come, by the app's own address."""
    return _PAGE not in st.session_state and not st.query_params


def nowhere() -> None:
    """The page of an address that `go_on` leads on from."""


def go_on(old: str) -> NoReturn:
    """Lead an address of an earlier version to where the same is shown now."""
    page, view = MOVED[old]
    st.session_state[_LED] = _PAGE not in st.session_state
    newest = "" if page != "run" or {"run", "with"} & {*st.query_params} else _newest_run()
    more = {name: text for name, text in (("show", view), ("run", newest)) if text}
    go(page, **more, **st.query_params)


def _newest_run() -> str:
    """The run that Replay and Embedding opened with; empty where there is none."""
    try:
        rows = session.manager().store.list_runs(RunFilter(methods=["dsebo"]), limit=50)
    except StoreAway:  # the page that is led to waits for it
        return ""
    return next((row.id for row in rows if row.n_done), "")


def was_led_on() -> bool:
    """Whether this is the first page after `go_on`."""
    return bool(st.session_state.pop(_LED, False))


def choose_part(parts: Mapping[str, str], key: str, forget: bool = False) -> str:
    """Which part of a page is shown: that of the address, or the reader's choice.

    `forget`: another part begins with nothing in the address.
    """
    first = next(iter(parts))
    if st.session_state.get(key, first) not in parts:  # of another run, which has one more
        st.session_state.pop(key)
    asked = st.query_params.get("show", "")
    if asked in parts:
        st.session_state[key] = asked

    def chosen() -> None:
        part = st.session_state[key]
        if forget:
            st.query_params.from_dict({"show": part})
        else:
            st.query_params["show"] = part

    part = st.segmented_control(
        "View",
        list(parts),
        default=None if key in st.session_state else first,
        format_func=parts.__getitem__,
        key=key,
        on_change=chosen,
        label_visibility="collapsed",
        required=True,
    )
    part = part or first
    if part != first or forget:
        st.query_params["show"] = part
    else:
        st.query_params.pop("show", None)
    return part


def require_router(page: str) -> None:
    """Send round by `app.py` whoever comes past it: Streamlit runs a file of `pages/` by itself where a
    link to it is the server's first request."""
    if _PAGE not in st.session_state:
        st.session_state[_WANTED] = (page, dict(st.query_params))
        st.switch_page("app.py")


def go_where_wanted() -> None:
    """Show the page that `require_router` kept someone from."""
    if wanted := st.session_state.pop(_WANTED, None):
        go(wanted[0], **wanted[1])


def go(page: str, **params: str) -> NoReturn:
    """Show another page."""
    st.switch_page(script(page), query_params=params)


def page_link(page: str, label: str, icon: str, params: Mapping[str, str] | None = None) -> None:
    """A link to another page."""
    st.page_link(script(page), label=label, icon=f":material/{icon}:", query_params=dict(params or {}))


def link_to_launch() -> None:
    """The way on from a page that has nothing to show yet."""
    page_link("run", "Launch a run", "play_circle")


def hides(part: str) -> bool:
    """Whether the address asks to leave out a part of the page, such as its menu."""
    return part in st.query_params.get("hide", "").split(",")


# --- reading ----------------------------------------------------------------------------------


def opened() -> dict[str, str]:
    """What the address bar says, if someone else wrote it: a link, the back button, a reload."""
    params = {name: text for name, text in st.query_params.items() if name not in FRAME}
    return {} if params == st.session_state.get(_written()) else params


def take(params: dict[str, str], parsers: Mapping[str, Parser]) -> dict[str, Any]:
    """The declared parameters, as their parsers read them; the others stay in `params`."""
    asked, refused = parse(params, parsers)
    say(refused)
    return asked


def parse(params: dict[str, str], parsers: Mapping[str, Parser]) -> tuple[dict[str, Any], list[str]]:
    """(the declared parameters, a sentence for each that cannot be used); the others stay in `params`.

    A parser raises a ValueError that says what is allowed, or a ConfigError or StoreError with a
    whole sentence.
    """
    asked: dict[str, Any] = {}
    refused = []
    for name, parser in parsers.items():
        if name not in params:
            continue
        text = params.pop(name)
        try:
            asked[name] = parser(text)
        except StoreAway:  # the router waits for the database, and the link is read again
            raise
        except StoreError as error:
            refused.append(str(error))
        except ConfigError as error:
            refused.append(f"The link's {error}")
        except ValueError as error:
            refused.append(f"The link's {must(name, str(error), text[:40])}")
    return asked, refused


def say(sentences: Sequence[str]) -> None:
    """Tell the reader what of the link cannot be used; `app.py` shows it above the page."""
    st.session_state.setdefault(_UNUSABLE, []).extend(sentences)


def unusable() -> list[str]:
    """What has been said since the last look."""
    sentences: list[str] = st.session_state.pop(_UNUSABLE, [])
    return sentences


# --- parsers ----------------------------------------------------------------------------------


def is_id(text: str) -> bool:
    """Whether it looks like an id."""
    return bool(_ID.fullmatch(text))


def an_id(text: str) -> str:
    """An id, of which nobody knows yet whether there is such a run."""
    if not is_id(text):
        raise StoreError(f"The link's {text[:40]!r} is not an id of a run.")
    return text


def stored_run(text: str) -> str:
    """The full id of a run that is in the store."""
    return session.manager().store.get_run(an_id(text)).id


def found_run(text: str) -> str:
    """The full id of a run; as it is where there is none, which the page then says in the run's place."""
    try:
        return stored_run(text)
    except StoreAway:
        raise
    except StoreError:
        return an_id(text)


def yes(text: str) -> bool:
    """Whether a switch is on."""
    if text not in ("yes", "no"):
        raise ValueError("yes or no")
    return text == "yes"


def stored_runs(text: str) -> list[str]:
    """The full ids of those runs that are in the store."""
    ids: dict[str, None] = {}
    refused = []
    for part in [part for part in text.split(",") if part][:MOST_RUNS]:
        try:
            ids[stored_run(part)] = None
        except StoreAway:
            raise
        except StoreError as error:
            refused.append(str(error))
    say(refused[:MOST_SENTENCES])
    return list(ids)


def evaluation(text: str) -> int:
    """The number of an evaluation."""
    if not re.fullmatch(r"[0-9]{1,7}", text):
        raise ValueError("the number of an evaluation")
    return int(text)


def one_of(options: Sequence[str]) -> Parser:
    """One of these."""

    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(f"one of {', '.join(options)}")
        return text

    return parse


def words(longest: int) -> Parser:
    """Any text, in one line and not too long."""
    return lambda text: " ".join(text.split())[:longest]


# --- writing ----------------------------------------------------------------------------------


def write(link: Mapping[str, str], keep: Sequence[str] = ()) -> None:
    """Let the address bar say what the page shows, with what stays of it."""
    params = dict(st.query_params)
    wanted = {name: params[name] for name in keep if name in params} | dict(link)
    frame = {name: params[name] for name in FRAME if name in params}
    if wanted | frame != params:
        st.query_params.from_dict(wanted | frame)
    st.session_state[_written()] = {name: text for name, text in wanted.items() if name not in FRAME}


def _written() -> str:
    """Where it is kept what a page wrote."""
    return f"link of {st.session_state.get(_PAGE, '')}"
