r"""Untrusted text (file names, code) made safe to print.

The output may be read by a terminal, a build log, a parser or a browser. None of them must receive invisible characters
(escape codes, line ends inside a line, marks that reverse the direction of writing), and a build log must not receive
commands: build services obey `##[...]` and `##vso[...]` anywhere in a line.
"""

import json
import re
import unicodedata
from itertools import accumulate, pairwise
from urllib.parse import quote

__all__ = ["columns", "dump_json", "uri", "visible", "visible_code", "visible_line"]

_COMMAND = re.compile(r"(?<=#)#(?=\w*\[)")
_NOT_IN_JSON = re.compile(r"[^ -~\n]|(?<=#)#")
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Python counts as printable and that show nothing: fillers, joiners, selectors, the empty Braille cell."""


def visible(text: str) -> str:
    r"""The text on one line, with every character that cannot be seen spelled out.

    >>> visible("two\nlines"), visible("\x1b[31m"), visible("##vso[task]")
    ('two\\nlines', '\\x1b[31m', '#\\x23vso[task]')
    """
    return "".join(_shown(text))


def visible_line(text: str) -> str:
    r"""The same for a text at the beginning of a line, where `::error::` is a command too, even after blanks.

    >>> visible_line("::error::"), visible_line("a::b")
    ('\\x3a:error::', 'a::b')
    """
    shown = visible(text)
    return shown.replace(":", "\\x3a", 1) if shown.lstrip().startswith("::") else shown


def visible_code(*parts: str) -> list[str]:
    """The parts of a line of code made visible, tabs as four blanks.

    They are looked at together: a command may begin in one of them and go on in the next.
    """
    parts = tuple(part.replace("\t", "    ") for part in parts)
    shown = _shown("".join(parts))
    ends = accumulate(map(len, parts), initial=0)
    return ["".join(shown[start:end]) for start, end in pairwise(ends)]


def columns(text: str) -> int:
    """How many columns of a terminal a visible text takes: two for wide characters, none for combining marks."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def dump_json(value: object, *, indent: int | None = None) -> str:
    r"""JSON in ASCII that reads back as the value, but for lone surrogates, which are spelled out.

    Many parsers refuse a document with a lone surrogate, and a file name may hold one (`os.fsdecode`).
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return _NOT_IN_JSON.sub(lambda match: _json_escape(match[0]), text)


def uri(path: str) -> str:
    """A path as a relative or `file:` URI; bytes of the name that are not text are kept."""
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        data = path.encode("utf-8", "surrogatepass")
    return f"file://{quote(data)}" if path.startswith("/") else quote(data)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _shown(text: str) -> list[str]:
    """What is shown for each character."""
    shown = [
        c if c.isprintable() and (c < "\u034f" or not _INVISIBLE.match(c)) else _spelled(c) for c in text
    ]
    for match in _COMMAND.finditer(text):
        shown[match.start()] = "\\x23"
    return shown


def _spelled(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not text
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _json_escape(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "\\" + _spelled(character)  # of JSON's two backslashes for one
    return "\\u0023" if character == "#" else json.dumps(character)[1:-1]
