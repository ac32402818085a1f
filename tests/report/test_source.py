"""Lines, places and edits of files as they are."""

import pytest
from tests.report.reports import edit

from hyperheat.pycode import extract
from hyperheat.report import FileEdit, SourceText
from hyperheat.rewrites import Span, apply_edits, candidates, edits_in_file, place

TEXT = "\ufeffa = 1\r\nb\x0c\u2028 = 2\rc\n"


def test_lines_end_as_in_python():
    source = SourceText(TEXT)
    assert [source.line(number) for number in range(6)] == ["", "a = 1", "b\x0c\u2028 = 2", "c", "", ""]
    assert source.last_line == 4


def test_places_beyond_an_end_are_that_end():
    source = SourceText(TEXT)
    assert TEXT[source.offset(1, 5) :].startswith("1\r\n")
    assert source.offset(1, 6) == source.offset(1, 99) == TEXT.index("\r")
    assert source.offset(9, 1) == len(TEXT)


def test_edits_keep_all_other_characters():
    edits = (edit(1, 1, 1, 2, "aa"), edit(1, 6, 3, 1, ";"), edit(3, 2, 3, 2, "!"))
    assert SourceText(TEXT).edited(edits) == "\ufeffaa = 1;c!\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_edits_are_those_of_rewrites(line_end: str):
    text = "\ufeff# é\ndef f(a, b):\n    return g('ü', a,\n        b)\n".replace("\n", line_end)
    function = extract(text.encode("utf-8")).functions[0]
    found = candidates(function)
    assert {rewrite.kind for rewrite in found} == {"variable-misuse", "argument-swap", "boolean-operator"}
    for rewrite in found:
        expected = edits_in_file(rewrite, function, text)
        edits = []
        for old, new in zip(rewrite.edits, expected, strict=True):
            line, column, end_line, end_column = place(function, Span(old.start, old.end))
            edits.append(
                FileEdit(
                    line=line, column=column + 1, end_line=end_line, end_column=end_column + 1, text=new.text
                )
            )
        assert SourceText(text).edited(edits) == apply_edits(expected, text)
