"""The library and the terminal where only `pip install dsebo` was done: without Streamlit, Plotly …"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dsebo.cli import OF_THE_APP
from tests.processes import anywhere

# In one process, as each would import torch again.
SCRIPT = f"""
import json, sys
sys.modules.update(dict.fromkeys({OF_THE_APP}))  # importing them fails from here on
from typer.testing import CliRunner
from dsebo import minimize
from dsebo.cli import app

def call(*words):
    shown = CliRunner().invoke(app, [*words, "--db", "runs.db"] if words[0] != "app" else list(words))
    return shown.exit_code, shown.stdout, shown.stderr

assert minimize(lambda x: float((x**2).sum()), [(-1, 2)] * 20, budget=6).nfev == 6
shown = {{
    "run": call("run", *"--method random --D 30 --d-e 3 --budget 5 --name small".split()),
    "runs": call("runs"),
}}
run_id = shown["runs"][1].splitlines()[-1].split()[0]
shown["export"] = call("export", run_id)
shown["streamlit"] = call("app")
shown["plotly"] = call("figure", run_id, "-o", "figure.html")
shown["pyarrow"] = call("export", run_id, "--format", "parquet", "-o", "runs.parquet")
print(json.dumps(shown))
"""


def test_all_but_the_dashboard_works_and_what_needs_it_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=anywhere(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["run"][0] == 0, shown["run"]
    assert "small" in shown["runs"][1]
    assert shown["export"][1].count("\n") == 6
    for library in ("streamlit", "plotly", "pyarrow"):
        assert shown[library] == [2, "", f"This needs {library}: pip install 'dsebo[app]'.\n"]
