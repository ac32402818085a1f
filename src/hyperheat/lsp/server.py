"""The messages between an editor and the server."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.uris import to_fs_path, uri_scheme

import hyperheat
from hyperheat.detector.detector import Detector
from hyperheat.lsp.actions import offer_actions
from hyperheat.lsp.diagnostics import diagnose
from hyperheat.lsp.editor_settings import SECTION, EditorSettings, read_editor_settings
from hyperheat.lsp.hover import describe_finding
from hyperheat.lsp.positions import Encoding, PlacedText
from hyperheat.lsp.session import Document, Session
from hyperheat.lsp.streams import take_streams
from hyperheat.workers.limits import Limits

__all__ = ["HyperheatServer", "serve_editor"]

_SCHEMES = ("file", "untitled")
_SUFFIXES = (".py", ".pyw")
_OTHERS = (".pyi", ".ipynb")  # stubs hold no code that runs, and editors send notebooks by other messages
_WATCHED = ("**/pyproject.toml", "**/.gitignore")
_OWN_TEXTS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
)


def serve_editor(detector: Detector, *, limits: Limits, max_characters: int) -> int:
    """Serve the editor at the other end of standard input and output until it leaves; the exit code."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # its messages would show the user's code
    stdin, stdout = take_streams()
    server = HyperheatServer(detector, limits, max_characters)
    try:
        server.start_io(cast(Any, stdin), stdout)
    finally:
        server.end()
    return 0 if server.was_shut_down else 1


