"""Lessons: predict, then run, then see why."""

import streamlit as st

from dsebo.ui import lesson_view, session
from dsebo.ui.lessons import load_lessons
from dsebo.ui.live import load_plotly
from dsebo.ui.words import plain

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
