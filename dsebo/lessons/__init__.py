"""Lessons: one text file each, with the links of its runs, a question and what is measured.

    title: Why embed at all?
    question: Which of the three ends lowest?
    measure: winner
    run: DSEBO | ?D=200&d_e=10&d_h=50&budget=100&beta=8
    run: REMBO, d = 5 | ?method=rembo&d=5&...

    What one reads before the run, in Markdown.

    ## Answer

    Two sentences of explanation.

A link is what the Run page's address bar says; `centre` instead of one stands for a single
evaluation at the centre of the box, and `?run=ID` for a stored run. What can be measured:
`winner` (which run ends lowest), `final d`, `expansions` and `best` (of the first run), and
`below centre` or `below 3.5` (whether the first run gets there).
"""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl

from dsebo.config import RunConfig, parse_flat
from dsebo.parsing import OF_LAUNCH, read_link
from dsebo.runs.data import RunData
from objectives.fields import ConfigError, must

Kind = Literal["choice", "number"]
MEASURES = "winner, final d, expansions, best, below centre or below a number"
YES, NO = "Yes", "No"
CENTRE = "centre"
LONGEST = 20_000  # characters of a lesson
_MEASURE = re.compile(r"winner|final d|expansions|best|below (centre|-?\d+(\.\d+)?)")
_KEY = re.compile(r"[\w-]{1,64}")
_log = logging.getLogger(__name__)


class LessonError(ValueError):
    """A lesson's file cannot be used; the message is one sentence."""


@dataclass(frozen=True)
class LessonRun:
    """One run of a lesson: its name, and a setting, a stored run or the centre."""

    label: str
    config: RunConfig | None = None
    speed: float | None = None
    run_id: str | None = None

    @property
    def is_centre(self) -> bool:
        """Whether it is not a run but one evaluation at the centre."""
        return self.config is None and self.run_id is None


@dataclass(frozen=True)
class Lesson:
    """One lesson."""

    key: str
    title: str
    question: str
    measure: str
    runs: tuple[LessonRun, ...]
    before: str
    answer: str

    @property
    def kind(self) -> Kind:
        """How one answers: by a choice or by a number."""
        return "number" if self.measure in ("final d", "expansions", "best") else "choice"

    @property
    def options(self) -> tuple[str, ...]:
        """What one chooses from."""
        if self.measure == "winner":
            return tuple(run.label for run in self.runs)
        return () if self.kind == "number" else (YES, NO)

    def checked(self, guess: str) -> str | None:
        """The guess as it is kept; None where it is no answer to this question."""
        if self.kind == "choice":
            return guess if guess in self.options else None
        try:
            value = float(guess)
        except ValueError:
            return None
        return f"{value:.6g}" if abs(value) < 1e12 else None

    def truth(self, runs: Sequence[RunData]) -> str:
        """The answer, from the runs in the lesson's order (the centre is not among them)."""
        first = runs[0]
        if self.measure == "final d":
            return str(first.d or 0)
        if self.measure == "expansions":
            return str(sum(change["event"] == "expanded" for change in first.changes))
        if self.measure == "best":
            return f"{_known(first.best):.4g}"
        if self.measure == "winner":
            ends = self.ends(runs)
            return min(ends, key=lambda label: ends[label])
        return YES if _known(first.best) < _known(self.level(first)) else NO

    def ends(self, runs: Sequence[RunData]) -> dict[str, float]:
        """Where each run, and the centre, ends."""
        ended = iter(runs)
        return {
            run.label: _known(runs[0].row.at_centre if run.is_centre else next(ended).best)
            for run in self.runs
        }

    def level(self, first: RunData) -> float | None:
        """The value that the question compares with."""
        if not self.measure.startswith("below "):
            return None
        level = self.measure.removeprefix("below ")
        return first.row.at_centre if level == CENTRE else float(level)


def _known(value: float | None) -> float:
    """A value; infinite where every evaluation failed."""
    return math.inf if value is None else value


def parse_lesson(key: str, text: str) -> Lesson:
    """A lesson from its file; LessonError says what is missing."""
    if not _KEY.fullmatch(key):
        raise LessonError(f"{key[:40]!r} is not a lesson's name: letters, digits and hyphens.")
    head, _, body = text[:LONGEST].replace("\r", "").strip().partition("\n\n")
    before, mark, answer = body.partition("\n## Answer\n")
    fields: dict[str, list[str]] = {}
    for line in head.splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), []).append(value.strip())
    for name in ("title", "question", "measure", "run"):
        if not fields.get(name, [""])[0]:
            raise LessonError(f"Lesson {key}: {name} is missing at its top.")
    measure = fields["measure"][0]
    if not _MEASURE.fullmatch(measure):
        raise LessonError(f"Lesson {key}: {must('measure', MEASURES, measure)}")
    if not mark:
        raise LessonError(f"Lesson {key}: the heading '## Answer' is missing.")
    runs = tuple(_run(key, line) for line in fields["run"])
    if runs[0].is_centre:
        raise LessonError(f"Lesson {key}: its first run may not be the centre.")
    return Lesson(
        key, fields["title"][0], fields["question"][0], measure, runs, before.strip(), answer.strip()
    )


def _run(key: str, line: str) -> LessonRun:
    label, _, link = (part.strip() for part in line.partition("|"))
    if link == CENTRE:
        return LessonRun(label)
    asked = dict(parse_qsl(link.rpartition("?")[2]))
    if not label or not asked:
        raise LessonError(f"Lesson {key}: run = {line[:40]!r} is not a name, | and a link.")
    if set(asked) == {"run"}:
        return LessonRun(label, run_id=asked["run"])
    settings, refused = read_link(asked)
    if refused:
        raise LessonError(f"Lesson {key}: {refused[0]}")
    launch = {name: settings.pop(name, usual) for name, usual in OF_LAUNCH.items()}
    try:
        return LessonRun(label, parse_flat(settings), launch["speed"])
    except ConfigError as error:
        raise LessonError(f"Lesson {key}: {error}") from None


def load_lessons(folder: str = "") -> tuple[dict[str, Lesson], list[str]]:
    """(the lessons by name: the bundled ones, then those of the folder; what cannot be used)."""
    lessons: dict[str, Lesson] = {}
    refused: list[str] = []
    named = os.environ.get("DSEBO_LESSONS") or folder
    own = Path(named).expanduser() if named else None
    bundled = Path(str(files("dsebo") / "lessons"))
    for place in (bundled, own):
        if place is None:
            continue
        if not place.is_dir():
            refused.append(f"The folder of lessons {place.name} cannot be read.")
            continue
        for path in sorted(place.glob("*.md")):
            try:
                lessons[path.stem] = parse_lesson(path.stem, path.read_text(encoding="utf-8"))
            except (LessonError, OSError, UnicodeDecodeError) as error:
                _log.warning("%s: %s", path, error)
                unread = f"Lesson {path.stem} cannot be read."
                refused.append(str(error) if isinstance(error, LessonError) else unread)
    return lessons, refused
