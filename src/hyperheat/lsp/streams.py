"""The streams between an editor and the server, which nothing else may write to.

Messages are framed by the number of their bytes. Frames that cannot be right end the connection: nobody could tell where
the next message begins.
"""

import os
import re
import sys
from typing import BinaryIO

__all__ = ["MAX_MESSAGE", "MessageReader", "take_streams"]

MAX_MESSAGE = 200_000_000
"""Bytes of the longest message that is read: the text of a huge document."""

_MAX_HEADER = 1_000
_LENGTH = re.compile(rb"Content-Length:\s*(\d+)\s*", re.IGNORECASE)


class MessageReader:
    """Standard input as pygls reads it: header lines, then bodies."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """A header line in the only spelling that pygls knows; nothing at the end, or if it is no header."""
        line = self._stream.readline(_MAX_HEADER)
        length = _LENGTH.fullmatch(line)
        if length is None:
            return line if line.endswith(b"\n") else b""
        if len(length[1]) > len(str(MAX_MESSAGE)) or int(length[1]) > MAX_MESSAGE:
            return b""
        return b"Content-Length: %d\r\n" % int(length[1])

    def read(self, size: int) -> bytes:
        """A body; nothing if the stream ends inside of it."""
        body = self._stream.read(size)
        return body if len(body) == size else b""


def take_streams() -> tuple[MessageReader, BinaryIO]:
    """Standard input and output for messages alone: whatever else prints goes to standard error."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return MessageReader(stdin), stdout
