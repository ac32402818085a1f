"""Who may read the pages: the browser of the user who started the server, and no page of another site.

The server listens on loopback, but every program and every user of the machine can connect to that, and every web page can
make a browser do so. Therefore:

- the address contains a random secret, which is the first part of every path;
- the Host must be the one that was announced, against names that are made to point to this machine;
- the Origin, where there is one, must be the server's own, and of other sites only plain links may lead here;
- requests only read: other methods, bodies and long addresses are refused.

Every answer has headers that forbid scripts, styles and requests from elsewhere, frames, sniffing and storage.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["HEADERS", "MAX_ADDRESS", "Guard"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_ADDRESS = 8_192
"""Bytes of the longest path and query that are read."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""What every answer says to the browser."""


class Guard:
    """An ASGI application that passes on requests for `/SECRET/...` as `/...`, and refuses all others."""

    def __init__(self, app: App, *, secret: str, hosts: frozenset[str]) -> None:
        self._app, self._secret, self._hosts = app, secret.encode(), hosts

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif (refusal := self._refusal(scope)) is not None:
            await _refuse(*refusal, _with_headers(send))
        else:
            inside = "/" + scope["path"].lstrip("/").partition("/")[2]
            await self._app(
                {**scope, "path": inside, "raw_path": inside.encode()}, receive, _with_headers(send)
            )

    def _refusal(self, scope: Message) -> tuple[int, str] | None:
        """Why a request is refused: a status and a sentence."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").lower())
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "This server answers only under the address that it printed."
        if any(origin != f"http://{hosts[0]}" for origin in headers.get("origin", [])):
            return 403, "Requests of other sites are refused."
        if not _is_own(headers) and not _is_navigation(headers):
            return 403, "Requests of other sites are refused."
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "This server is only read."
        if "transfer-encoding" in headers or headers.get("content-length", ["0"]) != ["0"]:
            return 413, "Requests have no body here."
        if len(scope["path"]) + len(scope["query_string"]) > MAX_ADDRESS:
            return 414, f"The address is longer than {MAX_ADDRESS} characters."
        first, slash, _ = scope["path"].lstrip("/").partition("/")
        if not slash or not secrets.compare_digest(first.encode("utf-8", "surrogateescape"), self._secret):
            return 404, "Open the whole address that hyperheat explore printed."
        return None


def _is_own(headers: dict[str, list[str]]) -> bool:
    """Whether the page of this server, or the user, made the request; browsers say so, other programs do not."""
    return all(site in ("same-origin", "none") for site in headers.get("sec-fetch-site", []))


def _is_navigation(headers: dict[str, list[str]]) -> bool:
    """Whether a link led here, which needs the secret; such a page can read nothing of the answer."""
    return headers.get("sec-fetch-mode") == ["navigate"] and headers.get("sec-fetch-dest") == ["document"]


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value) for name, value in message["headers"] if name.decode().lower() not in HEADERS
            ]
            message["headers"] = [
                *kept,
                *((name.encode(), value.encode()) for name, value in HEADERS.items()),
            ]
        await send(message)

    return sender


async def _refuse(status: int, sentence: str, send: Send) -> None:
    body = f"{sentence}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
