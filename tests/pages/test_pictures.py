"""The picture of a task: of the best point at the evaluation that is shown."""

from __future__ import annotations

import json
import re

from dsebo.config import parse_flat
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from tests.pages.conftest import figures, open_page


def place_and_evaluation(run_id: str, **link: str) -> tuple[str, int]:
    """What the picture's title says: the place among the rows, and the evaluation."""
    at = open_page("run", run=run_id, **link)
    assert not at.exception
    words = " ".join(json.dumps(figure["layout"], ensure_ascii=False) for figure in figures(at))
    (told,) = set(re.findall(r"place (\d+) among 7861 synthetic rows, evaluation (\d+)", words))
    return told[0], int(told[1])


def test_it_changes_as_the_run_improves_and_stands_in_replay_at_every_t(manager: RunManager) -> None:
    ids: list[str] = []
    config = parse_flat({"function": "mslr", "variant": "adaptive", "budget": 8})
    list(stored_run(config, manager.store, on_id=ids.append))
    y = list(manager.store.evaluations(ids[0])["y"])
    seen = {}
    for t in (1, 4, 8):
        place, at = seen[t] = place_and_evaluation(ids[0], t=str(t))
        assert at == y.index(min(y[:t])) + 1  # the best until then
        assert int(place) >= 1
    assert place_and_evaluation(ids[0]) == seen[8]
    assert int(seen[8][0]) < int(seen[1][0])  # it climbs
