"""The streams of the server: only messages on standard output, and an end to what is no message."""

import io
import subprocess
import sys

import pytest

from hyperheat.lsp.streams import MAX_MESSAGE, MessageReader


def test_headers_are_read_in_any_spelling():
    reader = MessageReader(io.BytesIO(b"content-length:  5 \r\nContent-Type: x\r\n\r\nhello"))
    assert [reader.readline() for _ in range(3)] == [
        b"Content-Length: 5\r\n",
        b"Content-Type: x\r\n",
        b"\r\n",
    ]
    assert reader.read(5) == b"hello"
    assert reader.readline() == b""


@pytest.mark.parametrize(
    "header",
    [b"Content-Length: %d\r\n" % (MAX_MESSAGE + 1), b"Content-Length: " + b"9" * 900 + b"\r\n", b"x" * 5_000],
    ids=["too long", "too many digits", "no line"],
)
def test_what_is_no_message_ends_the_connection(header):
    assert MessageReader(io.BytesIO(header)).readline() == b""


def test_a_body_that_breaks_off_ends_the_connection():
    assert MessageReader(io.BytesIO(b"hel")).read(5) == b""


def test_whatever_prints_goes_to_standard_error():
    script = (
        "import os, subprocess, sys\n"
        "from hyperheat.lsp.streams import take_streams\n"
        "reader, out = take_streams()\n"
        "print('printed'); sys.stdout.flush(); os.write(1, b'written'); subprocess.run(['echo', 'echoed'])\n"
        "assert sys.stdin.read() == ''\n"
        "out.write(reader.readline()); out.close()"
    )
    done = subprocess.run([sys.executable, "-c", script], input=b"a line\n", capture_output=True, check=True)
    assert done.stdout == b"a line\n"
    assert {b"printed", b"echoed"} <= set(done.stderr.replace(b"written", b"\n").split())
