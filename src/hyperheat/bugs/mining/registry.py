"""The releases of a package as a package index lists them, and their archives.

    registry = Registry.configured()
    listing = registry.releases("click")
    contents = registry.fetch(listing.releases[-1])

The index is the one that pip is configured with, read by the simple repository API in its JSON or its HTML form.
Nothing is installed, built or run.
"""

import hashlib
import http.client
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from hyperheat.bugs.corpus.packages import CorpusError, PassingError, normalise

__all__ = ["MAX_ARCHIVE_BYTES", "Listing", "Registry", "Release"]

MAX_ARCHIVE_BYTES = 100_000_000
"""Larger archives are not downloaded."""
MAX_LISTING_BYTES = 60_000_000
_ATTEMPTS = 4
_SECONDS = 60
_CHUNK = 1 << 18
_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, text/html;q=0.5"
_GONE = (404, 410)
_MAX_DIGITS = 40
_MAX_NAME = 200
_FILE = re.compile(r"[\w.+!-]+")

_Merit = tuple[int, tuple[()] | tuple[int, str], str]
"""The preference for a file: 2 for a wheel of Python 3 on any machine, 1 for a source archive; the build; the name."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """One final release of a package, and the archive that it is read from."""

    package: str
    version: str
    file: str
    url: str = field(repr=False)
    sha256: str = ""
    """The hash that the index gives, empty if it gives none."""
    uploaded: str = ""
    """The day of the upload, empty if the index does not say."""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The final releases of a package, oldest first, and how many files were left out, by reason.

    `archives` are all wheels and source archives by file name, those of yanked releases too.
    """

    releases: tuple[Release, ...]
    archives: dict[str, Release] = field(repr=False)
    left_out: Counter[str]


@dataclass(frozen=True)
class Registry:
    """A package index by the address of its simple API."""

    address: str
    cert: str = ""
    """A file of certificates to trust, empty for those of the system."""

    @classmethod
    def configured(cls) -> "Registry":
        """The index that pip is configured with."""
        settings = _pip_settings()
        return cls(settings.get("index-url") or _default_address(), settings.get("cert", ""))

    def releases(self, package: str) -> Listing:
        """What the index has of a package; raises CorpusError if it has nothing, PassingError if it cannot be asked."""
        address = f"{self.address.rstrip('/')}/{normalise(package)}/"
        try:
            page = self._read(address, MAX_LISTING_BYTES, accept=_ACCEPT)
        except _NotThere:
            raise CorpusError("the package index has no package of this name") from None
        try:
            entries = _json_entries(page.contents) if "json" in page.kind else _html_entries(page.contents)
            return _listing(normalise(package), page.address, entries)
        except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise CorpusError(
                f"the package index gives a list of files that cannot be read ({problem})"
            ) from None

    def dates(self, package: str) -> dict[str, str]:
        """The upload date of each file of a package, as in 2024-02-29; raises CorpusError if the index has none."""
        known = {file: release.uploaded for file, release in self.releases(package).archives.items()}
        if all(known.values()):
            return known
        address = f"{self.address.rstrip('/').removesuffix('/simple')}/pypi/{normalise(package)}/json"
        try:
            contents = self._read(address, MAX_LISTING_BYTES).contents
            files = [file for files in json.loads(contents)["releases"].values() for file in files]
            return {str(file["filename"]): str(file["upload_time"])[:10] for file in files}
        except (_NotThere, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, CorpusError):
                raise
            raise CorpusError("the package index does not say when releases were uploaded") from None

    def fetch(self, release: Release) -> bytes:
        """The archive of a release; raises CorpusError if it is gone, too large or not what the index promised."""
        try:
            contents = self._read(release.url, MAX_ARCHIVE_BYTES).contents
        except _NotThere:
            raise CorpusError(f"{release.file} is listed but cannot be downloaded") from None
        if release.sha256 and hashlib.sha256(contents).hexdigest() != release.sha256:
            raise CorpusError(f"{release.file} does not have the SHA-256 hash that the index gives")
        return contents

    def _read(self, address: str, most: int, *, accept: str = "*/*") -> "_Page":
        """What is at an address; tries again where that may help."""
        if urlsplit(address).scheme not in ("http", "https"):
            raise CorpusError(f"expected an http or https address, got {address!r}")
        if "@" in urlsplit(address).netloc:
            raise CorpusError("a package index that asks for a user name or password is not supported")
        problem: Exception | None = None
        for attempt in range(_ATTEMPTS):
            time.sleep(attempt * attempt)
            try:
                return _download(address, most, accept, _context(self.cert))
            except urllib.error.HTTPError as error:
                error.close()
                if error.code in _GONE:
                    raise _NotThere from None
                if error.code < 500 and error.code not in (408, 429):
                    raise CorpusError(f"the package index answered {error.code} {error.reason}") from None
                problem = error
            except (OSError, http.client.HTTPException) as error:
                problem = error
        reason = getattr(problem, "reason", None) or problem
        raise PassingError(f"the package index could not be reached: {reason}")


class _NotThere(Exception):
    """The index has no such page or file."""


@dataclass(frozen=True)
class _Page:
    """An answer: its contents, their media type, and the address that gave them in the end."""

    contents: bytes
    kind: str
    address: str


