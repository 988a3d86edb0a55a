"""Files and command lines that nobody means well with."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from unittest import mock

from dsebo.store.store import Store
from dsebo.transfer import export_json
from tests.small import small
from tests.transfer.files import attempt, finished, mutated, pair, rows, whole, zipped


def imports(folder: Path) -> None:
    """1500 truncated or mutated files."""
    store = Store.open(str(folder / "imports.db"))
    ids = [finished(store, small(budget=8)), finished(store, small(budget=3, method="random"))]
    bundle, files = export_json(store, ids), pair()
    outcomes: Counter[str] = Counter()
    before = rows(store)
    for i in range(1500):
        chance = random.Random(i)
        broken = sorted(files)[i % 2]
        data, name = (
            (mutated(bundle, chance), "x.json"),
            (mutated(zipped(files), chance), "x.zip"),
            (zipped({**files, broken: mutated(files[broken], chance)}), "x.zip"),
        )[i % 3]
        found, _ = attempt(store, data, name)
        outcomes["still good, imported whole" if found else "refused in a sentence"] += 1
        if found:
            assert all(whole(store, run_id) for run_id in found)
            before = rows(store)
        assert rows(store) == before
    store.close()
    said = ", ".join(f"{count} {what}" for what, count in outcomes.items())
    print(f"imports: 1500 truncated or mutated files, 0 crashes, 0 partial rows; {said}")


def fuzz(folder: Path) -> None:
    """500 hostile files and 2000 hostile command lines; then all pages over what came in."""
    from streamlit.runtime.scriptrunner import script_runner

    from tests import fuzz as hostile
    from tests.pages import conftest as pages

    database = str(folder / "fuzz.db")
    os.environ |= {"DSEBO_DB": database, "DSEBO_SETTINGS": str(folder / "settings.toml")}
    (folder / "settings.toml").touch()
    store, chance = Store.open(database), random.Random(2)
    ids = [finished(store, small(budget=20)), finished(store, small(budget=3, method="random"))]
    bundle = export_json(store, ids)
    came = [
        run_id
        for _ in range(500)
        for run_id in hostile.check_import(store, hostile.hostile_bundle(chance, bundle))
    ]
    for first in range(0, len(came), 20):
        hostile.check_shown(store, came[first : first + 20])
    links: list[tuple[str, dict[str, str]]] = [
        ("experiments", {}),
        ("experiments", {"runs": ",".join(came[:12])}),
    ]
    links += [("run", {"run": run_id}) for run_id in came[:30]]
    os.chdir(pages.ROOT)
    with mock.patch.object(script_runner, "_mpa_v1", pages._run_router):
        for page, link in links:
            at = pages.open_page(page, None, False, **link)
            assert not at.exception, (page, link, at.exception)
    print(f"fuzz: 500 hostile files, {len(came)} runs came in, none breaks a chart, an export or a page")
    os.chdir(folder)
    ended = Counter(
        hostile.check_command_line(hostile.command_line(chance, ids, folder)) for _ in range(2000)
    )
    store.close()
    said = ", ".join(f"{number} {how}" for how, number in ended.items())
    print(f"fuzz: 2000 hostile command lines, no traceback; {said}")
