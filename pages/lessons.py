"""Lessons: predict, then run, then see why."""

import streamlit as st

from dsebo.lessons import load_lessons
from dsebo.text import plain
from dsebo.ui import session
from dsebo.ui.learn import lesson_view
from dsebo.ui.live import load_plotly

session.require_router("lessons")
load_plotly()
session.remember_owner()
lessons, said = load_lessons(session.manager().settings.lessons)
now = lesson_view.asked()
for sentence in said:
    st.warning(plain(sentence))
if now.lesson in lessons:
    lesson_view.show_lesson(lessons[now.lesson], now)
    st.stop()
if now.lesson:
    st.warning(plain(f"There is no lesson {now.lesson!r}."))
st.markdown("### Lessons: predict, then run, then see why")
lesson_view.show_list(list(lessons.values()), now)
