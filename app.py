"""The router, and what every page does: style, charts' library, owner, messages. `streamlit run app.py`."""

import streamlit as st

from dsebo.store.errors import StoreAway
from dsebo.text import plain
from dsebo.ui import inputs, links, live, session
from dsebo.ui.refresh import wait_for_database

st.set_page_config("DSEBO explorer", live.icon(), layout="wide", initial_sidebar_state=380)
session.join()
titles = {
    "run": ("Run", "play_circle"),
    "experiments": ("Experiments", "stacked_line_chart"),
    "learn": ("Learn", "school"),
    "paper": ("Paper", "article"),
}
pages = {
    name: st.Page(links.script(name), title=title, icon=f":material/{icon}:", default=name == "run")
    for name, (title, icon) in titles.items()
}
moved = [st.Page(links.nowhere, title=old, url_path=old, visibility="hidden") for old in links.MOVED]
page = st.navigation([*pages.values(), *moved], position="hidden" if links.hides("nav") else "top")
if page.url_path in links.MOVED:
    links.go_on(page.url_path)
shown = next(name for name in pages if pages[name].url_path == page.url_path)
if shown == "run" and "lesson" in st.query_params:  # a class is given the app's own address
    links.go("learn", **st.query_params)

links.go_where_wanted()
live.load()
inputs.put_again()
with st.container(key="led-on"):  # a place that is always there: without it all below would move, and be new
    if links.was_led_on():
        live.deny_not_found()
messages = st.container()
try:
    session.remember_owner()
    if shown == "run" and links.is_new() and session.is_untouched():
        links.at(shown)
        links.go("learn")
    links.at(shown)
    page.run()
    if shown == "run":
        with st.sidebar:
            session.lecturer_entry()
    elif shown == "experiments":  # without a sidebar, as its table needs the room
        session.lecturer_entry()
except StoreAway as error:
    wait_for_database(error)
with messages:
    for sentence in session.incidents():
        st.warning(plain(sentence))
    for sentence in links.unusable():
        st.warning(plain(sentence))
session.get_ready()
