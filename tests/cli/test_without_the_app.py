"""The library and the terminal where only `pip install dsebo` was done: without Streamlit, Plotly …"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dsebo.cli import OF_THE_APP
from tests.processes import ROOT

HIDDEN = f"import sys; sys.modules.update(dict.fromkeys({OF_THE_APP}))"  # importing them fails from here on
MINIMIZE = """
from dsebo import minimize
print(minimize(lambda x: float((x**2).sum()), [(-1, 2)] * 20, budget=6).nfev)
"""
REFUSED = {
    "streamlit": ["app"],
    "plotly": ["figure", "ID", "-o", "figure.html"],
    "pyarrow": ["export", "ID", "--format", "parquet", "-o", "runs.parquet"],
}


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python, where the modules of this folder are imported first."""
    paths = f"{folder}{os.pathsep}{ROOT}"
    env = {**os.environ, "PYTHONPATH": paths, "DSEBO_DB": str(folder / "runs.db")}
    return subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True)


def test_all_but_the_dashboard_works_and_what_needs_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDDEN)
    done = call(tmp_path, "-c", MINIMIZE)
    assert (done.stdout, done.returncode) == ("6\n", 0), done.stderr
    settings = ("--method", "random", "--D", "30", "--d-e", "3", "--budget", "5", "--name", "small")
    made = call(tmp_path, "-m", "dsebo", "run", *settings)
    assert made.returncode == 0, made.stderr
    listed = call(tmp_path, "-m", "dsebo", "runs")
    assert "small" in listed.stdout, listed.stderr
    run_id = listed.stdout.splitlines()[-1].split()[0]
    exported = call(tmp_path, "-m", "dsebo", "export", run_id)
    assert exported.stdout.count("\n") == 6, exported.stderr
    for library, words in REFUSED.items():
        refused = call(tmp_path, "-m", "dsebo", *(run_id if word == "ID" else word for word in words))
        assert refused.stderr == f"This needs {library}: pip install 'dsebo[app]'.\n"
        assert refused.returncode == 2
