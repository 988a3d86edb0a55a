"""The paper's tables beside this software's own runs: printed, run, and missing.

A run counts for a row when its settings are exactly those of the row (any seed) and it has finished
its 500 evaluations. One seed counts once, however often it was run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dsebo.analysis.facts import facts
from dsebo.config import RunConfig
from dsebo.objectives.fields import ConfigError
from dsebo.objectives.references import CENTRE
from dsebo.paper.bundled import PeerRun, ThinRun, entrant_config
from dsebo.paper.tables import (
    ONLY_LIKE,
    PAPER_BUDGET,
    PAPER_FUNCTIONS,
    PAPER_NAMES,
    PAPER_TASKS,
    paper_results,
)
from dsebo.store.rows import RunFilter, RunRow
from dsebo.store.schema import ACTIVE, BUNDLED
from dsebo.store.store import Store
from dsebo.text import count, method_name, number, seeds_text

REPEATS = 10  # the paper's
FAR = 3.0  # printed standard deviations
TITLES = {
    1: "Functions of 1000 variables",
    2: "Real tasks",
    3: "Functions of 10 000 variables",
    4: "Bandits over subspaces, functions of 1000 variables",
    5: "Bandits over subspaces, real tasks",
}
METHODS_HERE = {  # as a race takes them; REMBO at the scale that gives the printed figures
    "SIRBO": "sirbo",
    "HesBO": "hesbo",
    "REMBO": "rembo:scale=unit",
    "ALEBO": "alebo",
    "VAEBO": "vaebo",
    "BAxUS": "baxus",
    "MCTSVS": "mcts-vs",
    "RDUCB": "rducb",
    "DuMBO": "dumbo",
    "TuRBO": "turbo",
    "SAASBO": "saasbo",
    "SBO-SE": "sbo-se",
    "DCEM": "dcem",
    "LMMAES": "lm-ma-es",
    "Random Search": "random",
    "DSEBO": "dsebo",
    "Extreme": "bandit-extreme",
    "Random": "bandit-random",
    "epsilon-greedy": "bandit-epsilon-greedy",
    "C-UCB": "bandit-c-ucb",
    "Softmax": "bandit-softmax",
    "TS": "bandit-thompson",
    "UCB-E": "bandit-ucb-e",
    "S-Halving": "bandit-successive-halving",
    "Expectation": "bandit-expectation",
}
VARIANTS = ("dsebo:variant=authors", "dsebo:variant=adaptive")  # of DSEBO, that the paper has no rows of
_FUNCTION_OF = {PAPER_NAMES.get(name, name): name for name in (*PAPER_FUNCTIONS, *PAPER_TASKS)}


@dataclass(frozen=True)
class PaperRow:
    """One printed row, or one of ours beside them, whose printed figures are NaN.

    Attributes:
        entrant: Its method here as a race takes it.
        config: Its setting here, from seed 1.
    """

    table: int
    task: str
    D: int
    method: str
    subspace_d: int | None
    mean: float
    std: float
    best: float
    seconds: float
    entrant: str
    config: RunConfig = field(repr=False)
    setting: str = field(repr=False)

    @property
    def label(self) -> str:
        """The method as printed, with its subspace's dimension."""
        return self.method if self.subspace_d is None else f"{self.method}, d = {self.subspace_d}"

    @property
    def possible(self) -> bool:
        """Whether any ten values have this mean, best and deviation: s ≤ √10 (mean − best).

        The deviation is largest where nine values are the best and one makes up for the mean.
        """
        return self.std <= 1.001 * math.sqrt(REPEATS) * (self.mean - self.best)

    @property
    def only_like(self) -> str:
        """What is run here in place of the paper's task; empty where it is the same one."""
        return ONLY_LIKE.get(self.task.lower(), "")

    @property
    def printed(self) -> bool:
        """Whether the paper has it."""
        return not math.isnan(self.mean)

    @property
    def comparable(self) -> bool:
        """Whether there is a printed figure, and of the same task."""
        return self.printed and not self.only_like


@dataclass(frozen=True)
class FinalRun:
    """How one run ended, or that it is still under way (best is None)."""

    setting: str
    seed: int
    best: float | None
    d: float | None
    seconds: float
    bundled: bool


