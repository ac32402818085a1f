"""A cheap look at two versions of a file: could one rewrite lead from the first to the second?

Only the lines that differ are read, token by token and without regard to syntax. At most two tokens may go and two
come, comments, brackets and commas aside: operators, small numbers, words such as `not`, and one name for
another one that occurs in the file. What passes is still to be parsed and compared.
"""

import re
from collections import Counter

__all__ = ["MAX_SIZE_CHANGE", "may_be_rewrite"]

MAX_SIZE_CHANGE = 100
"""Versions of a file whose sizes in bytes differ by more are not read."""
_MAX_LINES = 12
_MAX_BYTES = 4_000
_MAX_TOKENS = 2
_TOKEN = re.compile(
    rb"""#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    rb"""|[A-Za-z_\x80-\xff][\w\x80-\xff]*|\d[\w.]*|(?:\*\*|//|<<|>>|[-+*/%@&|^<>=!:])=?|\S"""
)
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
    """Whether the lines that differ leave room for exactly one rewrite."""
    old, new = _differing_lines(before, after)
    if max(len(old), len(new)) > _MAX_BYTES or max(old.count(b"\n"), new.count(b"\n")) > _MAX_LINES:
        return False
    old_tokens, new_tokens = _tokens(old), _tokens(new)
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


def _tokens(text: bytes) -> list[bytes]:
    found = _TOKEN.findall(text)
    return [token for token in found if token[0] not in _IGNORED and token[:1] != b"#"]


def _names(tokens: Counter[bytes]) -> list[bytes] | None:
    """The names among tokens; None if there is something that no rewrite changes."""
    others = [token for token in tokens.elements() if token not in _WORDS and token not in _OPERATORS]
    return others if all(map(_NAME.fullmatch, others)) else None