def _download(address: str, most: int, accept: str, context: ssl.SSLContext) -> _Page:
    request = urllib.request.Request(address, headers={"Accept": accept, "User-Agent": "hyperheat"})
    with urllib.request.urlopen(request, timeout=_SECONDS, context=context) as answer:
        expected = answer.headers.get("Content-Length", "")
        if expected.isdigit() and int(expected) > most:
            raise CorpusError(f"{_name(address)} has {int(expected):,} bytes, more than {most:,}")
        parts: list[bytes] = []
        left = most + 1
        while left > 0 and (part := answer.read(min(_CHUNK, left))):
            parts.append(part)
            left -= len(part)
        if left <= 0:
            raise CorpusError(f"{_name(address)} has more than {most:,} bytes")
        contents = b"".join(parts)
        if expected.isdigit() and len(contents) != int(expected):
            raise ConnectionError(f"{_name(address)} ended after {len(contents):,} of {expected} bytes")
        return _Page(contents, answer.headers.get_content_type(), answer.url)


@cache
def _context(cert: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=cert or None)
    except OSError as error:
        raise CorpusError(f"the certificates in {cert} cannot be read: {error}") from None


def _name(address: str) -> str:
    return unquote(urlsplit(address).path.rstrip("/").rpartition("/")[2])


# What an index says about files: their address and attributes, in either form.


def _json_entries(contents: bytes) -> list[dict[str, Any]]:
    return [
        {
            "url": str(file["url"]),
            "file": str(file["filename"]),
            "sha256": str((file.get("hashes") or {}).get("sha256", "")).lower(),
            "yanked": file.get("yanked", False) is not False,
            "uploaded": str(file.get("upload-time") or "")[:10],
        }
        for file in json.loads(contents)["files"]
    ]


def _html_entries(contents: bytes) -> list[dict[str, Any]]:
    parser = _Links()
    parser.feed(contents.decode("utf-8", errors="replace"))
    entries = []
    for attributes in parser.links:
        address, fragment = urldefrag(attributes["href"])
        sha256 = re.search(r"(?:^|&)sha256=([0-9a-fA-F]{64})", fragment)
        entries.append(
            {
                "url": address,
                "file": _name(address),
                "sha256": sha256[1].lower() if sha256 else "",
                "yanked": "data-yanked" in attributes,
                "uploaded": "",
            }
        )
    return entries


class _Links(HTMLParser):
    """The attributes of all links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes)


def _listing(package: str, base: str, entries: list[dict[str, Any]]) -> Listing:
    """One archive for each final version: a wheel that fits every machine, or else the source archive.

    Which one it is does not depend on the order of the list.
    """
    left_out: Counter[str] = Counter()
    archives: dict[str, Release] = {}
    best: dict[Version, tuple[_Merit, Release]] = {}
    others: set[Version] = set()
    for entry in entries:
        file = entry["file"]
        try:
            version, merit = _describe(file, package)
        except ValueError as error:
            left_out[str(error)] += 1
            continue
        release = archives[file] = Release(
            package=package,
            version=str(version),
            file=file,
            url=urljoin(base, entry["url"]),
            sha256=entry["sha256"],
            uploaded=entry["uploaded"],
        )
        if entry["yanked"]:
            left_out["yanked"] += 1
        elif version.is_prerelease or version.local:
            left_out["not a final release"] += 1
        elif merit is None:
            others.add(version)
        elif version not in best or merit > best[version][0]:
            best[version] = merit, release
    left_out["neither a pure wheel nor a source archive"] += len(others - best.keys())
    releases = tuple(best[version][1] for version in sorted(best))
    return Listing(releases=releases, archives=archives, left_out=+left_out)


def _describe(file: str, package: str) -> tuple[Version, _Merit | None]:
    """The version in a file's name, and the preference for the file; None if it cannot be used."""
    if len(file) > _MAX_NAME or max(map(len, re.findall(r"\d+", file)), default=0) > _MAX_DIGITS:
        raise ValueError("an absurdly long version")
    if not _FILE.fullmatch(file):
        raise ValueError("a version that cannot be read")
    merit = None
    try:
        if file.endswith(".whl"):
            name, version, build, tags = parse_wheel_filename(file)
            if any(
                tag.abi == "none" and tag.platform == "any" and tag.interpreter[2:3] != "2" for tag in tags
            ):
                merit = 2, build, file
        elif file.endswith((".tar.gz", ".zip")):
            name, version = parse_sdist_filename(file)
            merit = 1, (), file
        else:
            raise ValueError("an archive of another form")
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        raise ValueError("a version that cannot be read") from None
    if name != package:
        raise ValueError("a file of another package")
    return version, merit


# What pip knows: its command is called, because its modules are not meant to be imported.


def _pip_settings() -> dict[str, str]:
    """The settings of pip for downloads; a more specific section overrides a more general one."""
    sections: dict[str, dict[str, str]] = {"global": {}, "download": {}, ":env:": {}}
    for line in _pip("config", "list").splitlines():
        key, sign, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if sign and section in sections:
            sections[section][name] = value.strip().strip("'\"")
    return sections["global"] | sections["download"] | sections[":env:"]


def _default_address() -> str:
    """The default index of pip, as its help says."""
    text = " ".join(_pip("download", "--help").split())
    found = re.search(r"--index-url <url>.*?\(default (\S+?)\)", text)
    if found is None:
        raise CorpusError("pip does not say which package index it uses; give one with --index")
    return found[1]


def _pip(*arguments: str) -> str:
    command = [sys.executable, "-P", "-m", "pip", "--no-input", "--disable-pip-version-check", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""
