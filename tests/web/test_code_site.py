"""What the pages about code say, and what they refuse."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.web.conftest import Pages
from tests.web.projects import HARM, LONG

from hyperheat.web import code_site

FORBIDDEN = re.compile(
    r"<(script|img|iframe|object|style|link|base|form)\b|\bon\w+=|javascript:|style=", re.IGNORECASE
)


class Parts(HTMLParser):
    """The tags and the text of a page; fails if tags are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name)) is not None]


def test_the_page_lists_findings_and_files(pages: Pages):
    page = Parts(pages.get(""))
    findings = [attributes for _, attributes in page.tags if "data-sure" in attributes]
    assert len(findings) == len(pages.report.findings) > 5
    sure = [float(str(item["data-sure"])) for item in findings]
    assert sure == sorted(sure, reverse=True)
    assert {item["data-tier"] for item in findings} == {finding.tier for finding in pages.report.findings}
    assert "broken.py:1: not valid Python 3" in page.text
    files = [value for value in page.values("id") if value.startswith("file-")]
    assert len(files) == len([file for file in pages.scan.files if file.functions])


def test_a_function_is_shown_with_all_its_places(pages: Pages):
    text = pages.get("function", file=pages.number("merge.py"), line=1)
    page = Parts(text)
    code = "".join(re.findall(r"<code>(.*?)</code>", text))
    for line in LONG.splitlines():
        assert re.sub(r"\W", "", line) in re.sub(r"&\w+;|&#\w+;|<[^>]*>|\W", "", code)
    places = [set(value.split()) for value in page.values("data-places")]
    assert len(set().union(*places)) > 50, "places that are not suspicious can be chosen, too"
    assert any(len(numbers) > 1 for numbers in places), "a piece may belong to a place inside another"
    assert 'class="scale"' in text, "there is a legend"


def test_a_place_is_shown_with_its_repairs_and_why(pages: Pages):
    finding = next(f for f in pages.report.findings if f.path.endswith("planted.py") and f.line == 23)
    at = f"{finding.line}:{finding.column}:{finding.end_line}:{finding.end_column}"
    function = next(f for f in pages.scan.files[0:] if f.path == finding.path)
    line = next(f.line for f in function.functions if f.line <= finding.line <= f.end_line)
    number = pages.number("planted.py")
    text = pages.get("place", file=number, line=line, at=at)
    assert "did you mean <code>item</code> instead of <code>items</code>?" in text
    assert f"{finding.worth}, HH101" in text
    assert text.count("<summary>") > 2
    (address,) = Parts(text).values("data-address")
    why = pages.client.get(f"/secret/{address}").text
    assert f"Without one of these, the confidence of {finding.confidence:.3f} falls" in why
    assert 'class="cause"' in why
    place = re.findall(r"place=(\d+)", address)[0]
    assert pages.get("place", file=number, line=line, place=place) == text


def test_functions_of_notebooks_have_the_lines_of_their_cells(pages: Pages):
    number = pages.number("book.ipynb")
    (function,) = next(file for file in pages.scan.files if file.path.endswith("book.ipynb")).functions
    text = pages.get("function", file=number, line=function.line)
    assert re.search(r"book\.ipynb:cell 3, lines 3 to 8", text)
    assert re.findall(r'<span class="number">(\d+)</span>', text) == [str(line) for line in range(3, 9)]
    (finding,) = (finding for finding in pages.report.findings if finding.path.endswith("book.ipynb"))
    at = f"{finding.line}:{finding.column}:{finding.end_line}:{finding.end_column}"
    assert f'data-line="{function.line}" data-at="{at}"' in pages.get("")
    place = pages.get("place", file=number, line=function.line, at=at)
    assert "Not reported" not in place
    assert '<span class="number">7</span><code>        return <mark>items</mark>' in place
    drawing = pages.get("graph", file=number, line=function.line)
    assert re.findall(r'class="lineno"[^>]*>(\d+)<', drawing) == [str(line) for line in range(3, 9)]
    why = pages.get("why", file=number, line=function.line, place=0)
    assert '<span class="number">7</span><code>        return <mark>' in why
    assert re.search(r"`items?` \((variable, )?lines? [3-8]", why)


def test_lines_that_end_in_two_characters(pages: Pages):
    number = pages.number("dos.py")
    text = pages.get("function", file=number, line=1)
    assert "for item in items:" in Parts(text).text
    place = pages.get("place", file=number, line=1, place=0)
    assert "\\r" not in place


