"""The pages of one scan, asked directly or through a real server."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.web.projects import write_project

from hyperheat.check.checker import Checker, Scan
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import load_detector
from hyperheat.report import Report
from hyperheat.web.code_site import CodeSite
from hyperheat.web.desk import Desk
from hyperheat.web.serving import Address, make_app

ADDRESS = Address(8000, "secret")


@dataclass(frozen=True)
class Pages:
    """A client of the pages, and what they are about."""

    client: TestClient
    scan: Scan
    report: Report

    def get(self, path: str, status: int = 200, **parameters: str | int) -> str:
        """What stands at a path under the secret."""
        answer = self.client.get(f"/secret/{path}", params=parameters or None)
        assert answer.status_code == status, answer.text
        return answer.text

    def number(self, path: str) -> int:
        """The number of a file."""
        paths = [file.path for file in self.scan.files if file.functions]
        return next(number for number, name in enumerate(paths) if name.endswith(path))


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_project(folder)
    return folder


@pytest.fixture(scope="package")
def pages(project: Path) -> Iterator[Pages]:
    checker = Checker(settings=Settings(jobs=1), detector=load_detector(), root=project)
    scan = checker.scan_paths([project])
    report = scan.with_every_tier().report()
    with Desk(scan.detector) as desk, Desk(scan.detector) as slow_desk:
        site = CodeSite(scan, report, desk=desk, slow_desk=slow_desk)
        app = make_app(site.readers(), ADDRESS)
        yield Pages(TestClient(app, base_url="http://127.0.0.1:8000"), scan, report)


def start(*words: str) -> tuple[subprocess.Popen[str], str]:
    """A server and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperheat", "explore", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert process.stderr is not None
    said = ""
    while not (found := re.search(r"http://\S+", said)):
        line = process.stderr.readline()
        assert line, f"the server ended: {said}"
        said += line
    return process, found[0]


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate(timeout=30)


@pytest.fixture(scope="package")
def server(project: Path) -> Iterator[str]:
    """The address of `hyperheat explore`, started as a user does."""
    process, url = start(str(project))
    yield url
    stop(process)


@pytest.fixture(scope="package")
def statement_server() -> Iterator[str]:
    process, url = start("--kg", "demo")
    yield url
    stop(process)
