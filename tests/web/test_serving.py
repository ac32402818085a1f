"""The server as a program: where it listens, how it ends, and what it leaves behind."""

import os
import signal
import socket
import stat
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import pytest
from tests.web.conftest import start

from hyperheat.web.serving import Address, _private_link, listen


def test_each_address_has_its_own_secret():
    made = [listen(0) for _ in range(3)]
    try:
        assert {one.getsockname()[0] for one, _ in made} == {"127.0.0.1"}
        secrets = {address.secret for _, address in made}
        assert len(secrets) == 3
        assert all(len(secret) >= 32 for secret in secrets)
    finally:
        for one, _ in made:
            one.close()


def test_the_link_for_the_browser_is_private(tmp_path: Path):
    path = _private_link(tmp_path, Address(8000, "secret"))
    assert "http://127.0.0.1:8000/secret/" in path.read_text()
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="interrupts are sent in another way")
def test_the_server_answers_until_it_is_interrupted(tmp_path: Path):
    (tmp_path / "statements.csv").write_text("head,relation,tail\na,knows,b\nb,knows,c\n")
    process, url = start("--kg", "heuristic", "--data", str(tmp_path / "statements.csv"))
    try:
        place = urlsplit(url)
        assert place.port is not None
        with build_opener(ProxyHandler({})).open(url, timeout=30) as answer:
            assert b"hyperheat explore" in answer.read()
            assert "uvicorn" not in str(answer.headers).lower()
        with pytest.raises(OSError, match=r".+"):
            socket.create_connection((_other_address(), place.port), timeout=5)
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said == ""


def _other_address() -> str:
    """Another address of this machine: all of 127.0.0.0/8 is loopback on Linux."""
    return "127.0.0.2"
