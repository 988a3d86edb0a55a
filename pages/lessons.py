"""Lessons: predict, then run, then see why."""

import streamlit as st

from dsebo.lessons import load_lessons
from dsebo.ui import links, session
from dsebo.ui.learn import lesson_view

links.require_router("lessons")
lessons, unread = load_lessons(session.manager().settings.lessons)
links.say(unread)
now = lesson_view.asked()
if now.lesson in lessons:
    lesson_view.show_lesson(lessons[now.lesson], now)
else:
    if now.lesson:
        links.say([f"There is no lesson {now.lesson!r}."])
    st.markdown("### Lessons: predict, then run, then see why")
    lesson_view.show_list(list(lessons.values()), now)
