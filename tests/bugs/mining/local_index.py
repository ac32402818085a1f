"""A package index on this machine, with archives that are made in memory."""

import gzip
import hashlib
import html
import io
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from hyperheat.bugs.mining.registry import Registry

__all__ = ["LocalIndex", "make_sdist", "make_wheel", "serve_index"]

Files = Mapping[str, str | bytes]
_DAY = (2020, 1, 1, 0, 0, 0)


def make_wheel(files: Files) -> bytes:
    """A zip archive; equal files give equal bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, contents in files.items():
            archive.writestr(zipfile.ZipInfo(path, _DAY), contents, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def make_sdist(files: Files, top: str = "package-1/", *others: tarfile.TarInfo) -> bytes:
    """A gzipped tar archive with all files below a folder, and members that are no files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, contents in files.items():
            data = contents.encode() if isinstance(contents, str) else contents
            info = tarfile.TarInfo(top + path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in others:
            archive.addfile(info)
    return gzip.compress(packed.getvalue(), mtime=0)


@dataclass
class LocalIndex:
    """What the index has: files by package, and pages that are answered in a special way."""

    address: str
    files: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    form: str = "html"
    answers: dict[str, list[int | bytes]] = field(default_factory=dict)
    """By path, what comes before the usual answer: a status, or contents that are shorter than promised."""
    pages: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """By path, a media type and contents."""
    redirects: dict[str, str] = field(default_factory=dict)
    held: dict[str, Event] = field(default_factory=dict)
    """By path, what its answers wait for."""
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def registry(self) -> Registry:
        return Registry(f"{self.address}/simple")

    def add(
        self, package: str, file: str, contents: bytes = b"", *, sha256: str | None = None, **facts: Any
    ) -> None:
        """Add a file, or put it in the place of another one."""
        digest = hashlib.sha256(contents).hexdigest() if sha256 is None else sha256
        self.files.setdefault(package, {})[file] = {"contents": contents, "sha256": digest, **facts}

    def release(self, package: str, version: str, files: Files, **facts: Any) -> None:
        """Add a wheel."""
        self.add(package, f"{package}-{version}-py3-none-any.whl", make_wheel(files), **facts)

    def release_source(self, package: str, version: str, files: Files) -> None:
        """Add a source archive."""
        self.add(package, f"{package}-{version}.tar.gz", make_sdist(files, f"{package}-{version}/"))

    def page(self, path: str) -> tuple[str, bytes] | None:
        """The media type and contents of a path."""
        if path in self.pages:
            return self.pages[path]
        _, folder, name, *rest = path.split("/")
        if folder == "simple" and rest == [""] and name in self.files:
            return self._json(name) if self.form == "json" else self._html(name)
        if folder == "files" and rest and rest[0] in self.files.get(name, {}):
            return "application/octet-stream", self.files[name][rest[0]]["contents"]
        return None

    def _json(self, package: str) -> tuple[str, bytes]:
        files = [
            {
                "filename": name,
                "url": f"../../files/{package}/{name}",
                "hashes": {"sha256": facts["sha256"]} if facts["sha256"] else {},
                "yanked": facts.get("yanked", False),
                **({"upload-time": facts["uploaded"]} if "uploaded" in facts else {}),
            }
            for name, facts in self.files[package].items()
        ]
        page = {"meta": {"api-version": "1.1"}, "name": package, "files": files}
        return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()

    def _html(self, package: str) -> tuple[str, bytes]:
        links = []
        for name, facts in self.files[package].items():
            fragment = f"#sha256={facts['sha256']}" if facts["sha256"] else ""
            yanked = f' data-yanked="{facts["yanked"]}"' if facts.get("yanked") else ""
            address = html.escape(f"../../files/{package}/{name}{fragment}")
            links.append(f'<a href="{address}"{yanked}>{html.escape(name)}</a><br>')
        return "text/html", f"<!DOCTYPE html><title>{package}</title>{''.join(links)}".encode()


@contextmanager
def serve_index() -> Iterator[LocalIndex]:
    """An index that answers as long as the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.index = LocalIndex(f"http://127.0.0.1:{server.server_port}")  # pyright: ignore[reportAttributeAccessIssue]
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.index  # pyright: ignore[reportAttributeAccessIssue]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        index: LocalIndex = self.server.index  # pyright: ignore[reportAttributeAccessIssue]
        index.asked[self.path] += 1
        if self.path in index.held:
            index.held[self.path].wait(20)
        answers = index.answers.get(self.path)
        first = answers.pop(0) if answers else None
        if isinstance(first, int):
            self.send_error(first)
            return
        if self.path in index.redirects:
            self.send_response(302)
            self.send_header("Location", index.redirects[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        page = index.page(self.path)
        if page is None:
            self.send_error(404)
            return
        kind, contents = page
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(contents)))
        self.end_headers()
        self.wfile.write(contents if first is None else first)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
