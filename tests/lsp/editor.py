"""An editor for tests: the client of pygls in a thread of its own, with texts, diagnostics and messages to look at."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from hyperheat.lsp.positions import Encoding, PlacedText

__all__ = ["SECONDS", "Editor", "children", "gone"]

SECONDS = 120.0
"""To wait for what takes a moment, on a busy machine."""

ROOT = Path(__file__).parents[2]


@dataclass
class OpenFile:
    """A document as the editor has it."""

    uri: str
    text: str
    version: int = 1


@dataclass
class Editor:
    """A running server, and everything it said."""

    folder: Path
    options: tuple[str, ...] = ()
    initial: Any = None
    encodings: tuple[str, ...] | None = None
    settings: Any = None
    """What the editor answers when it is asked; without any it cannot be asked."""
    documents: dict[str, OpenFile] = field(default_factory=dict)
    published: list[types.PublishDiagnosticsParams] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    registered: list[str] = field(default_factory=list)

    def __enter__(self) -> "Editor":
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = LanguageClient("test", "1")
        self._listen()
        try:
            self.call(self._start())
        except BaseException:
            self._end_loop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.process.returncode is None:
                self.call(self.client.shutdown_async(None))
                self.tell(self.client.exit, None)
            self.wait_for(lambda: self.process.returncode is not None)
            self.call(self.client.stop())
        finally:
            self._end_loop()

    @property
    def process(self) -> asyncio.subprocess.Process:
        return cast(asyncio.subprocess.Process, self.client._server)

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, coroutine: Any) -> Any:
        """Wait for an answer of the server."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SECONDS)

    def tell(self, notify: Callable[[Any], object], params: Any) -> None:
        """Send a message that has no answer."""

        async def send() -> None:
            notify(params)

        self.call(send())

    def send_raw(self, body: bytes) -> None:
        """Send bytes as a message, whatever they are."""

        async def send() -> None:
            stdin = self.process.stdin
            assert stdin is not None
            stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            await stdin.drain()

        self.call(send())

    async def _start(self) -> None:
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        command = [sys.executable, "-P", "-m", "hyperheat", "lsp", *self.options]
        await self.client.start_io(*command, cwd=str(self.folder), env={**os.environ, "PYTHONPATH": path})
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=self.encodings),
            workspace=types.WorkspaceClientCapabilities(
                configuration=self.settings is not None,
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                    dynamic_registration=True
                ),
            ),
            text_document=types.TextDocumentClientCapabilities(
                hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])
            ),
        )
        self.answer = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=capabilities,
                process_id=os.getpid(),
                initialization_options=self.initial,
                workspace_folders=[types.WorkspaceFolder(uri=self.folder.as_uri(), name="folder")],
            )
        )
        self.client.initialized(types.InitializedParams())

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: types.PublishDiagnosticsParams) -> None:
            self._note(self.published, params)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def _(params: types.ShowMessageParams) -> None:
            self._note(self.messages, params.message)

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def _(params: types.LogMessageParams) -> None:
            self._note(self.messages, params.message)

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        def _(params: types.ConfigurationParams) -> list[Any]:
            return [self.settings for _ in params.items]

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(params: types.RegistrationParams) -> None:
            self.registered += [registration.method for registration in params.registrations]

    def _note(self, where: list[Any], what: Any) -> None:
        with self._news:
            where.append(what)
            self._news.notify_all()

    def wait_for(self, wanted: Callable[[], Any]) -> Any:
        """Wait until something is there."""
        end = time.monotonic() + SECONDS
        with self._news:
            while not (found := wanted()):
                assert time.monotonic() < end, f"waited in vain; the last news were {self.published[-3:]}"
                self._news.wait(0.05)
        return found

    # Documents

    def open(self, name: str, text: str, *, language: str = "python") -> str:
        """Open a document that need not exist; give its URI, or a name that is made into one."""
        uri = name if ":" in name else (self.folder / name).as_uri()
        self.documents[uri] = OpenFile(uri, text)
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.tell(self.client.text_document_did_open, types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent, text: str) -> int:
        """Send changes that make this text; the new version."""
        document = self.documents[uri]
        document.text, document.version = text, document.version + 1
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=document.version)
        self.tell(
            self.client.text_document_did_change,
            types.DidChangeTextDocumentParams(text_document=identifier, content_changes=list(changes)),
        )
        return document.version

    def replace(self, uri: str, old: str, new: str) -> int:
        """Replace the first occurrence of a part, by its range."""
        document = self.documents[uri]
        start = document.text.index(old)
        placed = PlacedText(document.text, self.encoding)
        span = types.Range(
            types.Position(*placed.place(start)), types.Position(*placed.place(start + len(old)))
        )
        text = document.text[:start] + new + document.text[start + len(old) :]
        return self.change(uri, types.TextDocumentContentChangePartial(range=span, text=new), text=text)

    def write(self, uri: str, text: str) -> int:
        """Replace all of a document."""
        return self.change(uri, types.TextDocumentContentChangeWholeDocument(text=text), text=text)

    def save(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri=uri)
        self.tell(self.client.text_document_did_save, types.DidSaveTextDocumentParams(identifier))

    def close(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri=uri)
        self.tell(self.client.text_document_did_close, types.DidCloseTextDocumentParams(identifier))

    @property
    def encoding(self) -> Encoding:
        return cast(Encoding, types.PositionEncodingKind(self.answer.capabilities.position_encoding).value)

    def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The first diagnostics of a version of a document, of the current one unless given."""
        version = self.documents[uri].version if version is None else version
        return self.wait_for(lambda: [p for p in self.published if (p.uri, p.version) == (uri, version)])[
            0
        ].diagnostics

    def wait_for_diagnostics(self, uri: str, wanted: Callable[[list[types.Diagnostic]], bool]) -> Any:
        """Wait until the newest diagnostics of a document are as wanted."""

        def look() -> list[types.PublishDiagnosticsParams]:
            found = [params for params in self.published if params.uri == uri][-1:]
            return [params for params in found if wanted(list(params.diagnostics))]

        return self.wait_for(look)[0].diagnostics

    # Requests

    def actions(self, uri: str, span: types.Range) -> list[types.CodeAction]:
        context = types.CodeActionContext(diagnostics=[])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), span, context)
        return self.call(self.client.text_document_code_action_async(params))

    def apply(self, uri: str, action: types.CodeAction) -> str:
        """The text after an action."""
        (change,) = cast(Any, action.edit).document_changes
        assert change.text_document == types.OptionalVersionedTextDocumentIdentifier(
            uri=uri, version=self.documents[uri].version
        )
        text = self.documents[uri].text
        for edit in sorted(change.edits, key=lambda e: (e.range.start.line, e.range.start.character))[::-1]:
            start, end = edit.range.start, edit.range.end
            places = (start.line, start.character), (end.line, end.character)
            text = PlacedText(text, self.encoding).replaced(*places, edit.new_text)
        return text

    def hover(self, uri: str, position: types.Position) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
        answer = self.call(self.client.text_document_hover_async(params))
        return None if answer is None else answer.contents.value


def children(pid: int) -> Iterator[int]:
    """The descendants of a process; only Linux tells."""
    try:
        listed = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return
    for child in (int(child) for found in listed for child in found):
        yield child
        yield from children(child)


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
