"""The server: on loopback, under a secret address, until it is interrupted."""

import errno
import os
import secrets
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from hyperheat.report.markup import STYLE, as_ascii
from hyperheat.web.guard import App, Guard

__all__ = ["Address", "PageError", "Reader", "listen", "make_app", "serve", "texts", "whole"]

_STATIC = {
    "drawing.css": "text/css",
    "explore.css": "text/css",
    "explore.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_MOST_CONNECTIONS = 64

Reader = Callable[[Request], str]
"""Makes a page, or a part of one, from the parameters of a request; raises PageError."""


class PageError(Exception):
    """A request that cannot be answered: a status, and a sentence for the reader."""

    def __init__(self, sentence: str, status: int = 404) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class Address:
    """Where the pages are: a port of this machine, and a secret."""

    port: int
    secret: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.secret}/"

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})


def make_app(readers: dict[str, Reader], address: Address) -> App:
    """The application that answers under an address; the reader "" makes the page itself."""
    routes = [Route(f"/{name}", _endpoint(reader), methods=["GET"]) for name, reader in readers.items()]
    folder = files("hyperheat.web").joinpath("static")
    contents = {name: folder.joinpath(name).read_bytes() for name in _STATIC}
    contents["style.css"] = STYLE.encode()
    for name, content in contents.items():
        routes.append(Route(f"/{name}", _constant(content, _STATIC.get(name, "text/css")), methods=["GET"]))
    return Guard(Starlette(routes=routes), secret=address.secret, hosts=address.hosts)


def _endpoint(reader: Reader) -> Callable[..., object]:
    async def endpoint(request: Request) -> Response:
        try:
            page = await run_in_threadpool(reader, request)
        except PageError as error:
            return PlainTextResponse(as_ascii(escape(str(error))), status_code=error.status)
        return Response(as_ascii(page), media_type="text/html")

    return endpoint


def _constant(content: bytes, media_type: str) -> Callable[..., object]:
    async def endpoint(request: Request) -> Response:
        return Response(content, media_type=media_type)

    return endpoint


def listen(port: int) -> tuple[socket.socket, Address]:
    """A socket on loopback, on a free port if that is 0, and its address with a new secret. Raises ValueError."""
    if not 0 <= port < 65_536:
        raise ValueError(f"--port: expected a port from 0 (any free one) to 65535, got {port}")
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            made.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # a port that was just left may be taken
        made.bind(("127.0.0.1", port))
        made.listen()  # browsers that come before the server is ready wait
    except OSError as error:
        made.close()
        reason = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise ValueError(f"--port: cannot listen on port {port}: {reason}") from None
    return made, Address(made.getsockname()[1], secrets.token_urlsafe(24))


def serve(app: App, made: socket.socket, address: Address, *, opened: bool) -> None:
    """Answer until interrupted; `opened` also shows the page in the user's browser."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would hold the secret
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=32_768,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
    )
    sys.stderr.write(f"Open {address.url} in your browser; press Ctrl-C to stop.\n")
    sys.stderr.flush()
    with tempfile.TemporaryDirectory(prefix="hyperheat-") if opened else nullcontext() as folder:
        if folder is not None:
            webbrowser.open(_private_link(Path(folder), address).as_uri())
        with suppress(KeyboardInterrupt):  # uvicorn has ended by then
            uvicorn.Server(config).run(sockets=[made])


def _private_link(folder: Path, address: Address) -> Path:
    """A page that leads to the address: other users see the arguments of programs, but not this file."""
    path = folder / "open.html"
    path.touch(mode=0o600)
    path.write_text(f'<meta http-equiv="refresh" content="0; url={escape(address.url)}">', encoding="ascii")
    return path


def texts(request: Request, name: str, *, longest: int = 500, most: int = 32) -> list[str]:
    """All values of a parameter; raises PageError if they are too many or too long."""
    values = request.query_params.getlist(name)
    if len(values) > most or any(len(value) > longest for value in values):
        raise PageError(f"{name}: expected at most {most} values of at most {longest} characters", 400)
    return values


def whole(request: Request, name: str, *, among: Iterable[int] | range) -> int:
    """The number that a parameter holds; raises PageError if it is not one of these."""
    text = request.query_params.get(name, "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if number not in among:
        raise PageError(f"{name}: there is no such number", 404)
    return number
