"""What Learn shows: a demonstration to begin with, the lessons, and section 5 as the last chapter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import streamlit as st

from dsebo.experiments.paired import too_few
from dsebo.lessons import Lesson, load_lessons
from dsebo.lessons.glossary import GLOSSARY
from dsebo.text import typeset
from dsebo.ui import links, session
from dsebo.ui.inputs import card
from dsebo.ui.learn import lesson_view, opening, theory_view
from dsebo.ui.learn.theory_view import THEORY
from dsebo.ui.refresh import draw_last
from dsebo.ui.run import start

WINNERS = "Where a lesson names the best of three methods, it has run three seeds."


def show() -> None:
    """The chapter, the lesson or the list of them that the address asks for."""
    if st.query_params.get("show") == THEORY:
        _theory()
        return
    lessons, unread = load_lessons(session.manager().settings.lessons)
    links.say(unread)
    now = lesson_view.asked()
    if now.lesson in lessons:
        following = dict(pairwise([*lessons, ""]))[now.lesson]
        lesson_view.show_lesson(lessons[now.lesson], lessons.get(following), now)
        return
    if now.lesson:
        links.say([f"There is no lesson {now.lesson!r}."])
    start.demonstration(opening.setting)
    opening.show()
    draw_last(lambda: _below(list(lessons.values()), now))


def _below(lessons: Sequence[Lesson], now: lesson_view.Asked) -> None:
    """The lessons, the glossary and the theorem."""
    st.markdown("### Lessons: predict, then run, then see why")
    st.caption(f"{WINNERS} {too_few(seeds=3, cells=3)}")
    lesson_view.show_list(lessons, now)
    with st.expander("Glossary: every symbol in a sentence"):
        _glossary()
    if card(THEORY, theory_view.TITLE, "Section 5: what does the bound say of a run?", "Open the theorem"):
        links.go("learn", show=THEORY)


def _glossary() -> None:
    rows = [
        f"| {f'${term.symbol}$' if term.symbol else ''} | **{term.name}**: {typeset(term.meaning)} |"
        for term in GLOSSARY
    ]
    st.markdown("\n".join(["| | |", "|:--|:--|", *rows]))


def _theory() -> None:
    """The two bounds of the paper's section 5, with numbers."""
    if st.button("All lessons", icon=":material/arrow_back:", type="tertiary"):
        links.go("learn")
    st.markdown(f"### {theory_view.TITLE}")
    with st.container(key="section5"):
        st.markdown(
            "Section 5 bounds the simple regret by two parts. The **approximation error** ε(d) is what a "
            "d-dimensional subspace cannot reach; the **optimization error** is what T evaluations in it "
            "leave. A small subspace has much of the first, a large one much of the second."
        )
        theory_view.formulas()
        theory_view.show_example(theory_view.controls())
        st.markdown(theory_view.HIDDEN)
        theory_view.show_run()