@dataclass(frozen=True)
class Own:
    """This software's runs of one setting; NaN where there are too few."""

    seeds: tuple[int, ...] = ()
    bundled: int = 0
    under_way: tuple[int, ...] = ()
    mean: float = math.nan
    std: float = math.nan
    best: float = math.nan
    d: float = math.nan
    seconds: float = math.nan

    @property
    def yours(self) -> int:
        """How many did not come with the package."""
        return len(self.seeds) - self.bundled

    @property
    def missing(self) -> tuple[int, ...]:
        """The seeds to run for as many repeats as the paper has, the smallest that are free."""
        taken = {*self.seeds, *self.under_way}
        wanted = max(0, REPEATS - len(taken))
        free = (seed for seed in range(1, REPEATS + len(taken) + 1) if seed not in taken)
        return tuple(seed for seed, _ in zip(free, range(wanted), strict=False))


# --- what is printed ------------------------------------------------------------------------


def tasks(table: int) -> list[str]:
    """The tasks of a table, in the order printed."""
    printed = paper_results()
    return list(dict.fromkeys(printed[printed["table"] == table]["task"]))


@lru_cache(maxsize=64)
def printed_rows(table: int, task: str) -> tuple[PaperRow, ...]:
    """The rows of one task of a table, in the order printed."""
    printed = paper_results()
    chosen = printed[(printed["table"] == table) & (printed["task"] == task)]
    return tuple(_row(record) for record in chosen.to_dict("records"))


def _row(record: Mapping[Any, Any]) -> PaperRow:
    d = None if math.isnan(record["subspace_d"]) else int(record["subspace_d"])
    entrant = METHODS_HERE[record["method"]] + ("" if d is None else f":d={d}")
    config = _config(record["task"], record["D"], entrant)
    return PaperRow(**{**record, "subspace_d": d}, entrant=entrant, config=config, setting=_key_of(config))


def _config(task: str, D: int, entrant: str) -> RunConfig:
    """The setting of a row, with every default of this software."""
    function = _FUNCTION_OF[task.lower()]
    return entrant_config(function, entrant, {"D": D} if function in PAPER_FUNCTIONS else {})


@lru_cache(maxsize=64)
def rows_of(table: int, task: str) -> tuple[PaperRow, ...]:
    """The printed rows of a task, and after them those of our variants of DSEBO."""
    printed, nothing = printed_rows(table, task), (math.nan,) * 4
    ours = []
    for text in VARIANTS:
        config = _config(task, printed[0].D, text)
        about = (table, task, printed[0].D, method_name(text), None)
        ours.append(PaperRow(*about, *nothing, text, config, _key_of(config)))
    return (*printed, *ours)


def references(row: PaperRow) -> tuple[float | None, float | None]:
    """(value at the centre of the box, F*) of a row's task; None where it is not known."""
    known = facts(row.config)
    return known.at_centre, known.minimum


def other_references(row: PaperRow) -> dict[str, float]:
    """What else a row's task is read against, by name: the best constant, the best of random points."""
    known = row.config.objective.references()
    return {name: value for name, value in known.items() if name != CENTRE}


def printed_mean(config: Mapping[str, Any]) -> float | None:
    """What the paper prints for exactly this setting, whatever the seed."""
    return _printed_means().get(setting_key(config))


@lru_cache(maxsize=1)
def _printed_means() -> dict[str, float]:
    rows = (row for n in TITLES for task in tasks(n) for row in printed_rows(n, task))
    return {row.setting: row.mean for row in rows if row.comparable}


# --- what has been run ----------------------------------------------------------------------


def setting_key(config: Mapping[str, Any]) -> str:
    """The same text for the same setting, whatever the seed; fields of later versions filled in."""
    return _canonical(json.dumps({**config, "seed": 1}, sort_keys=True))


def _key_of(config: RunConfig) -> str:
    return setting_key(config.model_dump(mode="json"))


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    try:
        plain = RunConfig.from_json(text).model_dump(mode="json")
    except ConfigError:  # of a method that this version does not know: it is its own setting
        return text
    return json.dumps(plain, sort_keys=True)


