"""Who may import whom: top to bottom, never back up; torch and Streamlit only where they belong."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# The layer of each module or package; a module imports its own layer and those above it.
LAYERS = [
    {"objectives", "dsebo.fields", "dsebo.config", "dsebo.method_config", "dsebo.peer_configs",
     "dsebo.embedding", "dsebo.expansion", "dsebo.events", "dsebo.theory"},
    {"dsebo.priors", "dsebo.surrogate", "dsebo.botorch_model", "dsebo.acquisition",
     "dsebo.threads", "dsebo.optimizer"},
    {"dsebo.algorithm", "dsebo.baselines", "dsebo.bandits"},
    {"dsebo.methods"},
    {"dsebo.run", "dsebo.minimize", "dsebo.floor"},
    {"dsebo.runs", "dsebo.analysis", "dsebo.data", "dsebo.insight",
     "dsebo.embedding_view", "dsebo.paper_runs", "dsebo.paper_readings"},
    {"dsebo.sweeps", "dsebo.race", "dsebo.racing", "dsebo.paper", "dsebo.paper_summary"},
    {"dsebo.ui", "dsebo.cli", "dsebo.cli_runs", "dsebo.cli_floor", "dsebo.cli_race",
     "dsebo.cli_sweep", "dsebo.sweep_output",
     "dsebo.terminal", "dsebo.__main__"},
    {"pages", "app"},
]  # fmt: skip
NO_TORCH = LAYERS[0] - {"objectives"}
STREAMLIT = {"dsebo.ui", "pages", "app"}


def sources() -> list[Path]:
    found = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]
    for package in ("dsebo", "objectives"):
        found += (ROOT / package).rglob("*.py")
    return [path for path in found if path.exists() and path != ROOT / "dsebo" / "__init__.py"]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def layer(name: str) -> int | None:
    for level, modules in enumerate(LAYERS):
        if any(name == module or name.startswith(module + ".") for module in modules):
            return level
    return None


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_imports(path: Path) -> None:
    name = module_name(path)
    own = layer(name)
    assert own is not None, f"{name} is in no layer: add it to LAYERS"
    for other in imported(path):
        level = layer(other)
        assert level is None or level <= own, f"{name} imports {other}, which stands below it"
        if other.split(".")[0] == "streamlit":
            assert any(name == s or name.startswith(s + ".") for s in STREAMLIT)
        if name in NO_TORCH:
            assert other.split(".")[0] not in ("torch", "botorch", "gpytorch")
        if name.split(".")[0] == "objectives":
            assert other.split(".")[0] != "dsebo"


def test_the_terminal_starts_without_what_few_commands_need() -> None:
    slow = "scipy.stats", "torch", "botorch", "streamlit", "plotly"
    said = f"import sys, dsebo.cli; print([name for name in {slow} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
