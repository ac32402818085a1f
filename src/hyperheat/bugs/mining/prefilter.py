"""A cheap look at two versions of a file, without parsing: which functions differ, and could one rewrite explain it?

Functions are found by lines that begin with `def` or `class` and their indentation; they end at the next line of
code that is not indented further. Where that goes wrong, for example with code in unindented strings, a change may be
missed; what is found is parsed later and compared as a tree.

Only the lines that differ are read, token by token and without regard to syntax. At most two tokens may go and two
come, comments, brackets and commas aside: operators, small numbers, words such as `not`, and one name for another one
that occurs in the first version.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

__all__ = [
    "MAX_SIZE_CHANGE",
    "ChangedFunction",
    "Functions",
    "code_tokens",
    "differing_functions",
    "function_may_be_rewritten",
    "may_be_rewrite",
    "tokens",
]

_DEFINITION_WORDS = (b"def ", b"class ")
_DEFINITION = re.compile(rb"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_TRIPLE = (b'"""', b"'''")

FunctionPlace = tuple[str, int]
"""A qualified name, and which of the functions of that name in the file it is, counted from 0."""


@dataclass(frozen=True)
class Functions:
    """The outermost functions of a file: where their texts begin and where the next definition does."""

    text: bytes
    spans: dict[FunctionPlace, tuple[int, int, int]]
    """Start, end and indentation."""

    @classmethod
    def of(cls, text: bytes) -> "Functions":
        """Split a file."""
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        spans: dict[FunctionPlace, tuple[int, int, int]] = {}
        counts: dict[str, int] = {}
        classes: list[tuple[int, str]] = []
        current: tuple[FunctionPlace, int, int] | None = None
        last = 0
        for found in _definitions(text):
            indent = _least_indent(text, last, found) if current or classes else len(found[1])
            last = found.start()
            if current is not None:
                place, start, outer = current
                if indent > outer:  # inside of the function
                    continue
                spans[place] = start, last, outer
                current = None
            while classes and classes[-1][0] >= indent:
                classes.pop()
            indent = len(found[1])
            name = found[3].decode(errors="replace")
            if found[2] == b"class":
                classes.append((indent, name))
            else:
                name = ".".join([*(name for _, name in classes), name])
                number = counts.get(name, 0)
                counts[name] = number + 1
                current = (name, number), last, indent
        if current is not None:
            place, start, outer = current
            spans[place] = start, len(text), outer
        return cls(text, spans)

    def function(self, place: FunctionPlace) -> bytes:
        """The text of a function, from its `def` to its last line."""
        start, end, indent = self.spans[place]
        text = self.text[start:end]
        for found in _outside(indent).finditer(text, text.find(b"\n") + 1):
            if _is_code(text, 0, found.start()):
                return text[: found.start()].rstrip() + b"\n"
        return text.rstrip() + b"\n"

    def has_as(self, place: FunctionPlace, other: "Functions") -> bool:
        """Whether another file has the function with the same text, or with the same code after it."""
        if place not in other.spans:
            return False
        (start, end, _), (other_start, other_end, _) = self.spans[place], other.spans[place]
        if (
            end - start == other_end - other_start
            and self.text[start:end] == other.text[other_start:other_end]
        ):
            return True
        return self.function(place) == other.function(place)


@dataclass(frozen=True)
class ChangedFunction:
    """A function whose text differs between two versions of a file."""

    place: FunctionPlace
    before: bytes
    after: bytes


def differing_functions(before: Functions, after: Functions) -> Iterator[ChangedFunction]:
    """The functions that are in both files with different texts."""
    for place in before.spans:
        if place in after.spans and not before.has_as(place, after):
            yield ChangedFunction(place, before.function(place), after.function(place))


def _definitions(text: bytes) -> list[re.Match[bytes]]:
    """The lines that begin with `def` or `class`, in order; looks for the words first, which is faster than for lines."""
    starts = set()
    for word in _DEFINITION_WORDS:
        at = text.find(word)
        while at >= 0:
            starts.add(text.rfind(b"\n", 0, at) + 1)
            at = text.find(word, at + len(word))
    return [found for start in sorted(starts) if (found := _DEFINITION.match(text, start))]


