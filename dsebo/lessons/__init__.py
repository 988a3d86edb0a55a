"""Lessons: one text file each, with the links of its runs, a question and what is measured.

    title: Why embed at all?
    question: Which of the three ends lowest?
    measure: winner
    seeds: 1-3
    run: DSEBO | ?D=200&d_e=10&d_h=50&budget=100&beta=8
    run: REMBO, d = 5 | ?method=rembo&d=5&...

    What one reads before the run, in Markdown.

    ## Answer: DSEBO

    What is said only where that is the answer.

    ## Answer

    What is true whatever the answer is.

A link is what the Run page's address bar says; `centre` instead of one stands for a single
evaluation at the centre of the box, `?run=ID` for a stored run, and `bundled` before a link for the
run of that setting that comes with the package. What can be measured: `winner` (which run ends
lowest, in the mean over the seeds), `final d`, `expansions` and `best` (of the first run), `parts`
(at which evaluation the first two runs part; 0 where they never do), and `below centre` or
`below 3.5` (whether the first run gets there).
"""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl

from dsebo.config import RunConfig, parse_flat
from dsebo.objectives.fields import ConfigError, must
from dsebo.parsing import OF_LAUNCH, read_link, read_seeds
from dsebo.runs.data import RunData
from dsebo.text import count, number

Kind = Literal["choice", "number"]
MEASURES = "winner, final d, expansions, best, parts, below centre or below a number"
NUMBERS = ("final d", "expansions", "best", "parts")
YES, NO = "Yes", "No"
CENTRE, BUNDLED = "centre", "bundled"
MOST_SEEDS = 5
CLOSE = 0.2  # of the answer: a number as near as this is right
LONGEST = 20_000  # characters of a lesson
_MEASURE = re.compile(r"winner|final d|expansions|best|parts|below (centre|-?\d+(\.\d+)?)")
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
    bundled: bool = False

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
    answers: dict[str, str]
    seeds: tuple[int, ...] = ()

    @property
    def each(self) -> list[LessonRun]:
        """Every run that there has to be, those of one label together; the centre is none."""
        expanded = []
        for run in self.runs:
            if run.config is not None and self.seeds:
                expanded += [replace(run, config=run.config.with_seed(seed)) for seed in self.seeds]
            elif not run.is_centre:
                expanded.append(run)
        return expanded

    @property
    def unavailable(self) -> str:
        """Why its runs cannot be made here, in a sentence; those that are stored can be looked at."""
        reasons = (run.config.unavailable() for run in self.runs if run.config is not None)
        return next(filter(None, reasons), "")

    @property
    def kind(self) -> Kind:
        """How one answers: by a choice or by a number."""
        return "number" if self.measure in NUMBERS else "choice"

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
        """The answer, from the data of `each`."""
        first = runs[0]
        if self.measure == "final d":
            return str(first.d or 0)
        if self.measure == "expansions":
            return str(sum(change["event"] == "expanded" for change in first.changes))
        if self.measure == "best":
            return f"{_known(first.best):.4g}"
        if self.measure == "parts":
            return str(parting(first, runs[1]))
        if self.measure == "winner":
            ends = self.ends(runs)
            return min(ends, key=lambda label: ends[label])
        return YES if _known(first.best) < _known(self.level(first)) else NO

    def right(self, guess: str, truth: str) -> bool:
        """Whether a guess is the answer, or a number near enough to it."""
        if self.kind == "choice":
            return guess == truth
        return abs(float(guess) - float(truth)) <= CLOSE * abs(float(truth))

    def explanation(self, truth: str) -> str:
        """Why: what is said of this answer, then what is true of any."""
        return "\n\n".join(text for text in (self.answers.get(truth, ""), self.answers[""]) if text)

    def results(self, runs: Sequence[RunData]) -> str:
        """What the runs came to, in a sentence of their own numbers."""
        if len(self.runs) == 1:
            return runs[0].conclusion
        ends = self.ends(runs)
        means = f", means of {count(len(self.seeds), 'seed')}" if len(self.seeds) > 1 else ""
        in_order = sorted(ends, key=lambda label: ends[label])
        values = "; ".join(f"{label}: {number(ends[label], 3)}" for label in in_order)
        return f"Final values{means}. {values}.{self._undecided(runs, *in_order[:2])}"

    def _undecided(self, runs: Sequence[RunData], first: str, second: str) -> str:
        """What is said where the second in the mean is lower than the first on some seeds."""
        groups = self.grouped(runs)
        if len(self.seeds) < 2 or not {first, second} <= set(groups):
            return ""
        pairs = zip(groups[first], groups[second], strict=True)
        lower = sum(_known(two.best) < _known(one.best) for one, two in pairs)
        return f" On {lower} of the {len(self.seeds)} seeds the first two change places." if lower else ""

    def grouped(self, runs: Sequence[RunData]) -> dict[str, list[RunData]]:
        """The data of `each` by label."""
        groups: dict[str, list[RunData]] = {}
        for run, data in zip(self.each, runs, strict=True):
            groups.setdefault(run.label, []).append(data)
        return groups

    def ends(self, runs: Sequence[RunData]) -> dict[str, float]:
        """Where each run, in the mean over its seeds, and the centre, ends."""
        groups = self.grouped(runs)
        return {
            run.label: _known(runs[0].row.at_centre) if run.is_centre else _mean_end(groups[run.label])
            for run in self.runs
        }

    def level(self, first: RunData) -> float | None:
        """The value that the question compares with."""
        if not self.measure.startswith("below "):
            return None
        level = self.measure.removeprefix("below ")
        return first.row.at_centre if level == CENTRE else float(level)