def bundled_finals(runs: Iterable[ThinRun]) -> list[FinalRun]:
    """The runs that came with the package."""
    return [
        FinalRun(setting_key(run.config), run.config["seed"], run.best, run.d, run.seconds, True)
        for run in runs
    ]


def peer_finals(runs: Iterable[PeerRun]) -> list[FinalRun]:
    """The runs of other methods that came with the package."""
    return [FinalRun(_key_of(run.config), run.config.seed, run.best, None, run.seconds, True) for run in runs]


def stored_finals(store: Store, wanted: Sequence[str]) -> list[FinalRun]:
    """The stored runs of these tasks that have finished or are under way; imported ones are no evidence."""
    functions = [_FUNCTION_OF[task.lower()] for task in wanted]
    rows = store.list_runs(RunFilter(functions=functions, states=("finished", *ACTIVE), computed=True))
    return [_final(row) for row in rows if row.budget == PAPER_BUDGET]


def _final(row: RunRow) -> FinalRun:
    best = row.best if row.state == "finished" else None
    bundled = row.source == BUNDLED
    return FinalRun(setting_key(row.config), row.seed, best, row.d, row.seconds, bundled)


def own_runs(row: PaperRow, finals: Sequence[FinalRun]) -> Own:
    """What this software has of a row. A seed counts once; the bundled run of it comes first."""
    alike = [run for run in finals if run.setting == row.setting]
    by_seed: dict[int, FinalRun] = {}
    for run in sorted(alike, key=lambda run: not run.bundled):
        if run.best is not None:
            by_seed.setdefault(run.seed, run)
    under_way = sorted({run.seed for run in alike if run.best is None} - set(by_seed))
    if not by_seed:
        return Own(under_way=tuple(under_way))
    ended = [by_seed[seed] for seed in sorted(by_seed)]
    best = np.array([run.best for run in ended], dtype=float)
    d = [run.d for run in ended if run.d is not None]
    return Own(
        seeds=tuple(sorted(by_seed)),
        bundled=sum(run.bundled for run in ended),
        under_way=tuple(under_way),
        mean=float(best.mean()),
        std=float(best.std(ddof=1)) if best.size > 1 else math.nan,
        best=float(best.min()),
        d=float(np.mean(d)) if d else math.nan,
        seconds=float(np.mean([run.seconds for run in ended])),
    )


def apart(row: PaperRow, own: Own) -> float:
    """How many of the printed standard deviations ours lies above (+) or below (−) the paper's."""
    return (own.mean - row.mean) / row.std


def command(row: PaperRow, seeds: Sequence[int]) -> str:
    """The command line that runs this row from these seeds."""
    if not seeds:
        return ""
    task = row.config.objective
    size = f" --D {task.D}" if task.name in PAPER_FUNCTIONS else ""
    return (
        f"dsebo race --methods {row.entrant} --function {task.name}{size} "
        f"--budget {row.config.budget} --seeds {seeds_text(seeds)}"
    )


# --- what could be reproduced, counted ---


@dataclass(frozen=True)
class Tally:
    """Rows of the tables by what can be said of them.

    `unlike`: how many of those run are of tasks that are only like the paper's. The rest are compared.
    """

    printed: int
    run: int
    unlike: int
    within: int
    lower: int
    higher: int


def all_rows() -> list[PaperRow]:
    """Every printed row once: table 4 prints DSEBO's rows of table 1 again."""
    rows = [row for n in TITLES for task in tasks(n) for row in printed_rows(n, task)]
    again = {(row.task, row.D, row.label) for row in rows if row.table in (1, 2)}
    return [r for r in rows if r.table in (1, 2, 3) or (r.task, r.D, r.label) not in again]


def tally(finals: Sequence[FinalRun], rows: Sequence[PaperRow]) -> Tally:
    """Count the rows: those that can be run here, have been, and how far ours is from theirs."""
    pairs = [(row, own_runs(row, finals)) for row in rows]
    run = [(row, own) for row, own in pairs if own.seeds]
    far = [apart(row, own) for row, own in run if row.comparable]
    return Tally(
        printed=len(rows),
        run=len(run),
        unlike=len(run) - len(far),
        within=sum(abs(value) <= FAR for value in far),
        lower=sum(value < -FAR for value in far),
        higher=sum(value > FAR for value in far),
    )


