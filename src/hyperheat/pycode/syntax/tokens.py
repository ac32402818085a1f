"""The token stream of a function whose text is already known to parse.

Not the standard library's `tokenize`: one regular expression match per token is several times faster, gives
f-strings the same tokens under every version of Python (`f"`, text, `{`, the tokens of the expression, `}`,
`"`), and knows all letters that names may have. Two more differences are meant: line ends are not tokens, and
`not in` and `is not` are one token each, since each is one operator.

Every INDENT and DEDENT is a token of its own, also where several blocks end at one place, so that they
balance.
"""

import re
import sys
from dataclasses import dataclass

__all__ = ["DEDENT", "INDENT", "ReplacementField", "TokenStream", "TooManyTokens", "find_comments", "scan"]

INDENT, DEDENT = "<INDENT>", "<DEDENT>"


@dataclass(frozen=True, slots=True)
class ReplacementField:
    """One replacement field of an f-string as token indices: `{`, what follows the expression, and `}`."""

    equal: int | None
    conversion: int | None
    specification: int | None
    close: int


@dataclass(frozen=True, slots=True)
class TokenStream:
    """Parallel lists: the text, start offset and end offset of every token.

    `fields` maps the token index of the `{` of each replacement field to the field; `quotes` holds the
    indices of the tokens that open and close f-strings.
    """

    texts: list[str]
    starts: list[int]
    ends: list[int]
    fields: dict[int, ReplacementField]
    quotes: set[int]


class TooManyTokens(ValueError):
    """More tokens than the limit given to `scan`."""


def scan(text: str, start: int, end: int, limit: int = sys.maxsize) -> TokenStream:
    """The tokens of the whole lines `text[start:end]`; the indentation of the first counts as none."""
    scanner = _Scanner(text, end, limit)
    scanner.scan_lines(start)
    return TokenStream(scanner.texts, scanner.starts, scanner.ends, scanner.fields, scanner.quotes)


def find_comments(text: str, tokens: TokenStream, end: int) -> list[tuple[int, int, int]]:
    """(index of the next token, start, end) of every comment, up to the offset `end`."""
    found = []
    previous = tokens.starts[0]
    for index, start in enumerate([*tokens.starts, end]):
        if start > previous:
            found += [(index, *match.span()) for match in _COMMENT.finditer(text, previous, start)]
        if index < len(tokens.ends):
            previous = tokens.ends[index]
    return found


_COMMENT = re.compile(r"#[^\n]*")
_STRING = "|".join(
    (
        r'"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""',
        r"'''[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'''",
        r'"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"',
        r"'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'",
    )
)
_NUMBER = (
    r"0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?"
)
_OPERATOR = r"\*\*=?|//=?|>>=?|<<=?|->|:=|\.\.\.|\.(?!\d)|[-+*/%&@|^=<>!]=?|[~,;(){}[\]:]"
# In text that parses, every non-ASCII character outside strings and comments is part of a name.
_NAME = r"[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*+"  # by what it is not, which compiles sooner
_PATTERN = r"""{gap}(?:
    (not{space}in\b|is{space}not\b)
  | ({name}(?!["']))
  | ({operator})
  | ((?:[rRuUbB]|[bB][rR]|[rR][bB])?(?:{string})|{number})
  | ((?:[fFtT][rR]?|[rR][fFtT])(?:\"\"\"|'''|"|'))
  | (\n)
  | ({name})                                            # a keyword that touches a string: in"abc"
  | \Z)"""
_TWO_WORDS, _WORD, _OPERATION, _LITERAL, _FORMATTED, _LINE_END, _KEYWORD = range(1, 8)


def _compile(gap: str, space: str) -> re.Pattern[str]:
    pattern = _PATTERN.format(
        gap=gap, space=space, name=_NAME, operator=_OPERATOR, string=_STRING, number=_NUMBER
    )
    return re.compile(pattern, re.VERBOSE)


_ON_LINE = _compile(r"[ \f\t]*(?:\\\n[ \f\t]*)*(?:\#[^\n]*)?", r"(?:[ \f\t]|\\\n)+")
_IN_BRACKETS = _compile(r"[ \f\t\n]*(?:(?:\\\n|\#[^\n]*)[ \f\t\n]*)*", r"(?:[ \f\t\n]|\\\n|\#[^\n]*\n)+")
_INDENTATION = re.compile(r"(?:[ \f\t]*(?:#[^\n]*)?\n)*([ \f\t]*)(?![ \f\t#\n])")


def _text_pattern(quote: str, *, raw: bool) -> re.Pattern[str]:
    """The literal text of an f-string up to its quote or the next single brace."""
    own = re.escape(quote[0])
    parts = [r"\{\{", r"\}\}", r"\\(?=[{}])", r"\\[\s\S]", rf"[^\\{{}}{own}]"]
    if not raw:
        parts.insert(0, r"\\N\{[^}]*\}")
    if len(quote) == 3:
        parts.append(rf"{own}(?!{own}{own})")
    return re.compile(f"(?:{'|'.join(parts)})*+")


