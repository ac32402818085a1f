"""The text of a source file as it is, and how it is encoded."""

import codecs
import io
import tokenize

__all__ = ["SlowEncodingError", "decode"]

_SLOW = frozenset({"idna", "punycode"})  # their work grows with the square of the text


class SlowEncodingError(ValueError):
    """An encoding that Python could read, but not in any reasonable time."""


def decode(data: bytes) -> tuple[str, str]:
    """Text and encoding of a source file, with its line ends and without its byte order mark.

    Raises SyntaxError, LookupError or UnicodeDecodeError where Python could not read the file.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if (name := codecs.lookup(encoding).name) in _SLOW:
        raise SlowEncodingError(f"expected an encoding for source files, got {name}")
    return data.decode(encoding), encoding