class _Protocol(LanguageServerProtocol):
    """The protocol without a store of texts: that of pygls splits lines at form feeds, where editors do not."""

    def __init__(self, server: LanguageServer, converter: Any) -> None:
        super().__init__(server, converter)
        for name in _OWN_TEXTS:
            self.fm.builtin_features.pop(name)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Read a message; a request that makes no sense is answered, so that nobody waits for it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if isinstance(data.get("id"), int | str) and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class HyperheatServer(LanguageServer):
    """A language server for one editor."""

    def __init__(self, detector: Detector, limits: Limits, max_characters: int) -> None:
        super().__init__(
            "hyperheat",
            hyperheat.__version__,
            protocol_cls=_Protocol,
            converter_factory=default_converter,
            max_workers=1,
        )
        self.was_shut_down = False
        self._make_session = partial(
            Session,
            detector,
            publish=self._publish,
            complain=self._complain,
            limits=limits,
            max_characters=max_characters,
        )
        self._session: Session | None = None
        self._initial: Mapping[str, object] = {}
        self._published: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        for name, handler, options in _features(self):
            self.feature(name, options)(handler)

    def end(self) -> None:
        """End all processes of the server."""
        if self._session is not None:
            self._session.end()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong with a message; the user can do nothing about it."""
        with suppress(Exception):  # the editor may be gone
            self.window_log_message(
                types.LogMessageParams(
                    type=types.MessageType.Error, message=f"hyperheat: {source.__name__}: {error!s:.500}"
                )
            )

    # The life of the server

    def initialize(self, params: types.InitializeParams) -> None:
        """Begin a session with an editor; one that was begun before is over."""
        self.end()
        session = self._session = self._make_session()
        folders = [folder.uri for folder in params.workspace_folders or ()]
        session.folders = _paths(folders or ([params.root_uri] if params.root_uri else []))
        self._initial = self._use(read_editor_settings(params.initialization_options))
        session.options = self._initial

    async def initialized(self, _params: types.InitializedParams) -> None:
        """Ask for the editor's settings, and to be told when those of a project change."""
        workspace = self.client_capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration(id=method, method=method, register_options=options)
            with suppress(JsonRpcException):
                await self.client_register_capability_async(types.RegistrationParams([registration]))
        await self._ask_for_settings()

    def shutdown_requested(self, _params: None) -> None:
        """Note that the editor is about to leave."""
        self.was_shut_down = True

    # Documents

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a document if it is one that is checked."""
        document = params.text_document
        if self._session is not None and _is_checked(document.uri, document.language_id):
            self._session.open(document.uri, _path(document.uri), document.version, document.text)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the changes to a document, one after the other."""
        document = self._document(params.text_document.uri)
        if document is None or self._session is None:
            return
        text = document.text
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                places = (start.line, start.character), (end.line, end.character)
                text = PlacedText(text, self._encoding).replaced(*places, change.text)
            else:
                text = change.text
        self._session.change(document.uri, params.text_document.version, text)

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """Scan a document whole, with the settings of now."""
        if self._session is not None and self._document(params.text_document.uri) is not None:
            self._session.save(params.text_document.uri)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document, and take its diagnostics back."""
        uri = params.text_document.uri
        if self._session is not None and self._document(uri) is not None:
            self._session.close(uri)
            self._published.pop(uri, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    # Settings

    async def configuration_changed(self, params: types.DidChangeConfigurationParams) -> None:
        """Use the settings that the editor sends, or ask for them."""
        sent = params.settings
        if isinstance(sent, Mapping) and SECTION in sent:
            self._change_settings(read_editor_settings(sent))
        else:
            await self._ask_for_settings()

    def files_changed(self, _params: types.DidChangeWatchedFilesParams) -> None:
        """Read the settings of projects again."""
        if self._session is not None:
            self._session.settings_changed()

    def folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """Take note of folders that were opened and closed."""
        if self._session is None:
            return
        removed = _paths([folder.uri for folder in params.event.removed])
        kept = [folder for folder in self._session.folders if folder not in removed]
        self._session.folders = [*kept, *_paths([folder.uri for folder in params.event.added])]
        self._session.settings_changed()

    # What a user asks for

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings at a place."""
        document, only = self._document(params.text_document.uri), params.context.only
        if document is None or (only and not any("quickfix".startswith(kind) for kind in only)):
            return []
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace else None
        versioned = bool(edits and edits.document_changes)
        text = PlacedText(document.text, self._encoding)
        return offer_actions(document, text, params.range, versioned=versioned)

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The finding at a place, and what it depends on."""
        document = self._document(params.text_document.uri)
        if document is None or self._session is None:
            return None
        text, version = PlacedText(document.text, self._encoding), document.version
        at = text.offset(params.position.line, params.position.character)
        placed = document.finding_at(at)
        if placed is None:
            return None
        finding = await self._session.explain(document, placed.finding)
        if document.version != version:
            return None
        kinds = _hover_kinds(self.client_capabilities)
        markdown = types.MarkupKind.Markdown in kinds
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        value = describe_finding(finding, markdown=markdown)
        return types.Hover(contents=types.MarkupContent(kind=kind, value=value))

    def _document(self, uri: str) -> Document | None:
        return None if self._session is None else self._session.documents.get(uri)

    @property
    def _encoding(self) -> Encoding:
        return cast(Encoding, types.PositionEncodingKind(self.workspace.position_encoding).value)

    def _publish(self, document: Document) -> None:
        diagnostics = diagnose(document, PlacedText(document.text, self._encoding))
        news = document.version, diagnostics
        if self._published.get(document.uri) != news:
            self._published[document.uri] = news
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=document.uri, version=document.version, diagnostics=diagnostics
                )
            )

    def _complain(self, problem: str) -> None:
        self.window_show_message(
            types.ShowMessageParams(type=types.MessageType.Warning, message=f"hyperheat: {problem}")
        )

    async def _ask_for_settings(self) -> None:
        workspace = self.client_capabilities.workspace
        if not (workspace and workspace.configuration):
            return
        items = [types.ConfigurationItem(section=SECTION)]
        with suppress(JsonRpcException, asyncio.CancelledError):
            answers = await self.workspace_configuration_async(types.ConfigurationParams(items=items))
            self._change_settings(read_editor_settings(answers[0] if answers else None))

    def _change_settings(self, read: EditorSettings) -> None:
        options = {**self._initial, **self._use(read)}
        if self._session is not None and options != self._session.options:
            self._session.options = options
            self._session.settings_changed()

    def _use(self, read: EditorSettings) -> Mapping[str, object]:
        for problem in read.problems:
            self._complain(problem)
        return read.options


def _features(server: HyperheatServer) -> list[tuple[str, Callable[..., Any], Any]]:
    quick_fixes = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    handlers = {
        types.INITIALIZE: server.initialize,
        types.INITIALIZED: server.initialized,
        types.SHUTDOWN: server.shutdown_requested,
        types.TEXT_DOCUMENT_DID_OPEN: server.opened,
        types.TEXT_DOCUMENT_DID_CHANGE: server.changed,
        types.TEXT_DOCUMENT_DID_SAVE: server.saved,
        types.TEXT_DOCUMENT_DID_CLOSE: server.closed,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: server.configuration_changed,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES: server.files_changed,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: server.folders_changed,
        types.TEXT_DOCUMENT_CODE_ACTION: server.actions,
        types.TEXT_DOCUMENT_HOVER: server.hover,
    }
    options = {types.TEXT_DOCUMENT_CODE_ACTION: quick_fixes}
    return [(name, _plain(handler), options.get(name)) for name, handler in handlers.items()]


def _plain(handler: Callable[..., Any]) -> Callable[..., Any]:
    """A method as a function, which pygls can put marks on."""
    if asyncio.iscoroutinefunction(handler):

        async def wait_for(params: Any) -> Any:
            return await handler(params)

        return wait_for

    def call(params: Any) -> Any:
        return handler(params)

    return call


def _is_checked(uri: str, language: str) -> bool:
    path = uri.rpartition("/")[2]
    if uri_scheme(uri) not in _SCHEMES or path.endswith(_OTHERS):
        return False
    return language == "python" or path.endswith(_SUFFIXES)


def _path(uri: str) -> Path | None:
    path = to_fs_path(uri)
    return None if path is None else Path(os.path.abspath(path))


def _paths(uris: list[str]) -> list[Path]:
    return [path for uri in uris if (path := _path(uri)) is not None]


def _hover_kinds(capabilities: types.ClientCapabilities) -> list[types.MarkupKind]:
    hover = capabilities.text_document and capabilities.text_document.hover
    return list(hover.content_format or ()) if hover else []
