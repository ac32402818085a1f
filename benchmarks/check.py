"""How long a scan takes and how much memory: cold, warm and after a change of one function, beside pylint.

With `--before CHECKOUT` another version of hyperheat takes the same steps in turns with this one.

All work on a copy of the code, which is changed, with temporary caches.
"""

import ast
import json as json_module
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import hyperheat
from benchmarks.command import Positive, fail, run
from benchmarks.timing import Run, run_command

__all__ = ["STEPS", "change_function", "find_pylint", "main", "measure_check"]

_PYLINT_USAGE = 32
"""The exit code of pylint when it was called wrongly; those below say what was found."""


def find_pylint() -> str | None:
    """The pylint beside this Python, or else that on the path."""
    return shutil.which("pylint", path=str(Path(sys.executable).parent)) or shutil.which("pylint")


def measure_check(
    source: Path,
    *,
    model: Path | None,
    repeats: int,
    jobs: int,
    pylint: str | None,
    before: Path | None = None,
    progress: Callable[[str], object] = lambda line: None,
) -> dict[str, Any]:
    """The medians of all steps, which take turns, over the given number of repeats; then the memory of a cold scan.

    start     an empty folder: what the command costs if there is nothing to scan
    ready     one short function: the start with a worker and the model
    cold      all of the code, with an empty cache
    warm      the same again
    changed   the same after one function has changed

    `before` is a checkout of another version, which takes the same steps.
    """
    files = sorted(source.rglob("*.py")) if source.is_dir() else [source]
    if not files:
        raise ValueError(f"{source}: expected Python files, got none")
    versions = [_NOW] if before is None else [_NOW, _sources_of(before)]
    seconds: dict[Path | None, dict[str, list[float]]] = {version: {} for version in versions}
    with tempfile.TemporaryDirectory(prefix="hyperheat-bench-") as folder:
        bench = _Bench(Path(folder), source, model, jobs)
        for turn in range(repeats):
            for version, step, run in bench.turn(turn, pylint, versions):
                seconds[version].setdefault(step, []).append(run.seconds)
                which = step if version is _NOW else f"{step}, before"
                progress(f"turn {turn + 1} of {repeats}: {which} {run.seconds:.2f} s")
        peak = {
            version: bench.check(bench.code, f"memory-{number}", version, memory=True).peak_mb
            for number, version in enumerate(versions)
        }
        peaks = {"cold": peak[_NOW]}
        if pylint:
            peaks["pylint"] = bench.pylint(pylint, memory=True).peak_mb
    medians, *earlier = (
        {step: round(statistics.median(values), 3) for step, values in of.items()} for of in seconds.values()
    )
    return {
        "files": len(files),
        "lines": sum(path.read_bytes().count(b"\n") for path in files),
        "repeats": repeats,
        "jobs": jobs,
        "seconds": medians,
        "changed_after": {step: round(medians["changed"] - medians[step], 3) for step in ("start", "ready")},
        "over_pylint": round(medians["cold"] / medians["pylint"], 3) if pylint else None,
        "peak_mb": {step: peak and round(peak) for step, peak in peaks.items()},
        **({"before": {"seconds": earlier[0], "peak_mb": round(peak[versions[1]] or 0)}} if earlier else {}),
    }


_NOW: Path | None = None
"""The version that runs this benchmark; others are the folder of their sources."""


def _sources_of(checkout: Path) -> Path:
    sources = (checkout / "src").resolve()
    if not (sources / "hyperheat").is_dir():
        raise ValueError(f"before: expected a checkout of hyperheat, got {checkout}")
    return sources


class _Bench:
    """A copy of some code, and the commands that are measured on it."""

    def __init__(self, folder: Path, source: Path, model: Path | None, jobs: int) -> None:
        self.folder, self.model, self.jobs = folder, model, jobs
        self.code = folder / "code" / source.name
        self.empty, self.short = folder / "empty", folder / "short"
        for made in (self.empty, self.short):
            made.mkdir()
        (self.short / "short.py").write_text("def same(value):\n    return value\n", encoding="utf-8")
        self.code.parent.mkdir()
        if source.is_dir():
            shutil.copytree(source, self.code, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, self.code)

    def turn(
        self, number: int, pylint: str | None, versions: list[Path | None]
    ) -> Iterator[tuple[Path | None, str, Run]]:
        """Each step once, by each version; every other turn another one begins."""
        order = [(version, f"{index}-{number}") for index, version in enumerate(versions)]
        if number % 2:
            order.reverse()
        for step, code, prefix in (
            ("start", self.empty, "start"),
            ("ready", self.short, "ready"),
            ("cold", self.code, "cold"),
            ("warm", self.code, "cold"),
        ):
            for version, name in order:
                yield version, step, self.check(code, f"{prefix}-{name}", version)
        change_function(self.code, number)
        for version, name in order:
            yield version, "changed", self.check(self.code, f"cold-{name}", version)
        if pylint:
            yield _NOW, "pylint", self.pylint(pylint)

    def check(self, code: Path, cache: str, version: Path | None, *, memory: bool = False) -> Run:
        """Scan with the cache of a name, which may be new."""
        command = [sys.executable, "-m", "hyperheat", "check", str(code), "-j", str(self.jobs)]
        if self.model is not None:
            command += ["--model", str(self.model.resolve())]
        run = self._run(
            [*command, "--cache-dir", str(self.folder / f"cache-{cache}")], memory=memory, version=version
        )
        if run.code not in (0, 1):  # nothing or something was found
            raise ValueError(
                f"hyperheat check: expected a scan, got exit code {run.code}: {run.errors.strip()}"
            )
        return run

    def pylint(self, program: str, *, memory: bool = False) -> Run:
        """Everything that pylint checks unless it is told."""
        run = self._run([program, f"-j{self.jobs}", "--persistent=n", str(self.code)], memory=memory)
        if run.code >= _PYLINT_USAGE:
            raise ValueError(f"pylint: expected a scan, got exit code {run.code}: {run.errors.strip()}")
        return run

    def _run(self, command: list[str], *, memory: bool, version: Path | None = _NOW) -> Run:
        environment = {**os.environ, "PYLINTHOME": str(self.folder / "pylint")}
        if version is not _NOW:
            environment["PYTHONPATH"] = str(version)
        return run_command(command, environment, folder=self.folder, memory=memory)


