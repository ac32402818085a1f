"""Wheels of packages, fetched with pip as the user has configured it, never installed or built.

Only wheels: to get at a source archive's metadata, pip would run its set-up code.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperheat.bugs.corpus.packages import CorpusError, Package, PassingError
from hyperheat.bugs.corpus.records import read_record, write_record
from hyperheat.files import file_sha256

__all__ = ["PARTIAL", "fetch_wheel"]

PARTIAL = ".part"
"""How the names of folders end that downloads are written to."""

_ATTEMPTS = 3
_SECONDS = 180
_NOT_THERE = ("No matching distribution", "Could not find a version")
_HOPELESS = (*_NOT_THERE, "is invalid")
_NO_CONNECTION = "after connection broken by"
"""What pip warns of before it says, without a network, that there is no such package."""


def fetch_wheel(package: Package, folder: Path) -> tuple[Path, dict[str, str]]:
    """The wheel of a package in a folder of archives, with its version and hash; the one fetched first stays."""
    record = folder / f"{package.name}.json"
    if record.exists():
        facts = read_record(record)
        wheel = folder / facts["archive"]
        if wheel.exists() and file_sha256(wheel) == facts["sha256"]:
            return wheel, facts
    # A name of its own for every attempt: the pip of a worker that was killed may still write to the last one.
    with TemporaryDirectory(
        dir=folder, prefix=f".{package.name}.", suffix=PARTIAL, ignore_cleanup_errors=True
    ) as fresh:
        _download(package, Path(fresh))
        wheels = sorted(Path(fresh).glob("*.whl"))
        if len(wheels) != 1:
            raise CorpusError(f"expected one wheel of it, got {len(wheels)}")
        wheel = folder / wheels[0].name
        facts = {"archive": wheel.name, "version": wheel.name.split("-")[1], "sha256": file_sha256(wheels[0])}
        wheels[0].replace(wheel)
    write_record(record, facts)
    return wheel, facts


def _download(package: Package, folder: Path) -> None:
    name = f"{package.name}=={package.version}" if package.version else package.name
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    # -P: from where this Python has it, not from the current folder, which may hold anybody's pip.py.
    command = [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(folder), name]
    problem = ""
    for attempt in range(_ATTEMPTS):
        time.sleep(2.0 * attempt)
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                env={**os.environ, "PIP_PROGRESS_BAR": "off"},
            )
        except subprocess.TimeoutExpired:
            problem = f"the download took more than {_SECONDS} s"
            continue
        if done.returncode == 0:
            return
        problem = _last_error(done.stderr)
        if any(text in done.stderr for text in _NOT_THERE):
            problem = f"no wheel of it was found ({problem})"
        if _NO_CONNECTION in done.stderr:
            problem = "its download failed for want of a connection"
        elif any(text in done.stderr for text in _HOPELESS):
            raise CorpusError(problem)
    raise PassingError(problem)


def _last_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip gave no reason"])[-1][:300]
