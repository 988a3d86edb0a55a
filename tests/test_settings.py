from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dsebo.config import RunConfig, predict
from dsebo.settings import MOST_FILES, Settings
from objectives.fields import ConfigError

EXAMPLE = """
mode = "class"
lecturer_token = "chalk-on-a-blackboard"
slots = 3
database = "sqlite:///here.db"
[limits.owner]
active = 2
queued = 10
budget = 1000
D = 100000
memory_mb = 500
seconds = 3600
[limits.all]
active = 20
"""


def test_one_file_sets_everything(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "s.toml").write_text(EXAMPLE)
    monkeypatch.setenv("DSEBO_SETTINGS", str(tmp_path / "s.toml"))
    settings = Settings.load()
    assert (settings.mode, settings.lecturer_token, settings.slot_count) == (
        "class",
        "chalk-on-a-blackboard",
        3,
    )
    assert settings.owner_limits.memory_mb == 500
    assert settings.all_limits.active == 20
    assert settings.all_limits.queued is None


def test_the_users_own_file_and_none(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("DSEBO_SETTINGS", raising=False)
    assert Settings.load() == Settings()
    assert Settings().mode == "local"
    assert Settings().slot_count >= 1
    assert Settings().owner_limits.active is None
    assert Settings(mode="class").owner_limits.active is not None
    file = tmp_path / "config" / "dsebo" / "settings.toml"
    file.parent.mkdir(parents=True)
    file.write_text("slots = 7")
    assert Settings.load().slots == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slots = 0", r"slots: .* \(got 0\)"),
        ("slots = 'two'", r"slots: .* \(got 'two'\)"),
        ("mode = 'open'", r"mode: .* \(got 'open'\)"),
        ("[limits.owner]\nactiv = 3", r"limits.owner.activ: .* \(got 3\)"),
        ("lecturer_token = 'chalk'", r"lecturer_token: .* at least 16 characters; .*token_urlsafe.*\"\.$"),
        ("join_code = 'us'", r"join_code: .* at least 8 characters"),
        ("proxies = ['nginx']", r"proxies.0: .* \(got 'nginx'\)"),
        ("slots =\n", r"s\.toml are not TOML: .*line 1"),
    ],
)
def test_a_bad_settings_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ConfigError, match=said):
        Settings.load(tmp_path / "s.toml")


def test_a_missing_settings_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml cannot be read: No such file"):
        Settings.load(tmp_path / "gone.toml")


def test_prediction_grows_with_what_costs() -> None:
    def config(**more: Any) -> RunConfig:
        objective = {"D": more.pop("D", 1000)}
        method = {"method": more.pop("method", "dsebo")}
        return RunConfig.parse({"objective": objective, "optimizer": method, **more})

    base = predict(config(budget=100))
    assert predict(config(budget=500)).seconds > 5 * base.seconds
    assert predict(config(budget=500, D=100_000)).memory_bytes > 8 * 100_000 * 100
    assert predict(config(method="random", budget=100)).seconds < base.seconds
    assert predict(config(method="centre", budget=100)).seconds < base.seconds


def test_a_server_may_open_as_many_files_as_the_system_lets_it() -> None:
    script = (
        "import resource as r; from dsebo.settings import raise_open_files;"
        "h = r.getrlimit(r.RLIMIT_NOFILE)[1]; r.setrlimit(r.RLIMIT_NOFILE, (256, h));"
        "print(raise_open_files(), h, raise_open_files())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    now, hard, again = map(int, done.stdout.split())
    assert now == again == (MOST_FILES if hard == -1 else min(hard, MOST_FILES))
