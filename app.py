"""The router, and what every page does: style, charts' library, owner, messages. `streamlit run app.py`."""

import streamlit as st

from dsebo.store.errors import StoreAway
from dsebo.text import plain
from dsebo.ui import links, live, session
from dsebo.ui.refresh import wait_for_database

st.set_page_config("DSEBO explorer", live.icon(), layout="wide", initial_sidebar_state=380)
session.join()
titles = {
    "run": ("Run", "play_circle"),
    "replay": ("Replay", "replay"),
    "runs": ("Runs", "table_rows"),
    "compare": ("Compare", "stacked_line_chart"),
    "race": ("Race", "sports_score"),
    "sweep": ("Sweep", "tune"),
    "lessons": ("Lessons", "school"),
    "paper": ("Paper", "article"),
    "theory": ("Theory", "function"),
    "embedding": ("Embedding", "grid_on"),
}
pages = {
    name: st.Page(links.script(name), title=title, icon=f":material/{icon}:", default=name == "run")
    for name, (title, icon) in titles.items()
}
# Two menus, so that no page is hidden at a projector's 1280 pixels with the form open.
menus = {
    "": ("run", "replay", "runs", "compare", "race", "sweep"),
    "Understand": ("lessons", "paper", "theory", "embedding"),
}
sections = {menu: [pages[name] for name in names] for menu, names in menus.items()}
page = st.navigation(sections, position="hidden" if links.hides("nav") else "top")
shown = next(name for name in pages if pages[name].url_path == page.url_path)
if shown == "run" and "lesson" in st.query_params:  # a class is given the app's own address
    links.go("lessons", **st.query_params)

links.at(shown)
links.go_where_wanted()
live.load()
messages = st.container()
try:
    session.remember_owner()
    page.run()
    if shown in ("run", "race", "sweep"):
        with st.sidebar:
            session.lecturer_entry()
except StoreAway as error:
    wait_for_database(error)
with messages:
    for sentence in links.unusable():
        st.warning(plain(sentence))
