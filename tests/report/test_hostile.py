"""Whatever stands in names and code, no format lets it out of its place."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.reports import EMPTY, MISUSE, edit

from hyperheat.report import (
    Alternative,
    Finding,
    Fix,
    FunctionHeat,
    HeatSpan,
    Model,
    Report,
    ScanError,
    SourceText,
    Summary,
)
from hyperheat.report.finding_causes import CodeCause, CodePlace, FindingCauses
from hyperheat.report.formats import FORMATS
from hyperheat.report.text import render

PAYLOADS = (
    *(
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\x00",
        "\x07",
        "\x0b",
        "\x0c",
        "\x1b[2J",
        "\x1b]0;title\x07",
        "\x7f",
        "\x9b31m",
    ),
    *(
        "\x85",
        "\u2028",
        "\u2029",
        "\u202e",
        "\u2066",
        "\u200f",
        "\u200b",
        "\ufeff",
        "\ufffe",
        "\uffff",
        "\U000e0041",
    ),
    *(
        "\udcff",
        "\ud800",
        "\ud83d\ude00",
        "😀",
        "商",
        "e\u0301",
        "::error::x",
        "\n::set-output name=a::b",
        "::add-mask::",
    ),
    *(
        "##",
        "##[error]",
        "##vso[task.setvariable variable=PATH]",
        "##teamcity[x]",
        "vso[",
        "[",
        "%0A",
        "%25",
        ",",
        ":",
    ),
    *(
        "<script>alert(1)</script>",
        "</code>",
        "-->",
        "]]>",
        "<!--",
        "&lt;",
        '"',
        "'",
        "' onload='x",
        "</style>",
    ),
    *("\\", "\\u001b", "{0}", "[a](https://example.org)", "`", "a", " ", "../", "//", "/"),
)
hostile = st.lists(st.sampled_from(PAYLOADS) | st.characters(), max_size=6).map("".join)
COMMAND = re.compile(r"##\w*\[")


def explain(text: str, place: tuple[tuple[int, int], tuple[int, int]]) -> FindingCauses:
    """An explanation by a token and a relation."""
    (line, column), (end_line, end_column) = place
    at = CodePlace(line=line, column=column, end_line=end_line, end_column=end_column)
    token = CodeCause(kind="token", text=text, meaning="", places=(at,), confidence=0.5)
    relation = CodeCause(kind="relation", text=text, meaning=text, places=(), confidence=0.5)
    return FindingCauses(confidence=0.75, causes=(token,), against=(relation,), tried=2, left_out=0)


@st.composite
def reports(draw: st.DrawFn) -> tuple[Report, dict[str, SourceText]]:
    path, code = draw(hostile), draw(hostile)
    start = (draw(st.integers(1, 3)), draw(st.integers(1, 9)))
    end = (start[0] + draw(st.integers(0, 2)), start[1] + draw(st.integers(0, 9)))
    fix = Fix((edit(*start, *end, draw(hostile)),))
    finding = Finding(
        path=path,
        rule="HH401",
        kind="literal",
        line=start[0],
        column=start[1],
        end_line=end[0],
        end_column=end[1],
        function=draw(hostile),
        message=draw(hostile),
        confidence=draw(st.floats(0, 1)),
        tier=draw(st.sampled_from("ABCD")),
        alarm_rate=draw(st.none() | st.floats(1e-7, 1)),
        fix=fix,
        alternatives=(Alternative(kind="literal", message=draw(hostile), confidence=0.5, fix=fix),),
        why=draw(st.none() | st.builds(explain, hostile, st.just((start, end)))),
    )
    heat = HeatSpan(line=start[0], column=start[1], end_line=end[0], end_column=end[1], suspicion=0.5)
    report = Report(
        version="0.1.0",
        model=Model(name=draw(hostile), sha256=""),
        findings=(finding,),
        errors=(ScanError(path=draw(hostile), rule="HH900", reason=draw(hostile), line=1),),
        summary=Summary(files=1, functions=1, notes=(draw(hostile),)),
        heat=(FunctionHeat(path=path, function=finding.function, line=1, end_line=3, heats=(heat,)),),
    )
    return report, {path: SourceText(f"{code}\n{draw(hostile)}\n{code}")}


def strings_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *strings_in(item))
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)
    elif isinstance(value, str):
        yield value


@given(made=reports())
@settings(max_examples=80, deadline=None)
def test_nothing_gets_out(made: tuple[Report, dict[str, SourceText]]):
    for name, render_format in FORMATS.items():
        text = render_format(*made)
        assert text.replace("\n", "").isprintable()
        assert not COMMAND.search(text)
        if name != "github":
            assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]
        CHECKS[name](text, *made)


def check_text(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    coloured = render(report, sources, colour=True)
    assert re.sub(r"\x1b\[[0-9;]+m", "", coloured) == text
    starts = r"HH401 |HH900 | *--> | *\d+ \||\+ *\||  +\| *\^+$|  +\|$| *\+ \||  = or: |$"
    why = r"  +\| *[1-9]~*$|\.\.\.$|Why: |Against it: |  [1-9]  0\.\d{3}  |\d+ parts were tried\.$"
    assert all(re.match(f"{starts}|{why}", line) for line in text.split("\n"))


def check_json(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    assert text.isascii()
    (found,), (finding,) = json.loads(text)["findings"], report.findings
    for name in ("path", "function", "message"):
        assert found[name] == without_surrogates(getattr(finding, name))
    assert found["fix"]["edits"][0]["text"] == without_surrogates(finding.fix.edits[0].text)


def without_surrogates(text: str) -> str:
    spelled = re.sub("[\udc80-\udcff]", lambda match: f"\\x{ord(match[0]) & 0xFF:02x}", text)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", spelled)


def check_json_lines(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    types = [json.loads(line)["type"] for line in text.splitlines()]
    assert types == ["report", "finding", "error", "summary"]


def check_sarif(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    assert text.isascii()
    (run,) = json.loads(text)["runs"]
    (result,) = run["results"]
    message = result["message"]["text"]
    assert message.isprintable()
    assert not re.search(r"(?<!\\)\]\(", message)
    assert not re.search(r"(?<!\{)(\{\{)*\{\d+\}", message)
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"(file:///)?[A-Za-z0-9_.~%/-]*", uri)
    "".join(strings_in(run)).encode("utf-8")  # fails for lone surrogates


def check_github(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    finding, error = text.splitlines()  # at every character that any reader takes for a line end
    (only,) = report.findings
    columns = r",col=\d+,endColumn=\d+" if only.line == only.end_line else ""
    title = "title=HH401 wrong-literal"
    assert re.match(rf"::(error|warning|notice) file=[^:,]*,line=\d+,endLine=\d+{columns},{title}::", finding)
    assert re.match(r"::warning file=[^:,]*,line=1,title=HH900 not-parsed::", error)
    assert re.fullmatch(r"([^%]|%(25|0A|0D|3A|2C))*", text)


def check_junit(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    assert text.isascii()
    root = ElementTree.fromstring(text)
    assert root.attrib["tests"] == "2"
    assert {element.tag for element in root.iter()} == {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
    }


class Tags(HTMLParser):
    """Fails for tags and attributes that the page has no reason to have, and for wrong nesting."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= TAGS[tag]
        assert all(value and value.startswith("#") for name, value in attrs if name == "href")
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def close(self) -> None:
        super().close()
        assert not self._open


