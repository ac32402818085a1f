"""Only the browser that was given the address gets an answer, and every answer forbids what pages do not need."""

import asyncio
from typing import Any

import pytest
from tests.web.conftest import ADDRESS, Pages

from hyperheat.web.guard import HEADERS, MAX_ADDRESS, Guard

OWN = "http://127.0.0.1:8000"


def test_every_answer_has_the_headers(pages: Pages):
    for path in ("/secret/", "/secret/explore.js", "/secret/nothing", "/other/", "/", "/secret/function"):
        answer = pages.client.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, path
        assert answer.headers.get_list("content-security-policy") == [HEADERS["content-security-policy"]]


def test_the_policy_allows_only_files_of_the_server():
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert (
        parts["default-src"]
        == parts["frame-ancestors"]
        == parts["base-uri"]
        == parts["form-action"]
        == "'none'"
    )
    assert {value for name, value in parts.items() if name.endswith("-src")} == {"'none'", "'self'"}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8000.evil.example", ""]
)
def test_other_hosts_are_refused(pages: Pages, host: str):
    answer = pages.client.get("/secret/", headers={"host": host})
    assert answer.status_code == 421
    assert answer.text == "This server answers only under the address that it printed.\n"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000"])
def test_its_own_names_are_answered(pages: Pages, host: str):
    assert pages.client.get("/secret/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:8001", "https://127.0.0.1:8000"]
)
def test_other_origins_are_refused(pages: Pages, origin: str):
    assert pages.client.get("/secret/", headers={"origin": origin}).status_code == 403
    assert pages.client.get("/secret/", headers={"origin": OWN}).status_code == 200


def test_of_other_sites_only_links_lead_here(pages: Pages):
    def status(site: str, mode: str, dest: str) -> int:
        headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest}
        return pages.client.get("/secret/", headers=headers).status_code

    assert status("cross-site", "no-cors", "script") == 403
    assert status("same-site", "cors", "empty") == 403
    assert status("cross-site", "navigate", "iframe") == 403
    assert status("cross-site", "navigate", "document") == 200
    assert status("same-origin", "cors", "empty") == 200
    assert status("none", "navigate", "document") == 200


@pytest.mark.parametrize(
    "path",
    ["/", "/secret", "/Secret/", "/secre/", "/secrets/", "//", "/\u00e9/", "/explore.js"],
)
def test_without_the_secret_there_is_nothing(pages: Pages, path: str):
    answer = pages.client.get(path)
    assert answer.status_code == 404
    assert "hyperheat explore printed" in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_requests_only_read(pages: Pages, method: str):
    assert pages.client.request(method, "/secret/").status_code == 405


def test_bodies_and_long_addresses_are_refused(pages: Pages):
    assert pages.client.request("GET", "/secret/", content=b"x").status_code == 413
    chunked = (part for part in [b"x"])
    assert pages.client.request("GET", "/secret/", content=chunked).status_code == 413
    assert pages.client.get("/secret/function", params={"file": "1" * MAX_ADDRESS}).status_code == 414


@pytest.mark.parametrize(
    "path",
    [
        "/secret/../code_site.py",
        "/secret/%2e%2e/code_site.py",
        "/secret/..%2f..%2f..%2fetc/passwd",
        "/secret//etc/passwd",
        "/secret/static/explore.js",
        "/secret/explore.js%00.css",
        "/secret/code.html",
    ],
)
def test_only_listed_files_are_served(pages: Pages, path: str):
    assert pages.client.get(path).status_code == 404


def test_web_sockets_are_closed():
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def never(*_: Any) -> Any:
        raise AssertionError

    guard = Guard(never, secret=ADDRESS.secret, hosts=ADDRESS.hosts)
    asyncio.run(guard({"type": "websocket"}, never, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
