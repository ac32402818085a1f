"""Small git histories, the same at every run, and a package index for each test."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.bugs.mining.local_index import LocalIndex, serve_index

PERSON = {"NAME": "A", "EMAIL": "a@b.c", "DATE": "2020-01-01T00:00:00Z"}


class History:
    """A repository in which each step writes files and commits them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        people = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in PERSON.items()}
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.folder)}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **people, **settings},
        )
        return done.stdout.strip()

    def commit(self, subject: str, files: dict[str, str | bytes | None]) -> str:
        """Write files, delete those that are None, and commit; the id of the commit."""
        for path, contents in files.items():
            file = self.folder / path
            if contents is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        self.git("add", "--all")
        self.git("-c", "core.autocrlf=false", "commit", "--quiet", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def history(tmp_path) -> History:
    return History(tmp_path / "repos" / "owner+name")


@pytest.fixture
def index():
    with serve_index() as index:
        yield index


@pytest.fixture(params=["html", "json"])
def any_index(request: pytest.FixtureRequest, index: LocalIndex) -> LocalIndex:
    """The index in both forms of its pages."""
    index.form = request.param
    return index


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a program would have slept."""
    naps: list[float] = []
    monkeypatch.setattr("hyperheat.bugs.mining.registry.time.sleep", naps.append)
    return naps
