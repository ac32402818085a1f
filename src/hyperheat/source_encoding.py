"""The bytes of a Python source file as text, and back.

Python compiles a file in UTF-8 even if a comment of it holds bytes that are none, so such files are read too. In the text
each of these bytes is a lone surrogate, as in file names, so that it leads back to the same bytes.
"""

import codecs
import io
import re
import tokenize

__all__ = ["SlowEncodingError", "decode", "encode", "without_stray_bytes"]

_SLOW = frozenset({"idna", "punycode"})  # their work grows with the square of the text
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_STRAY = re.compile("[\udc80-\udcff]")


class SlowEncodingError(ValueError):
    """An encoding that Python could read, but not in any reasonable time."""


def decode(data: bytes, *, strict: bool = False) -> tuple[str, str]:
    """Text and encoding of a source file, with its line ends and without its byte order mark.

    Raises SyntaxError, LookupError or UnicodeError where Python could not read the file and, if `strict`, for bytes that
    are not text; SlowEncodingError for encodings that take too long.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:  # also for a stray byte in the first two lines
        if strict or any(
            _COOKIE.match(line) for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n", 2)[:2]
        ):
            raise
        encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    if (name := codecs.lookup(encoding).name) in _SLOW:
        raise SlowEncodingError(f"the encoding {name} takes too long to decode")
    stray = "surrogateescape" if not strict and name in ("utf-8", "utf-8-sig") else "strict"
    return data.decode(encoding, stray), encoding


def encode(text: str, encoding: str) -> bytes:
    """The bytes of a text that `decode` gave."""
    return text.encode(encoding, "surrogateescape")


def without_stray_bytes(text: str) -> str:
    """The text with a visible sign in place of each byte that is no text, of the same length."""
    return text if text.isascii() else _STRAY.sub("\ufffd", text)