def parting(one: RunData, other: RunData) -> int:
    """The first evaluation whose values differ in two runs; 0 where none does."""
    pairs = zip(one.evaluations["y"], other.evaluations["y"], strict=False)
    return next((t for t, (y, z) in enumerate(pairs, 1) if y != z and not (y != y and z != z)), 0)


def _mean_end(runs: Sequence[RunData]) -> float:
    return sum(_known(run.best) for run in runs) / len(runs)


def _known(value: float | None) -> float:
    """A value; infinite where every evaluation failed."""
    return math.inf if value is None else value


@lru_cache(maxsize=256)  # by its text: a table of runs asks for all titles again and again
def parse_lesson(key: str, text: str) -> Lesson:
    """A lesson from its file; LessonError says what is missing."""
    if not _KEY.fullmatch(key):
        raise LessonError(f"{key[:40]!r} is not a lesson's name: letters, digits and hyphens.")
    head, _, body = text[:LONGEST].replace("\r", "").strip().partition("\n\n")
    before, *sections = re.split(r"^## Answer(?:: *(.*?))? *$", body, flags=re.MULTILINE)
    answers = {truth or "": text.strip() for truth, text in zip(sections[::2], sections[1::2], strict=True)}
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
    if "" not in answers:
        raise LessonError(f"Lesson {key}: the heading '## Answer' is missing.")
    seeds = _seeds(key, fields.get("seeds", [""])[0], measure)
    runs = tuple(_run(key, line) for line in fields["run"])
    if runs[0].is_centre:
        raise LessonError(f"Lesson {key}: its first run may not be the centre.")
    if measure == "parts" and sum(not run.is_centre for run in runs) < 2:
        raise LessonError(f"Lesson {key}: two runs are needed to see where they part.")
    title, question = fields["title"][0], fields["question"][0]
    return Lesson(key, title, question, measure, runs, before.strip(), answers, seeds)


def _seeds(key: str, text: str, measure: str) -> tuple[int, ...]:
    """The seeds of every run; none where each link has its own."""
    if not text:
        return ()
    try:
        seeds = tuple(read_seeds(text))
    except ConfigError as error:
        raise LessonError(f"Lesson {key}: {error}") from None
    if measure != "winner" or len(seeds) > MOST_SEEDS:
        raise LessonError(f"Lesson {key}: seeds must be at most {MOST_SEEDS}, for the measure winner only.")
    return seeds


def _run(key: str, line: str) -> LessonRun:
    label, _, link = (part.strip() for part in line.partition("|"))
    if link == CENTRE:
        return LessonRun(label)
    bundled = link.startswith(f"{BUNDLED} ")
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
        return LessonRun(label, parse_flat(settings), launch["speed"], bundled=bundled)
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
        for path in sorted(place.glob("*.md"), key=_place):
            try:
                lessons[path.stem] = parse_lesson(path.stem, path.read_text(encoding="utf-8"))
            except (LessonError, OSError, UnicodeDecodeError) as error:
                _log.warning("%s: %s", path, error)
                unread = f"Lesson {path.stem} cannot be read."
                refused.append(str(error) if isinstance(error, LessonError) else unread)
    return lessons, refused


def _place(path: Path) -> tuple[float, str]:
    """By the number that its name begins with: 10 comes after 9."""
    begins = re.match(r"\d{1,9}", path.stem)
    return (float(begins[0]) if begins else math.inf, path.stem)