def _least_indent(text: bytes, last: int, definition: re.Match[bytes]) -> int:
    """The indentation of a definition, or less if code since the last one has less: of an `else:` above it, say."""
    least = len(definition[1])
    if least:
        for found in _outside(least - 1).finditer(text, text.find(b"\n", last), definition.start()):
            if _is_code(text, last, found.start()):
                least = min(least, len(found[0]) - 1)
    return least


def _is_code(text: bytes, start: int, place: int) -> bool:
    """Whether a place after some code is not inside of a long string."""
    return all(text.count(quotes, start, place) % 2 == 0 for quotes in _TRIPLE)


@cache
def _outside(indent: int) -> re.Pattern[bytes]:
    """The beginning of a line of code that is not indented further than a function; its closing bracket may be."""
    return re.compile(rb"^[ \t]{0,%d}[^\s#)\]}]" % indent, re.MULTILINE)


MAX_SIZE_CHANGE = 100
"""Versions of a file whose sizes in bytes differ by more are not read."""
_MAX_LINES = 12
_MAX_BYTES = 4_000
_MAX_TOKENS = 2
_TOKEN = re.compile(
    rb"""#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    rb"""|[A-Za-z_\x80-\xff][\w\x80-\xff]*|\d[\w.]*|(?:\*\*|//|<<|>>|[-+*/%@&|^<>=!:])=?|\S"""
)
_HEADER_TOKEN = re.compile(rb"""#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[][(){}:]""")
_ANNOTATED = rb"\n[ \t]*(?!(?:else|try|finally|except|lambda)\b)[A-Za-z_\x80-\xff][\w.\x80-\xff]*[ \t]*:(?!=)"
"""The beginning of a statement such as `x: int = 1`, or of a line such as `key: value` between brackets."""
_BODY_SIGN = re.compile(_ANNOTATED + rb"""|\n|#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[][(){}=]""")
_DOCSTRING = re.compile(
    rb"""\A\s*+(?:\#[^\n]*+\s*+)*+[rRuU]?(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\n]*"|'[^'\n]*')[ \t]*(?=\n|\Z)""",
    re.DOTALL,
)
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_IGNORED = frozenset(b"()[]{},\\")
_WORDS = frozenset({b"True", b"False", b"not", b"and", b"or", b"is", b"in", b"0", b"1", b"2"})
_OPERATORS = frozenset(
    {
        *(b"+", b"-", b"*", b"**", b"/", b"//", b"%", b"@", b"<<", b">>", b"|", b"&", b"^", b"="),
        *(b"+=", b"-=", b"*=", b"**=", b"/=", b"//=", b"%=", b"@=", b"<<=", b">>=", b"|=", b"&=", b"^="),
        *(b"<", b"<=", b">", b">=", b"==", b"!="),
    }
)


def may_be_rewrite(before: bytes, after: bytes) -> bool:
    """Whether the lines of a file that differ leave room for exactly one rewrite."""
    old, new = _differing_lines(before, after)
    if max(len(old), len(new)) > _MAX_BYTES or max(old.count(b"\n"), new.count(b"\n")) > _MAX_LINES:
        return False
    return _tokens_may_be_rewritten(old, new, before)


def function_may_be_rewritten(before: bytes, after: bytes) -> bool:
    """Whether two texts of a function, from `def` on, leave room for one rewrite of its body.

    Docstrings and annotations may differ; lines are compared wherever they stand.
    """
    old_header, old_body = _split_header(before)
    new_header, new_body = _split_header(after)
    if old_header != new_header and _without_types(old_header) != _without_types(new_header):
        return False
    old_code, new_code = _code(old_body), _code(new_body)
    old_lines, new_lines = Counter(old_code.split(b"\n")), Counter(new_code.split(b"\n"))
    gone, come = old_lines - new_lines, new_lines - old_lines
    if not gone and not come:  # arguments that change places may take their lines with them
        return tokens(old_code) != tokens(new_code)
    if max(gone.total(), come.total()) > _MAX_LINES:
        return False
    return _tokens_may_be_rewritten(b"\n".join(gone.elements()), b"\n".join(come.elements()), before)


def code_tokens(text: bytes) -> list[bytes]:
    """The tokens of a function without its docstring, annotations, comments, brackets, commas and layout."""
    header, body = _split_header(text)
    return [*_without_types(header), *tokens(_code(body))]


def _tokens_may_be_rewritten(old: bytes, new: bytes, before: bytes) -> bool:
    old_tokens, new_tokens = tokens(old), tokens(new)
    if old_tokens == new_tokens:
        return False
    gone, come = Counter(old_tokens), Counter(new_tokens)
    gone, come = gone - come, come - gone
    if gone.total() > _MAX_TOKENS or come.total() > _MAX_TOKENS:
        return False
    gone_names, come_names = _names(gone), _names(come)
    if gone_names is None or come_names is None or len(gone_names) != len(come_names) or len(come_names) > 1:
        return False
    return all(re.search(rb"\b" + re.escape(name) + rb"\b", before) for name in come_names)


def _split_header(text: bytes) -> tuple[bytes, bytes]:
    """The signature of a function up to its colon, and the rest."""
    depth = 0
    for found in _HEADER_TOKEN.finditer(text):
        sign = found[0]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
        elif sign == b":" and depth == 0:
            return text[: found.end()], text[found.end() :]
    return text, b""


def _code(body: bytes) -> bytes:
    """The body of a function without its docstring, with `x: int = 1` as `x = 1` and `x: int` not at all."""
    body = _DOCSTRING.sub(b"", body, count=1)
    if re.search(_ANNOTATED, body) is None:
        return body
    parts: list[bytes] = []
    depth = end = 0
    annotated: tuple[int, int] | None = None  # where the statement and its type begin
    for found in _BODY_SIGN.finditer(body):
        sign = found[0]
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth or sign[:1] not in (b"\n", b"="):
            continue
        if annotated is not None:
            parts.append(body[end : annotated[sign == b"="]])
            end = found.start()
        annotated = (found.start(), found.end() - 1) if len(sign) > 1 else None
    return b"".join([*parts, body[end:]])


def _without_types(header: bytes) -> list[bytes]:
    """The tokens of a signature without the types of parameters and of the result."""
    kept: list[bytes] = []
    depth, skipping = 0, False
    for found in _TOKEN.finditer(header):
        token = found[0]
        if token[:1] == b"#":
            continue
        depth += (token in _OPENING) - (token in _CLOSING)
        if (depth == 1 and token == b":") or (depth == 0 and token == b"-"):
            skipping = True
        elif (depth == 1 and token in (b",", b"=")) or (depth == 0 and token in (b")", b":")):
            skipping = False
        if not skipping and token[0] not in _IGNORED:
            kept.append(token)
    return kept


def _differing_lines(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """The whole lines from the first byte that differs to the last."""
    start = _equal(before, after)
    start = before.rfind(b"\n", 0, start) + 1
    old, new = before[start:], after[start:]
    end = _equal(old[::-1], new[::-1])
    line_end = old.find(b"\n", len(old) - end)
    kept = len(old) - line_end if line_end >= 0 else 0
    return old[: len(old) - kept], new[: len(new) - kept]


def _equal(first: bytes, second: bytes) -> int:
    """How many bytes two texts have in common at their beginning, by halving."""
    low, high = 0, min(len(first), len(second)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


def tokens(text: bytes) -> list[bytes]:
    """The tokens of a text without comments, brackets, commas and layout; strings with braces may hold code."""
    found: list[bytes] = []
    for token in _TOKEN.findall(text):
        if token[0] in b"\"'" and b"{" in token:
            found += [token[:1], *tokens(token[1:-1].replace(b"#", b" ")), token[:1]]
        elif token[0] not in _IGNORED and token[:1] != b"#":
            found.append(token)
    return found


def _names(counts: Counter[bytes]) -> list[bytes] | None:
    """The names among tokens; None if there is something that no rewrite changes."""
    others = [token for token in counts.elements() if token not in _WORDS and token not in _OPERATORS]
    return others if all(map(_NAME.fullmatch, others)) else None
