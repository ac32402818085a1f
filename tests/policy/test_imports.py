"""Who may import whom, and what a light start may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hyperheat

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hyperheat"

MAY_IMPORT = {
    "alarm_rate": set(),
    "files": set(),
    "extras": set(),
    "source_encoding": set(),
    "spelling": set(),
    "configuration": {"spelling"},
    "lazy_names": set(),
    "visible_text": set(),
    "progress": {"visible_text"},
    "hypergraph": {"extras", "files", "spelling", "visible_text"},
    "pycode": {"hypergraph", "source_encoding"},
    "rewrites": {"pycode"},
    "tensors": {"files", "hypergraph"},
    "nn": {"files", "configuration", "hypergraph", "tensors"},
    "train": {"files", "configuration", "progress"},
    "workers": set(),
    "git": set(),
    "detector": {"alarm_rate", "lazy_names", "files", "hypergraph", "pycode", "rewrites", "tensors"},
    "bugs": {
        *("extras", "files", "configuration", "progress", "workers", "git"),
        *("hypergraph", "pycode", "rewrites", "tensors", "nn", "train", "detector"),
    },
    "report": {"lazy_names", "alarm_rate", "visible_text"},
    "check": {
        *("source_encoding", "spelling", "files", "progress", "workers", "git", "visible_text"),
        *("lazy_names", "pycode", "rewrites", "detector", "report"),
    },
    "kg": {
        "lazy_names",
        "spelling",
        "extras",
        "files",
        "configuration",
        "hypergraph",
        "tensors",
        "nn",
        "train",
    },
    "web": {
        *("alarm_rate", "hypergraph", "pycode", "detector", "check", "workers", "report", "kg"),
    },
    "lsp": {"check", "detector", "report", "spelling", "visible_text", "workers"},
    "reproduce": {
        *(
            "files",
            "configuration",
            "progress",
            "spelling",
            "tensors",
            "nn",
            "train",
            "detector",
            "bugs",
            "kg",
        ),
    },
    "cli": {
        *("reproduce", "lsp", "hypergraph", "nn", "pycode", "rewrites", "train", "bugs", "kg", "report"),
        *("alarm_rate", "check", "detector", "files", "spelling", "configuration", "workers", "progress"),
        *("visible_text", "web", "extras"),
    },
}
_LIGHT = {
    "alarm_rate",
    "source_encoding",
    "spelling",
    "extras",
    "configuration",
    "lazy_names",
    "visible_text",
    "progress",
    "files",
    "hypergraph",
    "pycode",
    "rewrites",
    "tensors",
    "kg",
    "report",
    "detector",
    "check",
    "lsp",
    "cli",
    "web",
    "workers",
    "git",
}
FILES = sorted(SOURCE.rglob("*.py"))


def imported_modules(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Absolute names of the modules a file imports, those under TYPE_CHECKING left out."""
    found = set()
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            if node.module == "hyperheat":
                homes = hyperheat._HOMES
                found.update(f"hyperheat.{homes.get(alias.name, alias.name)}" for alias in node.names)
        elif _is_skipped(node, top_level_only):
            continue
        stack.extend(ast.iter_child_nodes(node))
    return found


def imported_packages(path: Path) -> set[str]:
    """The packages and modules directly under hyperheat that a file imports from."""
    names = [module.split(".") for module in imported_modules(path)]
    return {parts[1] for parts in names if parts[0] == "hyperheat" and len(parts) > 1}


def _is_skipped(node: ast.AST, top_level_only: bool) -> bool:
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return True
    return top_level_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def test_every_package_has_a_rule():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert packages | modules == set(MAY_IMPORT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_in_one_direction(path):
    package = path.relative_to(SOURCE).with_suffix("").parts[0]
    if package not in MAY_IMPORT:
        return
    assert imported_packages(path) <= {package, *MAY_IMPORT[package]}


def test_every_permission_is_used():
    used: dict[str, set[str]] = {package: set() for package in MAY_IMPORT}
    for path in FILES:
        package = path.relative_to(SOURCE).with_suffix("").parts[0]
        used.get(package, set()).update(imported_packages(path))
    assert {package: allowed - used[package] for package, allowed in MAY_IMPORT.items()} == {
        package: set() for package in MAY_IMPORT
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_pickled_and_torch_stays_in_its_packages(path):
    assert not imported_modules(path) & {"pickle", "shelve", "marshal", "dill", "joblib"}
    assert "torch.load(" not in path.read_text(encoding="utf-8")
    package, *inside = path.relative_to(SOURCE).with_suffix("").parts
    if package in _LIGHT and "neural" not in inside:
        top_level = imported_modules(path, top_level_only=True)
        assert not {name.split(".")[0] for name in top_level} & {
            "torch",
            "pyarrow",
            "networkx",
            "torch_geometric",
        }


def test_what_a_scan_loads_needs_no_training_packages():
    """All modules that the checker's package and its command may import, at once or later, and what those import."""
    pending = [
        *(SOURCE / "check").glob("*.py"),
        *SOURCE.glob("cli/check*.py"),
        SOURCE / "detector/scorer.py",
    ]
    seen: set[Path] = set()
    outside: set[str] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        for module in imported_modules(path, top_level_only=path.parent.name != "check"):
            root, *parts = module.split(".")
            if root != "hyperheat":
                outside.add(root)
                continue
            places = [SOURCE.joinpath(*parts[:count]) for count in range(len(parts) + 1)]
            files = [file for place in places for file in (place / "__init__.py", place.with_suffix(".py"))]
            pending += [file for file in files if file.is_file()]
    assert SOURCE / "rewrites" / "edit.py" in seen
    assert not outside & {"torch", "pyarrow", "safetensors", "networkx"}


def test_there_is_no_drawer_for_odds_and_ends():
    assert not [path for path in FILES if path.stem in {"utils", "common", "helpers", "misc"}]


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import hyperheat", {"torch", "numpy", "rich", "cyclopts"}),
        ("import hyperheat.hypergraph, hyperheat.tensors, hyperheat.pycode", {"torch", "pyarrow"}),
        (
            "import sys; sys.argv[1:] = ['--help']\nfrom hyperheat.cli import main\ntry: main()\nexcept SystemExit: pass",
            {"torch", "numpy", "rich.markdown"},
        ),
    ],
    ids=["import", "packages", "help"],
)
def test_a_light_start_loads_little(code, absent):
    script = (
        f"{code}\nimport sys\nsys.stderr.write(','.join(m for m in {sorted(absent)!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_public_names_are_few_and_all_there():
    assert len(hyperheat.__all__) <= 20
    for name in hyperheat.__all__:
        assert getattr(hyperheat, name) is not None
    assert dir(hyperheat) == sorted([*hyperheat.__all__, "__version__"])
    with pytest.raises(AttributeError, match="has no attribute 'Heet'; it offers"):
        _ = hyperheat.Heet  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("package", ["check", "detector", "kg"])
def test_a_package_shows_its_public_names_only(package):
    module = getattr(hyperheat, package)
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Heet'; it offers"):
        _ = module.Heet


@pytest.mark.parametrize("name", hyperheat.__all__)
def test_a_public_name_is_found_by_importing_hyperheat_alone(name):
    script = f"import hyperheat\nassert hyperheat.{name} is not None"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_missing_torch_is_said_in_one_sentence():
    script = (
        "import sys\nsys.modules['torch'] = None\nimport hyperheat\n"
        "try: hyperheat.HeatEncoder\nexcept ModuleNotFoundError as error: sys.stdout.write(str(error))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "hyperheat.HeatEncoder needs torch: pip install 'hyperheat[train]'"
