"""`hyperheat doctor`: what is installed, which model is used, where results are cached, and what does not work."""

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import hyperheat
from hyperheat.cli.options import ScanOptions, make_checker, read_settings
from hyperheat.cli.outputs import put
from hyperheat.cli.refusal import fail
from hyperheat.extras import EXTRAS

if TYPE_CHECKING:
    from hyperheat.check.checker import Checker
    from hyperheat.detector.detector import Detector

__all__ = ["doctor"]

_WELL, _ILL = 0, 1


@dataclass(frozen=True, kw_only=True)
class _Fact:
    """A line of the result: about what, what is known of it, and whether something is wrong with it."""

    about: str
    text: str
    problem: bool = False


def doctor(*paths: str, model: str | None = None, format: Literal["text", "json"] = "text") -> None:
    """Say what is installed and what does not work.

    Parameters
    ----------
    paths
        Files and folders to check, to count the functions that are not judged. Default: none.
    model
        Name of a model, as hyperheat models lists it, or folder of an exported detector. Default: that of the project.
    format
        text, or json for programs.
    """
    from hyperheat.visible_text import dump_json, visible_line
    from hyperheat.workers.outcomes import WorkersError

    try:
        facts = [*_versions(), *_extras(), *_tools(), *_model_and_cache(model)]
        if paths and not any(fact.problem for fact in facts):
            facts += _functions(paths, model)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    if format == "json":
        rows = [{"about": fact.about, "text": fact.text, "problem": fact.problem} for fact in facts]
        put(f"{dump_json(rows, indent=2)}\n", sys.stdout)
    else:
        before = ""
        for fact in facts:
            about = fact.about if fact.about != before else ""
            mark = "PROBLEM: " if fact.problem else ""
            put(visible_line(f"{about:<10} {mark}{fact.text}") + "\n", sys.stdout)
            before = fact.about
    raise SystemExit(_ILL if any(fact.problem for fact in facts) else _WELL)


def _versions() -> Iterator[_Fact]:
    yield _Fact(about="hyperheat", text=f"{hyperheat.__version__}, {Path(hyperheat.__file__).parent}")
    name = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    yield _Fact(about="python", text=python)
    yield _Fact(
        about="python", text=f"reads the syntax of Python {name} and older; newer code needs a newer Python"
    )
    for package in ("numpy", "cyclopts", "rich"):
        found = _version(package)
        yield _Fact(about=package, text=found or "not installed", problem=found is None)


def _extras() -> Iterator[_Fact]:
    for extra, packages in EXTRAS.items():
        found = {package: _version(package) for package in packages}
        missing = [package for package, known in found.items() if known is None]
        if missing:
            text = f"{extra}: {', '.join(missing)} not installed; to get it: pip install 'hyperheat[{extra}]'"
        else:
            text = f"{extra}: {', '.join(f'{package} {known}' for package, known in found.items())}"
        yield _Fact(about="extras", text=text)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _tools() -> Iterator[_Fact]:
    """The programs that some commands start; none is started here."""
    named = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), "")
    found = shutil.which(shlex.split(named)[0]) if named else None
    yield _Fact(
        about="compiler",
        text=f"{found}, for the kernels of training"
        if found
        else "none (tried $CC, cc, gcc, clang); training works without its kernels, but slower",
    )
    git = shutil.which("git")
    yield _Fact(about="git", text=git or "none; needed for --since and fix --write")


def _model_and_cache(model: str | None) -> Iterator[_Fact]:
    from hyperheat.check.cache import CacheError
    from hyperheat.check.settings import SettingsError

    try:
        checker = _checker((".",), model)
    except ValueError as error:
        kinds = {SettingsError: "settings", CacheError: "cache"}
        about = next((name for kind, name in kinds.items() if isinstance(error, kind)), "model")
        yield _Fact(about=about, text=str(error), problem=True)
        return
    yield _Fact(about="settings", text=str(checker.settings.source or "none: the defaults apply"))
    yield from _model(checker.detector)
    yield from _cache(checker)


def _model(detector: "Detector") -> Iterator[_Fact]:
    from hyperheat.detector.manifest import load_detector_files

    yield _Fact(about="model", text=f"{detector.name}, {detector.folder}")
    try:
        load_detector_files(detector.folder)
    except (ValueError, OSError) as error:
        yield _Fact(about="model", text=str(error), problem=True)
        return
    yield _Fact(about="model", text=f"sha256 {detector.sha256}; all files are those of the manifest")
    tiers = [tier if tier == "safe" else f"tier {tier}" for tier in detector.calibration.tiers]
    yield _Fact(about="model", text=", ".join(tiers) or "no tiers")
    if reason := detector.calibration.why_empty("A"):
        yield _Fact(about="model", text=f"tier A is empty: {reason}")


def _cache(checker: "Checker") -> Iterator[_Fact]:
    if checker.cache is None:
        yield _Fact(about="cache", text="none: there is no home folder; set HYPERHEAT_CACHE to have one")
        return
    folder = checker.cache.folder
    files = [path for path in folder.rglob("*.json") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    yield _Fact(about="cache", text=f"{folder}, {size / 1e6:.1f} MB in {len(files)} files")
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    writable = os.access(existing, os.W_OK | os.X_OK)
    yield _Fact(
        about="cache",
        text="writable" if writable else f"{existing} cannot be written: results are not kept",
        problem=not writable,
    )


def _functions(paths: Sequence[str], model: str | None) -> Iterator[_Fact]:
    """How many functions are judged, and why the others are not."""
    checker = _checker(paths, model)
    scan = checker.scan_paths(paths)
    functions = [function for file in scan.files for function in file.functions]
    judged = sum(function.no_bug is not None for function in functions)
    skipped = [error for file in scan.files for error in file.errors]
    total = len(functions) + sum(error.reason.startswith("the function ") for error in skipped)
    files = sum(file.is_checked for file in scan.files)
    yield _Fact(about="functions", text=f"{total:,} in {files:,} files, {judged:,} of them judged")
    if small := len(functions) - judged:
        least = checker.detector.calibration.min_candidates
        yield _Fact(
            about="functions",
            text=f"{small / total:.0%} not judged: fewer than {least} candidate changes, or IPython commands",
        )
    if large := total - len(functions):
        yield _Fact(about="functions", text=f"{large / total:.0%} not judged: too large, or over a limit")
    if unread := len(scan.files) + len(scan.errors) - files:
        yield _Fact(about="functions", text=f"{unread:,} files could not be checked: see hyperheat check")


def _checker(paths: Sequence[str], model: str | None) -> "Checker":
    options = ScanOptions(model=model, quiet=True)
    return make_checker(options, read_settings(paths, options))
