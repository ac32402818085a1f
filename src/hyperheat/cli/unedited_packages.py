"""The part of `hyperheat bugs calibrate` that looks at released packages as they are."""

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hyperheat.progress import Progress

if TYPE_CHECKING:
    from hyperheat.bugs.corpus import Package
    from hyperheat.check.unedited import SeenPackage
    from hyperheat.detector.detector import Detector

__all__ = ["look_at_packages"]

_SEED = 0


def look_at_packages(
    packages: Path, workspace: Path, detector: "Detector", *, functions: int, jobs: int
) -> "dict[str, SeenPackage]":
    """What the detector finds in each package of a list of names or of a folder.

    Wheels, and what was found in each package, are kept in the workspace: after an interruption the same call goes on.
    """
    from hyperheat.bugs.corpus import CorpusError, read_names, source_packages

    found = source_packages(packages) if packages.is_dir() else read_names(packages)
    results = workspace / f"seen-{_name(detector, functions)}"
    archives = workspace / "wheels"
    for folder in (results, archives):
        folder.mkdir(parents=True, exist_ok=True)
    seen: dict[str, SeenPackage] = {}
    with Progress("unedited packages", total=len(found), unit="packages", counted="functions") as progress:
        for package in found:
            try:
                seen[package.name] = _look(package, archives, results, detector, functions, jobs)
            except CorpusError as error:
                sys.stderr.write(f"{package.name}: left out: {error}\n")
                progress.advance(0)
                continue
            progress.advance(len(seen[package.name].functions))
    return seen


def _look(
    package: "Package", archives: Path, results: Path, detector: "Detector", functions: int, jobs: int
) -> "SeenPackage":
    from hyperheat.bugs.corpus.package_sources import fetch_wheel, read_folder, read_wheel
    from hyperheat.check.unedited import SeenPackage, look_at_package
    from hyperheat.files import parse_json, write_whole_text

    if package.folder:
        sources = read_folder(Path(package.folder))
    else:
        wheel, _ = fetch_wheel(package, archives)
        sources = read_wheel(wheel)
    record = results / f"{package.name}-{sources.sha256[:16]}.json"
    if record.is_file():
        return SeenPackage.from_plain(parse_json(record.read_bytes()))
    seen = look_at_package(sources.files, detector, functions=functions, seed=_SEED, jobs=jobs)
    write_whole_text(record, json.dumps(seen.to_plain()) + "\n")
    return seen


def _name(detector: "Detector", functions: int) -> str:
    """A name for all that results depend on; the calibration is not among it."""
    from hyperheat.check.cache import hash_rewrites
    from hyperheat.detector.manifest import CALIBRATION, key_of, list_files

    listed = list_files(detector.folder)
    listed.pop(CALIBRATION, None)
    parts = [key_of(listed), hash_rewrites(), str(functions), str(_SEED)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