def test_relations_can_be_switched_and_numbers_stay(pages: Pages):
    number = pages.number("merge.py")

    def edges(relations: str | None = None) -> dict[str, str]:
        chosen = "" if relations is None else f"&relations={relations}"
        text = pages.get(f"graph?file={number}&line=1{chosen}")
        boxes = [attributes for _, attributes in Parts(text).tags if attributes.get("class") == "hyperedge"]
        return {str(box["data-edge"]): str(box["aria-label"]) for box in boxes}

    usual = edges()
    assert usual
    assert all(label.startswith("MayWrite e") for label in usual.values())
    names = re.findall(r'value="(\d+)"[^>]*> (\S+) ', pages.get("graph", file=number, line=1))
    relations = {name: int(value) for value, name in names}
    assert {"Tokens", "AstNode", "CtrlF", "MayRead", "MayWrite", "Symbol", "Returns", "append"} <= set(
        relations
    )
    more = edges(f"{relations['CtrlF']}")
    assert all(label.startswith("CtrlF e") for label in more.values())
    chosen = f"{relations['CtrlF']},{relations['MayWrite']}"
    both = pages.get("graph", file=number, line=1, relations=chosen)
    for edge, label in (usual | more).items():
        assert f'data-edge="{edge}"' in both
        assert f"<title>{label}</title>" in both
    assert edges("") == {}


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("function", {}),
        ("function", {"file": "999", "line": "1"}),
        ("function", {"file": "-1", "line": "1"}),
        ("function", {"file": "0", "line": "2.0"}),
        ("function", {"file": "٣", "line": "1"}),
        ("function", {"file": "0", "line": "9" * 30}),
        ("place", {"file": "MERGE", "line": "1", "place": "99999"}),
        ("place", {"file": "MERGE", "line": "1", "at": "1:1:1:1"}),
        ("why", {"file": "MERGE", "line": "1", "place": "99999"}),
        ("nothing", {}),
    ],
)
def test_what_is_not_there_is_said(pages: Pages, path: str, parameters: dict[str, str]):
    known = {
        key: str(pages.number("merge.py")) if value == "MERGE" else value for key, value in parameters.items()
    }
    assert len(pages.get(path, status=404, **known)) < 200


def test_too_many_relations_are_refused(pages: Pages):
    number = pages.number("merge.py")
    text = pages.get("graph", status=400, file=number, line=1, relations="1" * 7_000)
    assert text == "relations: expected at most 1 values of at most 6000 characters"
    pages.get("graph", status=414, file=number, line=1, relations="1" * 9_000)
    assert "hyperedge" not in pages.get("graph", file=number, line=1, relations="-1,x,99999,9999999999,٣")


def test_a_long_list_is_cut_and_says_so(pages: Pages, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(code_site, "MAX_FINDINGS", 2)
    monkeypatch.setattr(code_site, "MAX_FILES", 1)
    page = pages.get("")
    assert page.count('id="finding-') == 2
    assert page.count('id="file-') == 1
    assert f"Only the 2 surest of {len(pages.report.findings)} findings are listed." in page


def test_names_and_code_that_mean_harm_stay_text(pages: Pages):
    page = pages.get("")
    assert page.count("<script") == 1, "its own"
    hostile = [
        number for number, file in enumerate(f for f in pages.scan.files if f.functions) if _is_odd(file.path)
    ]
    assert len(hostile) >= 1
    for number in hostile:
        for path in ("function", "place", "graph"):
            text = pages.get(path, file=number, line=1, **({"place": 0} if path == "place" else {}))
            Parts(text)
            assert text.isascii()
            inside = re.sub(r"<form id=\"relations\"", "", text)
            assert not FORBIDDEN.search(re.sub(r"&\w+;|>[^<]*<", "><", _without_values(inside))), path
            assert "&#8238;" not in text, "marks that reverse the text are spelled out"
    shown = Parts(pages.get("function", file=hostile[0], line=1)).text
    assert HARM in shown
    assert "\\u202e" in shown


def _is_odd(path: str) -> bool:
    return "img src" in path or "odd" in path


def _without_values(text: str) -> str:
    """The page without what stands in quotes, where anything may stand as long as it cannot end them."""
    return re.sub(r'"[^"<>]*"', '""', text)


def test_a_file_that_changed_is_not_shown(pages: Pages, project: Path):
    path = project / "clean.py"
    before = path.read_bytes()
    path.write_bytes(before + b"\n")
    try:
        number = pages.number("clean.py")
        line = next(f.functions[0].line for f in pages.scan.files if f.path.endswith("clean.py"))
        for name in ("function", "graph"):
            text = pages.get(name, status=409, file=number, line=line)
            assert "has changed since it was checked: start hyperheat explore again." in text
    finally:
        path.write_bytes(before)
