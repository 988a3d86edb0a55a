"""`dsebo figure` without a browser: HTML needs none, the others say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.store.store import Store
from dsebo.transfer import figures
from tests.small import small
from tests.transfer.files import finished


def test_a_figure_of_one_run_and_of_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = f"sqlite:///{tmp_path}/runs.db"
    store = Store.open(db)
    ids = [finished(store, small(12, seed=seed)) for seed in (1, 2)]
    store.close()
    for number, given in enumerate((ids[:1], [*ids, ids[0]])):
        file = tmp_path / f"{number}.html"
        made = CliRunner().invoke(app, ["figure", *given, "-o", str(file), "--db", db])
        assert made.exit_code == 0, made.output
        html = file.read_text(encoding="utf-8")
        assert html.count("<figure>") == 1
        assert "budget 12" in html
        assert "(n = 2)" in html if number else ids[0][:8] in html
    monkeypatch.setattr(figures, "browser", lambda: None)
    refused = CliRunner().invoke(app, ["figure", ids[0], "-o", str(tmp_path / "f.pdf"), "--db", db])
    assert refused.exit_code == 2
    assert figures.NO_BROWSER.format(kind="PDF") in " ".join(refused.output.split())
    assert not (tmp_path / "f.pdf").exists()