_TEXT = {(q, raw): _text_pattern(q, raw=raw) for q in ('"', "'", '"""', "'''") for raw in (False, True)}
_SPECIFICATION = re.compile(r"[^{}]*+")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class _Scanner:
    """Walks the text once; every method starts at an offset and returns the offset after what it has read."""

    def __init__(self, text: str, end: int, limit: int) -> None:
        self.text = text
        self.end = end
        self.limit = limit
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.fields: dict[int, ReplacementField] = {}
        self.quotes: set[int] = set()

    def add(self, start: int, end: int) -> int:
        self.texts.append(self.text[start:end])
        self.starts.append(start)
        self.ends.append(end)
        return end

    def scan_lines(self, at: int) -> None:
        levels: list[int] = []
        at = self._indent(at, levels)
        while at < self.end:
            at = self._expression(at, _ON_LINE)
            at = self._indent(at, levels)
        self._close_blocks(levels, levels[0] if levels else 0, self.ends[-1] if self.ends else at)

    def _indent(self, at: int, levels: list[int]) -> int:
        """Read blank lines, comment lines and the indentation of the next line of code."""
        match = _INDENTATION.match(self.text, at, self.end)
        if match is None or match.end() == self.end:
            return self.end
        width = _width(match[1])
        if not levels:
            levels.append(width)
        elif width > levels[-1]:
            levels.append(width)
            self.texts.append(INDENT)
            self.starts.append(match.start(1))
            self.ends.append(match.end(1))
        elif width < levels[-1]:
            self._close_blocks(levels, width, match.end())
        return match.end()

    def _close_blocks(self, levels: list[int], width: int, at: int) -> None:
        while levels and levels[-1] > width:
            levels.pop()
            self.texts.append(DEDENT)
            self.starts.append(at)
            self.ends.append(at)

    def _expression(self, at: int, pattern: re.Pattern[str]) -> int:
        """Read a logical line, or, with the pattern for brackets, the expression of a replacement field."""
        text, end = self.text, self.end
        texts, starts, ends = self.texts, self.starts, self.ends
        in_field = pattern is _IN_BRACKETS
        match_at = pattern.match
        depth = 0
        while True:
            match = match_at(text, at, end)
            if match is None:  # cannot be, since the text parses; never loop on it
                raise ValueError(f"expected a token at offset {at}, got {text[at : at + 20]!r}")
            kind = match.lastindex
            if kind is None:
                return end
            if len(texts) > self.limit:
                raise TooManyTokens
            start, at = match.span(kind)
            word = match[kind]
            if kind == _OPERATION:
                if word in _OPENING:
                    depth += 1
                    match_at = _IN_BRACKETS.match
                elif in_field and not depth and (word == "}" or (word[0] in ":!" and word != "!=")):
                    return start
                elif word in _CLOSING:
                    depth -= 1
                    if not depth and not in_field:
                        match_at = pattern.match
            elif kind == _FORMATTED:
                at = self._formatted_string(start, at)
                continue
            elif kind == _LINE_END:
                return at
            elif kind == _TWO_WORDS:
                word = "not in" if word[0] == "n" else "is not"
            texts.append(word)
            starts.append(start)
            ends.append(at)

    def _formatted_string(self, start: int, at: int) -> int:
        prefix = self.text[start:at]
        quote = prefix.lstrip("fFtTrR")
        pattern = _TEXT[quote, "r" in prefix.lower()]
        self.quotes.add(len(self.texts))
        self.add(start, at)
        while True:
            match = pattern.match(self.text, at, self.end)
            at = match.end() if match else at
            if match and match.start() != at:
                self.add(match.start(), at)
            if not self.text.startswith("{", at):
                self.quotes.add(len(self.texts))
                return self.add(at, at + len(quote))
            at = self._field(at)

    def _field(self, at: int) -> int:
        """Read a replacement field `{expression = !conversion :specification}`."""
        text, opening = self.text, len(self.texts)
        at = self._expression(self.add(at, at + 1), _IN_BRACKETS)
        equal = len(self.texts) - 1 if self.texts[-1] == "=" else None
        conversion = specification = None
        if text[at] == "!":
            at = self.add(at, at + 1)
            conversion = len(self.texts)
            at = self._expression(at, _IN_BRACKETS)
        if text[at] == ":":
            at = self.add(at, at + 1)
            specification = len(self.texts)
            at = self._specification(at)
        self.fields[opening] = ReplacementField(equal, conversion, specification, len(self.texts))
        return self.add(at, at + 1)

    def _specification(self, at: int) -> int:
        while True:
            match = _SPECIFICATION.match(self.text, at, self.end)
            if match and match.end() != at:
                at = self.add(at, match.end())
            if not self.text.startswith("{", at):
                return at
            at = self._field(at)


def _width(indentation: str) -> int:
    """The column an indentation reaches: tabs go to the next multiple of 8, a form feed starts over."""
    return len(indentation.rpartition("\f")[2].expandtabs(8))
