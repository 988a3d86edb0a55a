"""The router: page config, theme, navigation. `streamlit run app.py`."""

import streamlit as st

from dsebo.ui import session, style

st.set_page_config("DSEBO explorer", style.icon(), layout="wide", initial_sidebar_state=380)
session.routed()
style.apply()
pages = {
    "run": st.Page("pages/run.py", title="Run", icon=":material/play_circle:", default=True),
    "replay": st.Page("pages/replay.py", title="Replay", icon=":material/replay:"),
    "runs": st.Page("pages/runs.py", title="Runs", icon=":material/table_rows:"),
    "compare": st.Page("pages/compare.py", title="Compare", icon=":material/stacked_line_chart:"),
    "race": st.Page("pages/race.py", title="Race", icon=":material/sports_score:"),
    "sweep": st.Page("pages/sweep.py", title="Sweep", icon=":material/tune:"),
    "paper": st.Page("pages/paper.py", title="Paper", icon=":material/article:"),
    "theory": st.Page("pages/theory.py", title="Theory", icon=":material/function:"),
    "embedding": st.Page("pages/embedding.py", title="Embedding", icon=":material/grid_on:"),
    "lessons": st.Page("pages/lessons.py", title="Lessons", icon=":material/school:"),
}
# Two menus, so that no page is hidden at a projector's 1280 pixels with the form open.
menus = {
    "": ("run", "replay", "runs", "compare", "race", "sweep"),
    "Understand": ("lessons", "paper", "theory", "embedding"),
}
sections = {menu: [pages[name] for name in names] for menu, names in menus.items()}
hidden = "nav" in st.query_params.get("hide", "").split(",")
page = st.navigation(sections, position="hidden" if hidden else "top")
if wanted := session.wanted_page() or session.asked_lesson(page.title):
    st.switch_page(pages[wanted[0]], query_params=wanted[1])
page.run()