def change_function(code: Path, number: int) -> None:
    """Add a statement to the end of one function of a file or folder, another for each number."""
    for path in sorted(code.rglob("*.py")) if code.is_dir() else [code]:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for node in ast.walk(ast.parse("".join(lines))):
            if isinstance(node, ast.FunctionDef) and node.body[-1].lineno > node.lineno:
                last = node.body[-1]
                indent = lines[node.body[0].lineno - 1][: node.body[0].col_offset]
                lines.insert(last.end_lineno or last.lineno, f"{indent}measured_turn = {number} + 1\n")
                path.write_text("".join(lines), encoding="utf-8")
                return
    raise ValueError(f"{code}: expected a function of several lines, got none")


STEPS = {
    "start": "start, nothing to scan",
    "ready": "start with worker and model",
    "cold": "cold scan, empty cache",
    "warm": "warm scan, nothing changed",
    "changed": "one function changed",
    "pylint": "pylint",
}


def main(
    path: Path | None = None,
    /,
    *,
    model: Path | None = None,
    repeats: Positive = 3,
    jobs: Annotated[Positive, Parameter(alias="-j")] = 2,
    pylint: bool = True,
    before: Path | None = None,
    json: bool = False,
) -> None:
    """Scan a copy of some code with an empty cache, again, and after a change, in turns with pylint if it is installed.

    Parameters
    ----------
    path
        A file or folder of Python code; the source of hyperheat itself unless given.
    model
        A folder that bugs export wrote; the model in the package unless given.
    repeats
        Turns that each takes; the median counts.
    jobs
        Processes of each scan, those of pylint too.
    pylint
        Whether to measure pylint beside it, if it is there.
    before
        A checkout of another commit, to measure beside this one.
    json
        Print one JSON object.
    """
    source = path or Path(hyperheat.__file__).parent
    if not source.exists():
        fail(f"{source}: no such file or folder")
    try:
        measured = measure_check(
            source,
            model=model,
            repeats=repeats,
            jobs=jobs,
            pylint=find_pylint() if pylint else None,
            before=before,
            progress=lambda line: sys.stderr.write(f"{line}\n"),
        )
    except (ValueError, OSError, SyntaxError) as error:
        fail(error)
    content = {"code": source.resolve().name, **measured}
    sys.stdout.write((json_module.dumps(content, indent=1) if json else _table(content)) + "\n")


def _table(content: dict[str, Any]) -> str:
    rows = [
        f"{content['code']}: {content['files']:,} files, {content['lines']:,} lines; medians of {content['repeats']} turns, "
        f"{content['jobs']} processes",
        "",
    ]
    for step, seconds in content["seconds"].items():
        peak = content["peak_mb"].get(step)
        rows.append(f"{STEPS[step]:<28} {seconds:>8.2f} s" + (f"  {peak:>7,} MB" if peak else ""))
    if earlier := content.get("before"):
        rows.append("")
        for step, seconds in earlier["seconds"].items():
            peak = f"  {earlier['peak_mb']:>7,} MB" if step == "cold" else ""
            ratio = content["seconds"][step] / seconds
            rows.append(f"{'before: ' + STEPS[step]:<36} {seconds:>8.2f} s  now {ratio:.2f} times{peak}")
    after = content["changed_after"]
    rows += [
        "",
        f"one changed function: {after['ready']:.2f} s after the start with worker and model,",
        f"{after['start']:.2f} s after the start without",
    ]
    if content["over_pylint"] is None:
        rows.append("pylint was not measured: it is not installed, or was not asked for")
    else:
        rows.append(f"a cold scan takes {content['over_pylint']:.2f} times as long as pylint")
    return "\n".join(rows)


if __name__ == "__main__":
    run(main)
