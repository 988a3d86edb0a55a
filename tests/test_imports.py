"""Who may import whom: one line for each folder, top to bottom, never back up."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = [
    "objectives dsebo.objectives dsebo.events dsebo.embedding dsebo.expansion dsebo.threads",
    "dsebo.gp",
    "dsebo.methods",
    "dsebo.config dsebo.parsing dsebo.text dsebo.qr",
    "dsebo.run dsebo.minimize",
    "dsebo.integrations",
    "dsebo.analysis",
    "dsebo.settings",
    "dsebo.store",
    "dsebo.runs",
    "dsebo.experiments",
    "dsebo.paper dsebo.data",
    "dsebo.charts",
    "dsebo.transfer dsebo.lessons",
    "dsebo.ui dsebo.cli dsebo.__main__ dsebo.notebook",
    "pages app",
]
STREAMLIT = ("dsebo.ui", "pages", "app")  # nothing else knows it


def sources() -> list[Path]:
    paths = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]
    for package in ("dsebo", "objectives"):
        paths += (ROOT / package).rglob("*.py")
    # without the façade, and what the package only links to
    return [path for path in paths if path != ROOT / "dsebo" / "__init__.py" and not path.is_symlink()]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def layer(name: str) -> int | None:
    """The line of LAYERS that a module is in."""
    lines = (i for i, line in enumerate(LAYERS) if any(within(name, package) for package in line.split()))
    return next(lines, None)


def imported(tree: ast.AST, package: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                module = ".".join([*package.split(".")[: 1 - node.level or None], module]).rstrip(".")
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names


def imports_by_string(tree: ast.AST) -> bool:
    """Whether a module is imported by a name that is made or handed on at run time."""
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return not used.isdisjoint({"import_module", "__import__", "run_module", "run_path"})


def test_imports_go_down_the_layers() -> None:
    wrong = []
    for path in sources():
        name = module_name(path)
        own = layer(name)
        if own is None:
            wrong.append(f"{name} is in no line of LAYERS")
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for other in sorted(imported(tree, package)):
            level = layer(other)
            if level is not None and level > own:
                wrong.append(f"{name} imports {other}, which stands above it")
            if within(other, "streamlit") and not any(within(name, home) for home in STREAMLIT):
                wrong.append(f"{name} imports {other}")
            if within(name, "objectives") and within(other, "dsebo"):
                wrong.append(f"{name} imports {other}")
        if imports_by_string(tree) and name != "objectives":  # which only gives its modules another name
            wrong.append(f"{name} imports by a string")
    assert not wrong, "\n".join(wrong)


def loaded(statement: str, modules: tuple[str, ...]) -> list[str]:
    """Which of these modules are in memory after a statement in a fresh interpreter."""
    code = f"import sys; {statement}; print([name for name in {modules} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    names: list[str] = ast.literal_eval(done.stdout)
    return names


def test_settings_can_be_read_without_what_runs_need() -> None:
    assert loaded("import dsebo.config", ("scipy", "torch", "pandas", "streamlit")) == []


LIBRARIES = ("pandas", "scipy", "torch", "botorch", "streamlit", "plotly", "rich", "alembic", "yaml")


def test_the_package_and_the_terminals_help_load_no_library() -> None:
    assert loaded("import dsebo.cli", ("numpy", "pydantic", "sqlalchemy", *LIBRARIES)) == []


def test_runs_are_listed_with_little_more_than_the_database() -> None:
    assert loaded("import dsebo.cli.runs", LIBRARIES) == []


def test_names_of_the_package_are_functions_whatever_was_imported_before() -> None:
    import dsebo.minimize
    import dsebo.run

    assert all(callable(getattr(dsebo, name)) for name in dsebo.__all__ if name != "__version__")
    assert set(dsebo.__all__) <= set(dir(dsebo))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dsebo.nothing  # type: ignore[attr-defined]


def test_runs_start_without_what_only_pages_need() -> None:
    assert loaded("import dsebo.runs.manager", ("pandas", "plotly", "torch", "streamlit")) == []


def test_objectives_are_the_same_modules_by_both_names() -> None:
    first = "import dsebo.objectives.registry as a, objectives.registry as b; assert a is b"
    second = "import objectives as a, dsebo.objectives as b; assert a is b and a.KINDS is b.KINDS"
    for statement in (first, second):
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=ROOT)
    wrong = [path.name for path in (ROOT / "dsebo").rglob("*.py") if _names_objectives(path)]
    assert wrong == [], "the installed package has them as dsebo.objectives only"


def _names_objectives(path: Path) -> bool:
    names = imported(ast.parse(path.read_text(encoding="utf-8")), "")
    return any(within(name, "objectives") for name in names)


def test_no_test_or_benchmark_imports_a_test() -> None:
    """What several of them need stands in a module of its own, such as tests/small.py."""
    wrong = []
    for path in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]):
        name = module_name(path)
        names = imported(ast.parse(path.read_text(encoding="utf-8")), name.rpartition(".")[0])
        tests = {other for other in names if other.startswith("tests.") and ".test_" in other}
        wrong += [f"{name} imports {other}" for other in sorted(tests)]
    assert not wrong, "\n".join(wrong)


def test_the_tests_mirror_the_tree() -> None:
    """Each folder of tests is that of a folder of the software; a test beside them is of one module."""
    folders = {path.name for path in (ROOT / "tests").iterdir() if (path / "__init__.py").exists()}
    tested = {path.name for path in (ROOT / "dsebo").iterdir() if (path / "__init__.py").exists()}
    assert folders <= tested | {"objectives", "benchmarks", "pages", "browser"}
    assert tested - folders <= {"data"}
    modules = {path.stem for path in (ROOT / "dsebo").glob("*.py")}
    singles = {path.stem.removeprefix("test_") for path in (ROOT / "tests").glob("test_*.py")}
    assert singles <= modules | {"imports", "contributing", "docs"}