PLAIN_TAGS = """
    head title style body header main h1 h2 h3 h4 p dl dt dd ul li table thead tbody tr code mark ins sup summary
"""
TAGS = dict.fromkeys(PLAIN_TAGS.split(), frozenset())
TAGS |= {
    "html": frozenset({"lang"}),
    "meta": frozenset({"charset", "http-equiv", "content", "name"}),
    "p": frozenset({"class"}),
    "dl": frozenset({"class"}),
    "ol": frozenset({"class", "start"}),
    "td": frozenset({"class"}),
    "th": frozenset({"scope"}),
    "a": frozenset({"href"}),
    "article": frozenset({"id", "class"}),
    "details": frozenset({"id", "open"}),
    "span": frozenset({"class", "title"}),
    "div": frozenset({"class", "role", "tabindex", "aria-label"}),
}


def check_html(text: str, report: Report, sources: dict[str, SourceText]) -> None:
    assert text.isascii()
    tags = Tags()
    tags.feed(text)
    tags.close()


CHECKS = {
    "text": check_text,
    "json": check_json,
    "jsonl": check_json_lines,
    "sarif": check_sarif,
    "github": check_github,
    "junit": check_junit,
    "html": check_html,
}


def test_the_checks_are_for_all_formats():
    assert set(CHECKS) == set(FORMATS)


def test_commands_are_found_across_the_parts_of_a_line():
    place = {"line": 1, "column": 2, "end_line": 1, "end_column": 4}
    finding = replace(MISUSE, path="a.py", **place, fix=Fix((edit(1, 2, 1, 2, "#"),)), alternatives=())
    report = replace(EMPTY, findings=(finding,))
    text = FORMATS["text"](report, {"a.py": SourceText("##vso[task.setvariable]")})
    assert text.splitlines()[3:] == [
        r"1 | #\x23vso[task.setvariable]",
        r"  |  ^^^^^",
        r"+ | ##\x23vso[task.setvariable]",
    ]
