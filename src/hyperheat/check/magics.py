"""IPython's commands in the code of a notebook, which are not Python: found, and replaced so that the rest can be read.

    %matplotlib inline        line magics, also `x = %who_ls`
    !pip install numpy        commands of the shell, also `x = !ls`
    %%time                    cell magics; the rest of the cell is Python after some, and skipped after all others
    len?  ?len  len??         help
    /f x  ,f x  ;f x          calls without brackets

A command begins where a statement does, so lines inside of brackets and strings are left alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PlainCell", "without_commands"]

_PYTHON_MAGICS = frozenset({"time", "timeit", "capture", "prun", "debug", "ipytest"})
"""Cell magics after which the rest of a cell is Python of the notebook; others give it to another program."""

_CELL_MAGIC = re.compile(r"\s*%%(?P<name>\w*)")
_LINE_END = re.compile(r"\r\n?|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_COMMAND = re.compile(r"(?P<blank>[ \t]*)(?:[%!?]|[/,;](?=[\w.]))")
_ASSIGNED = re.compile(r"(?P<blank>[ \t]*)(?P<names>[\w.,*\[\]'\" \t()]+?)=[ \t]*[%!](?!=)")
_HELP = re.compile(r"(?P<blank>[ \t]*)%{0,2}[\w.*\[\]]+\?{1,2}\s*")
_PIECE = re.compile(
    r"(?P<comment>#.*)|(?P<quote>\"\"\"|'''|\"|\')|(?P<open>[(\[{])|(?P<close>[)\]}])", re.DOTALL
)
_STRING_ENDS = {quote: re.compile(rf"\\(?:\r\n|.)|{quote}", re.DOTALL) for quote in ('"', "'", '"""', "'''")}


@dataclass(frozen=True, slots=True)
class PlainCell:
    """The code of a cell with as many lines as before, and the lines, from 1, that held commands.

    It is empty but for its line ends if the cell is not Python.
    """

    text: str
    commands: frozenset[int]


def without_commands(text: str) -> PlainCell:
    """The cell with `pass` in place of each command, and `None` in place of one whose result is assigned."""
    magic = _CELL_MAGIC.match(text)
    lines = _LINE.findall(text)
    if magic:
        first = len(_LINE_END.findall(text, 0, magic.start("name")))
        if magic["name"] not in _PYTHON_MAGICS:
            return PlainCell("".join(map(_end, lines)), frozenset(range(1, len(lines) + 1)))
        rest = without_commands("".join(lines[first + 1 :]))
        above = "".join(map(_end, lines[: first + 1]))
        return PlainCell(above + rest.text, frozenset({first + 1, *(first + 1 + n for n in rest.commands)}))
    plain, commands = [], set[int]()
    statements = list(_statement_starts(lines))
    number = 0
    while number < len(lines):
        replaced = _replaced(lines[number]) if statements[number] else None
        if replaced is None:
            plain.append(lines[number])
            number += 1
            continue
        plain.append(replaced + _end(lines[number]))
        commands.add(number + 1)
        while lines[number].rstrip("\r\n").endswith("\\") and number + 1 < len(lines):
            number += 1
            plain.append(_end(lines[number]))
            commands.add(number + 1)
        number += 1
    return PlainCell("".join(plain), frozenset(commands))


def _replaced(line: str) -> str | None:
    """What stands in place of a command; None if the line is none."""
    if match := _COMMAND.match(line):
        return f"{match['blank']}pass"
    if match := _ASSIGNED.match(line):
        return f"{match['blank']}{match['names'].strip()} = None"
    if match := _HELP.fullmatch(line):
        return f"{match['blank']}pass"
    return None


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _statement_starts(lines: list[str]) -> Iterator[bool]:
    """For each line whether a statement can begin on it: not inside of brackets or strings, nor after a backslash."""
    depth, quote, continued = 0, "", False
    for line in lines:
        begins = not (depth or quote or continued)
        yield begins
        continued = line.rstrip("\r\n").endswith("\\")
        if begins and _replaced(line) is not None:
            continue
        depth, quote = _after(line, depth, quote)
        if len(quote) == 1 and not continued:
            quote = ""  # a string that is not closed on its line, an error that Python will tell


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets, and which string, are open after a line, given those before it."""
    at = 0
    while at < len(line):
        if quote:
            ends = (match for match in _STRING_ENDS[quote].finditer(line, at) if match[0] == quote)
            match = next(ends, None)
            if match is None:
                return depth, quote
            quote = ""
        else:
            match = _PIECE.search(line, at)
            if match is None or match.lastgroup == "comment":
                return depth, ""
            quote = match["quote"] or ""
            depth = max(depth + (match["open"] is not None) - (match["close"] is not None), 0)
        at = match.end()
    return depth, quote
