"""Documents whose functions hang or crash their workers, and work that is given up."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.lsp.slow_editor_work import SlowEditorWork

from hyperheat.detector.detector import load_detector
from hyperheat.lsp import session as module
from hyperheat.lsp.session import Document, Session
from hyperheat.workers.limits import Limits

SECONDS = 120.0
AREA = "def area(width, height):\n    return width * width\n\n\n"
OTHER = "def other(left, right):\n    return left - left\n"


class Watched:
    """A session, and what it published."""

    def __init__(self, session: Session, news: asyncio.Queue[Document], complaints: list[str]) -> None:
        self.session, self.news, self.complaints = session, news, complaints

    async def document(self) -> Document:
        return await asyncio.wait_for(self.news.get(), SECONDS)


def in_session(
    detector: Any, limits: Limits, use: Callable[[Watched], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EditorWork", SlowEditorWork)

    async def run() -> None:
        news: asyncio.Queue[Document] = asyncio.Queue()
        complaints: list[str] = []
        session = Session(
            detector,
            publish=news.put_nowait,
            complain=complaints.append,
            limits=limits,
            max_characters=100_000,
        )
        session.options = {"tier": "C"}
        try:
            await use(Watched(session, news, complaints))
        finally:
            session.end()

    asyncio.run(run())


@pytest.fixture(scope="module")
def detector(exported_detector):
    return load_detector(exported_detector)


def errors(document: Document) -> list[tuple[int | None, str]]:
    return [(error.line, error.reason) for error in document.errors]


def functions(document: Document) -> set[str]:
    return {placed.finding.function for placed in document.findings}


def slow_function(name: str) -> str:
    return f"def {name}(first, second):\n    return first + first\n\n\n"


def test_a_function_that_takes_too_long_is_left_out_and_remembered(detector, monkeypatch):
    async def use(watched: Watched) -> None:
        watched.session.open("untitled:1", None, 1, AREA + slow_function("slow") + OTHER)
        document = await watched.document()
        assert errors(document) == [(5, "the function slow: not checked: it took more than 6 s")]
        assert functions(document) == {"area", "other"}
        begun = asyncio.get_running_loop().time()
        watched.session.save("untitled:1")
        again = await watched.document()
        assert errors(again) == errors(document)
        assert asyncio.get_running_loop().time() - begun < SECONDS
        assert again.lost == 1  # it was not tried again
        watched.session.change("untitled:1", 2, AREA + OTHER)
        assert errors(await watched.document()) == []

    in_session(detector, Limits(seconds=6), use, monkeypatch)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_function_that_crashes_its_worker_is_tried_twice(detector, monkeypatch):
    async def use(watched: Watched) -> None:
        watched.session.open("untitled:1", None, 1, AREA + slow_function("crash") + OTHER)
        document = await watched.document()
        assert errors(document) == [
            (5, "the function crash: not checked: its worker process ended by signal 9"),
            (9, "1 more function was not checked"),
        ]
        assert functions(document) == {"area"}
        watched.session.change("untitled:1", 2, AREA + OTHER)
        document = await watched.document()
        assert (errors(document), functions(document)) == ([], {"area", "other"})

    in_session(detector, Limits(seconds=60), use, monkeypatch)


def test_an_explanation_that_nobody_waits_for_any_more_is_given_up(detector, monkeypatch):
    async def use(watched: Watched) -> None:
        watched.session.open("untitled:1", None, 1, AREA)
        document = await watched.document()
        finding = document.findings[0].finding
        asked = [asyncio.ensure_future(watched.session.explain(document, finding)) for _ in range(5)]
        await asyncio.sleep(0.1)
        for future in asked:
            future.cancel()
        watched.session.change("untitled:1", 2, OTHER)  # which needs a worker
        assert functions(await watched.document()) == {"other"}

    in_session(detector, Limits(seconds=600), use, monkeypatch)


def test_an_explanation_that_takes_too_long_leaves_the_finding_as_it_is(detector, monkeypatch):
    async def use(watched: Watched) -> None:
        watched.session.open("untitled:1", None, 1, AREA)
        document = await watched.document()
        finding = document.findings[0].finding
        assert await asyncio.wait_for(watched.session.explain(document, finding), SECONDS) == finding

    in_session(detector, Limits(seconds=6), use, monkeypatch)


def test_a_model_that_is_gone_is_told(detector, monkeypatch, tmp_path):
    async def use(watched: Watched) -> None:
        watched.session.open("untitled:1", None, 1, AREA)
        while not watched.complaints:
            await asyncio.sleep(0.05)
        watched.session.open("untitled:2", None, 1, AREA)
        await asyncio.sleep(0.5)
        assert len(watched.complaints) == 1
        assert str(tmp_path) in watched.complaints[0]

    in_session(replace(detector, folder=tmp_path), Limits(seconds=60), use, monkeypatch)


def test_a_model_without_a_tier_a_is_told_once(detector, monkeypatch):
    async def use(watched: Watched) -> None:
        watched.session.options = {}
        for number in range(2):
            watched.session.open(f"untitled:{number}", None, 1, AREA)
            assert functions(await watched.document()) == set()
        assert len(watched.complaints) == 1
        assert watched.complaints[0].startswith("nothing is shown because tier A is empty: ")
        watched.session.options = {"tier": "C"}
        watched.session.settings_changed()
        await watched.document()
        assert len(watched.complaints) == 1

    silent = replace(detector, calibration=replace(detector.calibration, alarms=None))
    in_session(silent, Limits(seconds=60), use, monkeypatch)