def below_the_centre(rows: Sequence[PaperRow]) -> list[PaperRow]:
    """The rows whose printed mean is no better than one evaluation of the centre of the box."""
    centres = ((row, references(row)[0]) for row in rows if row.comparable)
    return [row for row, centre in centres if centre is not None and row.mean >= centre]


def no_better_than_random(finals: Sequence[FinalRun]) -> list[str]:
    """The methods of table 1 whose printed means are nowhere better than random search here."""
    better: dict[str, list[bool]] = {}
    for task in tasks(1):
        rows = printed_rows(1, task)
        bar = own_runs(next(row for row in rows if row.method == "Random Search"), finals).mean
        for row in rows:
            better.setdefault(row.label, []).append(not row.mean >= bar)
    return [label for label, on_tasks in better.items() if label != "Random Search" and not any(on_tasks)]


def verdict(row: PaperRow, own: Own) -> str:
    """What one row came to here, beside what is printed."""
    if not own.seeds:
        return f"{row.label} has not been run here yet."
    far = apart(row, own)
    words = f"{abs(far):.1f} printed standard deviations {'above' if far > 0 else 'below'} it"
    if abs(far) <= 1:
        words = "within one printed standard deviation"
    mean, n = number(own.mean, 3), count(len(own.seeds), "run")
    printed = f"The paper prints {number(row.mean, 3)}"
    beside = (
        f"{printed} for its own task, which ours is only like" if row.only_like else f"{printed}: {words}"
    )
    return f"{row.label} ends at {mean} here ({n}). {beside}."


def overview(finals: Sequence[FinalRun]) -> list[str]:
    """What the runs so far amount to: DSEBO first, where it has been run, then all methods."""
    rows = all_rows()
    every, own = tally(finals, rows), tally(finals, _of_dsebo(rows))
    if not every.run:
        return [f"None of the {every.printed} printed rows has been run here yet; all can be."]
    some = "" if own.run == own.printed else f"{own.run} of "
    first = f"DSEBO here, beside {some}its {own.printed} rows in the paper: {_in_words(own)}."
    unlike = f"; {every.unlike} are of tasks only like the paper's" if every.unlike else ""
    counts = _in_words(every, bool(own.run))
    rest = f"All methods, {every.run} of {every.printed} rows so far: {counts}{unlike}."
    return [first, rest] if own.run else [rest]


def _of_dsebo(rows: Sequence[PaperRow]) -> list[PaperRow]:
    return [row for row in rows if row.method == "DSEBO" and row.comparable]


def _in_words(rows: Tally, again: bool = False) -> str:
    of_what, best = (
        ("", "") if again else (" three printed standard deviations of the printed mean", " (better)")
    )
    return (
        f"{rows.within or 'none'} within{of_what}, {rows.lower or 'none'} lower{best}, "
        f"{rows.higher or 'none'} higher"
    )


def sentences(finals: Sequence[FinalRun]) -> list[str]:
    """What the runs so far show, in plain words."""
    rows = all_rows()
    ours = _of_dsebo(rows)
    points = overview(finals)
    points += [
        f"{row.label} on {row.task} (D = {row.D}) is printed with mean {row.mean:.4g}, best "
        f"{row.best:.4g} and deviation {row.std:.4g}: no ten values have all three."
        for row in rows
        if not row.possible
    ]
    if blind := no_better_than_random(finals):
        points.append(
            f"What is printed for {' and '.join(blind)} is worse, on all functions of table 1, than the best "
            f"of {PAPER_BUDGET} random points here, which need no model."
        )
    worse = below_the_centre(ours)
    names = ", ".join(f"{row.task} (D = {row.D})" for row in worse)
    if worse:
        points.append(
            f"{len(worse)} of the {len(ours)} means printed for DSEBO are no better than one "
            f"evaluation of the centre of the box: {names}."
        )
    return points
