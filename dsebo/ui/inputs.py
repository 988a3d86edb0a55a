"""Inputs that several pages have: a setting, a stored run, the look of a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id

from dsebo.analysis.curves import BandKind
from dsebo.charts.scales import SCALES, Scale
from dsebo.objectives.fields import FieldSpec
from dsebo.parsing import LARGEST_INPUT
from dsebo.store.rows import RunFilter, RunRow
from dsebo.text import number, plain, typeset
from dsebo.ui import session

BANDS: dict[BandKind, str] = {"mean": "Mean ± std", "median": "Median, quartiles"}
EMPTY = {"speed": "full", "embedding_seed": "as the seed"}  # what no number means
LATEX = {"β": r"\beta", "α": r"\alpha", "κ": r"\kappa", "Δ": r"\Delta "}
Thing = TypeVar("Thing")
Answer = TypeVar("Answer")
MOST = 1000  # runs in a list to choose from; others are reached by a link or the page of experiments
PUT = "put into inputs"  # in the session: the keys of what the browser has not sent back yet


def put(key: str, value: Any) -> None:
    """Put a value into the input of that key."""
    st.session_state[key] = value
    st.session_state.setdefault(PUT, set()).add(key)


def put_again() -> None:
    """Put once more into inputs what the browser has not sent back.

    Streamlit says once what an input holds. Where the page is drawn again before the browser has the
    input's code, that is lost: the input begins empty, and the browser sends it as emptied by its reader.
    """
    context, waiting = get_script_run_ctx(), st.session_state.get(PUT, set())
    if context is None or not waiting:
        return
    waiting -= {user_key_from_element_id(sent.id) for sent in context.session_state.get_widget_states()}
    waiting &= {str(key) for key in st.session_state}
    for key in waiting:
        st.session_state[key] = st.session_state[key]


def run_label(row: RunRow) -> str:
    """A run in one line: what tells it from its neighbours. Plain text, never markup."""
    imported = " · imported" if row.imported else ""
    return f"{row.name} · seed {row.seed} · best {number(row.best)} · {row.short_id}{imported}"


def stored_runs(methods: Sequence[str] = (), asked: Sequence[str] = ()) -> dict[str, RunRow]:
    """The newest runs that have something to show, by id, and those that a link asks for."""
    store = session.manager().store
    rows = store.list_runs(RunFilter(methods=list(methods)), limit=MOST)
    more = store.list_runs(RunFilter(ids=list(asked))) if asked else []
    return {row.id: row for row in [*(row for row in rows if row.n_done), *more]}


def choose_run(
    title: str, key: str, asked: str | None = None, none: bool = False, methods: Sequence[str] = ()
) -> str | None:
    """The id of the run that the reader chooses, or that a link asks for; None where there is none."""
    rows = stored_runs(methods, [asked] if asked else [])
    if not rows:
        return None
    options = ([""] if none else []) + list(rows)
    wanted = asked or st.session_state.get(key, st.session_state.get(f"{key} kept"))
    if wanted in options:
        st.session_state[key] = wanted
    else:
        st.session_state.pop(key, None)
    chosen = st.selectbox(
        title, options, format_func=lambda run_id: run_label(rows[run_id]) if run_id else "None", key=key
    )
    st.session_state[f"{key} kept"] = chosen  # Streamlit forgets a widget on another page
    return chosen or None


def choose_band(key: str, default: BandKind = "mean", label: str = "") -> BandKind:
    """What a band over several runs shows; without a label where it stands among others."""
    chosen: BandKind = segmented(label or "Bands", list(BANDS), key, default, BANDS.__getitem__, bool(label))
    return chosen


def choose_scale(key: str, default: Scale, label: str = "", drawable: Sequence[Scale] = SCALES) -> Scale:
    """The value axis, as the reader wants it; without a label where it stands among others."""
    chosen: Scale = segmented(label or "Value axis", drawable, key, default, str.capitalize, bool(label))
    return chosen


def segmented(
    label: str,
    options: Sequence[Any],
    key: str,
    default: Any,
    shown: Callable[[Any], str] = str,
    labelled: bool = False,
) -> Any:
    """One of a few options, side by side; never none of them."""
    visible: Literal["visible", "collapsed"] = "visible" if labelled else "collapsed"
    chosen = st.segmented_control(
        label, options, default=default, format_func=shown, key=key, label_visibility=visible, required=True
    )
    return default if chosen is None else chosen


def card(key: str, title: str, text: str, button: str, chosen: Callable[[], None] | None = None) -> bool:
    """Something to begin with: its name, what to look for in it, and whether its button was pressed."""
    with st.container(
        border=True, key=f"card-{key}", horizontal=True, vertical_alignment="center", wrap=False
    ):
        st.markdown(f"**{plain(typeset(title))}**  \n{plain(typeset(text))}", width="stretch")
        return st.button(button, key=f"preset {key}", on_click=chosen)


def in_pairs(things: Sequence[Thing], draw: Callable[[Thing], Answer]) -> list[Answer]:
    """Draw two side by side, row by row: they are read in their order where columns are stacked, too."""
    answers = []
    for pair in range(0, len(things), 2):
        with st.container(key=f"pair-{pair}"):
            for column, thing in zip(st.columns(2), things[pair : pair + 2], strict=False):
                with column:
                    answers.append(draw(thing))
    return answers


def facts_table(rows: Sequence[tuple[str, str]]) -> None:
    """Names and values below each other; an empty value is left out."""
    body = "\n".join(f"| {name} | {value} |" for name, value in rows if value)
    st.markdown(f"| | |\n|:--|--:|\n{body}")


# --- one setting --------------------------------------------------------------------------------


def field_input(
    spec: FieldSpec,
    key: str,
    shown: Callable[[str], str] = str.capitalize,
    changed: Callable[[], None] | None = None,
) -> None:
    """The input of one setting, whose value is kept in the session under `key`."""
    label, help = _label(spec), f"{spec.help} {spec.allowed[0].upper()}{spec.allowed[1:]}."
    if spec.kind == "choice":
        st.selectbox(label, spec.choices, format_func=shown, key=key, help=help, on_change=changed)
    elif spec.kind == "bool":
        st.toggle(label, key=key, help=help)
    else:
        st.number_input(label, key=key, help=help, **_limits(spec))


def _limits(spec: FieldSpec) -> dict[str, Any]:
    """Range, step and format of a number's input."""
    whole = spec.kind == "int"
    high = min(LARGEST_INPUT, spec.high if spec.high is not None else LARGEST_INPUT)
    low = spec.low if spec.low is not None else -LARGEST_INPUT
    smallest = math.ulp(0.0) if spec.low_open else 0.0
    return {
        "min_value": int(low) if whole else float(low + smallest),
        "max_value": int(high) if whole else float(high),
        "step": 1 if whole else _step(spec),
        "format": "%d" if whole else "%g",
        "value": None,  # an emptied field stays empty, and is said to be
        "placeholder": EMPTY.get(spec.name, "none") if spec.optional else "a number",
    }


def _step(spec: FieldSpec) -> float:
    """What one click on + adds: a tenth of the usual order of magnitude."""
    size = abs(float(spec.default or 1.0)) or 1.0
    return float(10.0 ** (math.floor(math.log10(size)) - 1)) if size != 12 else 1.0


def _label(spec: FieldSpec) -> str:
    """The paper's symbol, then the plain word."""
    if not spec.symbol or (spec.symbol.isascii() and spec.symbol.isalpha() and len(spec.symbol) > 1):
        return spec.label
    return f"${_tex(spec.symbol)}$ {spec.label[0].lower()}{spec.label[1:]}"


def _tex(symbol: str) -> str:
    """`Δd_min` for a formula: all that stands below stands below."""
    letters, _, below = symbol.partition("_")
    main = "".join(LATEX.get(letter, letter) for letter in letters)
    return main if not below else rf"{main}_{below}" if len(below) == 1 else rf"{main}_{{\text{{{below}}}}}"
