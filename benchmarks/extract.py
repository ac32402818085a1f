"""How fast Python functions become hypergraphs, beside parsing and tokenizing alone."""

import ast
import io
import json as json_module
import sys
import sysconfig
import time
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.command import fail, run
from hyperheat.pycode import SourceError, extract
from hyperheat.pycode.calls.project import ProjectIndex

__all__ = ["ExtractionSpeed", "main", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSpeed:
    """What a run measured, in CPU seconds of this process and without the files that give no graph."""

    functions_per_second: float
    kb_per_second: float
    cost_over_parse_and_tokenize: float
    calls: int
    calls_resolved: int
    files: int
    files_failed: int


def main(*, json: bool = False, paths: list[Path] | None = None) -> None:
    """Measure extraction on the standard library of the running Python, test suite included.

    Parameters
    ----------
    json
        Print one JSON object instead of a table.
    paths
        Other files to read, or folders, each of which is one project.
    """
    roots = paths or [Path(sysconfig.get_paths()["stdlib"])]
    for root in roots:
        if not root.exists():
            fail(f"{root}: no such file or folder")
    speed = measure(roots)
    sys.stdout.write((json_module.dumps(asdict(speed)) if json else _table(speed)) + "\n")


def measure(roots: list[Path]) -> ExtractionSpeed:
    """Extract every file, and parse and tokenize it, in turns; each folder is one project."""
    extract("def warm_up(): print()")  # loads the tables of signatures
    projects = [ProjectIndex.build(root) if root.is_dir() else None for root in roots]
    files = [
        (path, project) for root, project in zip(roots, projects, strict=True) for path in _python_files(root)
    ]
    reference = own = 0.0
    size = functions = calls = resolved = failed = 0
    for path, project in files:
        source = path.read_bytes()
        try:
            start = time.process_time()
            module = extract(source, path, project)
            middle = time.process_time()
            _parse_and_tokenize(source)
            end = time.process_time()
        except (SourceError, SyntaxError, tokenize.TokenError):
            failed += 1
            continue
        own += middle - start
        reference += end - middle
        size += len(source)
        functions += len(module.functions)
        calls += sum(function.calls.calls for function in module.functions)
        resolved += sum(function.calls.resolved for function in module.functions)
    return ExtractionSpeed(
        functions_per_second=round(functions / own, 1) if own else 0.0,
        kb_per_second=round(size / 1000 / own, 1) if own else 0.0,
        cost_over_parse_and_tokenize=round(own / reference, 2) if reference else 0.0,
        calls=calls,
        calls_resolved=resolved,
        files=len(files),
        files_failed=failed,
    )


def _parse_and_tokenize(source: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(source)
    for _ in tokenize.tokenize(io.BytesIO(source).readline):
        pass


def _python_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for path in sorted(root.rglob("*.py")):
        if "site-packages" not in path.relative_to(root).parts and path.is_file():
            yield path


def _table(speed: ExtractionSpeed) -> str:
    share = speed.calls_resolved / speed.calls if speed.calls else 0.0
    rows = [
        ("functions per second", f"{speed.functions_per_second:,.0f}"),
        ("KB per second", f"{speed.kb_per_second:,.0f}"),
        ("cost over ast.parse + tokenize", f"{speed.cost_over_parse_and_tokenize:.2f} times"),
        ("calls resolved to formal names", f"{speed.calls_resolved:,} of {speed.calls:,} ({share:.1%})"),
        ("files", f"{speed.files:,}, of which {speed.files_failed:,} give no graph"),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


if __name__ == "__main__":
    run(main)
