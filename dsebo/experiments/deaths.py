"""Whose fault it is that workers die.

A pool that loses one process fails all that it had, so one run that kills its workers would take
others with it. Whoever was in two broken pools without getting on is tried alone: of one that was
alone one knows that it was its own fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from dsebo.experiments.spec import Planned

MAX_DEATHS = 5  # of workers on one run, by its own fault, after which it is given up
_MAX_SHARED = 2  # broken pools in which a run was with others, after which it is tried alone


class Deaths:
    """What is held against each run. One that has got on since is begun with anew.

    Args:
        evaluated: How many evaluations of a run are stored.
    """

    def __init__(self, evaluated: Callable[[Planned], int]) -> None:
        self._evaluated = evaluated
        self._own: Counter[str] = Counter()
        self._shared: Counter[str] = Counter()
        self._reached: dict[str, int] = {}

    def suspected(self, planned: Planned) -> bool:
        """Whether it must be tried alone: until it gets on."""
        if self._shared[planned.hash] < _MAX_SHARED:
            return False
        return self._evaluated(planned) <= self._reached.get(planned.hash, 0)

    def shared(self, lost: Iterable[Planned]) -> None:
        """A pool broke that had all of these."""
        for planned in lost:
            self._count(self._shared, planned)

    def alone(self, planned: Planned) -> bool:
        """A pool broke that had only this one, so the others are cleared; as `own`."""
        self._shared = Counter({planned.hash: _MAX_SHARED})
        return self.own(planned)

    def own(self, planned: Planned) -> bool:
        """Its worker died, and only its worker; whether it is to be given up."""
        self._count(self._own, planned)
        return self._own[planned.hash] >= MAX_DEATHS

    def _count(self, deaths: Counter[str], planned: Planned) -> None:
        done = self._evaluated(planned)
        if done > self._reached.get(planned.hash, 0):
            self._own[planned.hash] = self._shared[planned.hash] = 0
            self._reached[planned.hash] = done
        deaths[planned.hash] += 1
