"""The pages in a real browser: what a reader does, with the mouse and without, and no error on the way."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from tests.report.reports import MISUSE, REPORT
from tests.web.browser import CHROMIUM, Browser, open_browser

from hyperheat.report import FileEdit, Fix, SourceText
from hyperheat.report.formats import FORMATS

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Chromium: install the package chromium, or set CHROMIUM to its path"
)
ITEMS = "[...document.querySelectorAll('#findings [role=option]')]"
QUIET = "!document.querySelector('.busy')"


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def browser(shared: Browser) -> Iterator[Browser]:
    """A browser in which nothing may go wrong, and which may ask only this machine."""
    shared.problems.clear()
    shared.requests.clear()
    yield shared
    assert shared.problems == []
    hosts = {
        urlsplit(url).hostname for url in shared.requests if not url.startswith(("about:", "data:", "file:"))
    }
    assert hosts <= {"127.0.0.1"}


@pytest.fixture
def code(browser: Browser, server: str) -> Browser:
    """The page about code, just opened."""
    browser.go(server)
    browser.wait("document.querySelector('#status')?.textContent")
    return browser


def open_merge(browser: Browser) -> None:
    """Choose the function of forty lines."""
    browser.click("#tab-files")
    number = browser.run(
        "[...document.querySelectorAll('#files li')].findIndex(i => i.innerText.includes('merge.py'))"
    )
    browser.click(f"#files li:nth-child({number + 1})")
    browser.wait(f"document.querySelector('#head h2')?.innerText === 'merge' && {QUIET}")


def shown(browser: Browser, name: str) -> list[str]:
    """What the visible findings have in an attribute, in order."""
    return browser.run(f"{ITEMS}.filter(i => i.offsetParent).map(i => i.dataset[{json.dumps(name)}])")


def set_value(browser: Browser, selector: str, value: str) -> None:
    browser.run(
        f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
        " e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )


def test_findings_are_sorted(code: Browser):
    sure = [float(value) for value in shown(code, "sure")]
    assert len(sure) > 5
    assert sure == sorted(sure, reverse=True)
    for order, name in (("tier", "tier"), ("kind", "kind"), ("path", "path")):
        set_value(code, "#filters [name=sort]", order)
        values = shown(code, name)
        assert values == sorted(values)
    set_value(code, "#filters [name=sort]", "path")
    pairs = list(zip(shown(code, "path"), map(int, shown(code, "start")), strict=True))
    assert pairs == sorted(pairs)


def test_findings_are_filtered(code: Browser):
    total = len(shown(code, "tier"))
    tier = shown(code, "tier")[0]
    code.click(f"#filters [name=tier][value={tier}]")
    assert tier not in shown(code, "tier")
    assert code.text("#status") == f"{len(shown(code, 'tier'))} of {total} findings"
    code.click(f"#filters [name=tier][value={tier}]")
    set_value(code, "#filters [name=kind]", "HH101")
    assert set(shown(code, "kind")) == {"HH101"}
    set_value(code, "#filters [name=kind]", "")
    path = shown(code, "path")[0]
    set_value(code, "#filters [name=path]", path)
    assert set(shown(code, "path")) == {path}
    set_value(code, "#filters [name=path]", "")
    set_value(code, "#filters [name=search]", "SWAPPED planted")
    assert 0 < len(shown(code, "kind")) < total
    assert set(shown(code, "kind")) == {"HH201"}
    set_value(code, "#filters [name=search]", "no such words")
    assert code.text("#status") == f"0 of {total} findings"


def test_a_click_shows_the_code_the_alternatives_and_why(code: Browser):
    code.click("#findings [role=option]")
    code.wait(f"document.querySelector('#why .code') && {QUIET}")
    message = code.text("#findings [aria-selected=true] .what")
    assert code.text("#details h2") == message
    assert code.run("document.querySelectorAll('#details .repairs li').length") > 1
    assert "the confidence" in code.text("#why")
    chosen = code.run(
        "[...document.querySelectorAll('#panel-heat .chosen')].map(p => p.textContent).join('')"
    )
    marked = code.run("document.querySelector('#details .code mark').textContent")
    assert chosen == marked


def test_a_click_on_any_piece_of_code_shows_what_else_could_stand_there(code: Browser):
    open_merge(code)
    piece = "#panel-heat .line:nth-child(9) [data-places]"
    text = code.text(piece)
    code.click(piece)
    code.wait(f"document.querySelector('#why') && {QUIET}")
    assert text.strip() in code.run("document.querySelector('#details .code mark').textContent")
    assert code.run("document.activeElement.matches('[data-places]')")


def test_another_function_of_the_file_can_be_chosen(code: Browser):
    code.click("#tab-files")
    number = code.run(
        "[...document.querySelectorAll('#files li')].findIndex(i => i.innerText.includes('planted.py'))"
    )
    code.click(f"#files li:nth-child({number + 1})")
    code.wait(f"document.querySelector('#function')?.options.length > 3 && {QUIET}")
    name = code.run("document.querySelector('#function').options[2].text.split(' ')[0]")
    set_value(code, "#function", code.run("document.querySelector('#function').options[2].value"))
    code.wait(f"document.querySelector('#head h2').innerText === {json.dumps(name)} && {QUIET}")


def test_relations_are_switched_on_and_off(code: Browser):
    open_merge(code)
    code.click("#tab-graph")
    code.wait("document.querySelector('.overlay')")
    lanes = "[...document.querySelectorAll('.lanename')].map(t => t.textContent)"
    edges = "[...document.querySelectorAll('.hyperedge')].map(e => e.getAttribute('aria-label'))"
    assert code.run(lanes) == ["MayWrite"]
    before = code.run(edges)
    flow = code.run(
        "[...document.querySelectorAll('#relations input')].find(i => i.parentElement.innerText.includes('CtrlF')).value"
    )
    code.click(f"#relations input[value='{flow}']")
    code.wait(f"{lanes}.length === 2")
    assert code.run(lanes) == ["CtrlF", "MayWrite"]
    assert set(before) < set(code.run(edges)), "edges keep their numbers"
    assert code.run("document.activeElement.value") == flow, "the switch keeps the focus"
    code.click("#all-calls")
    code.wait(f"{lanes}.length === 3")
    code.click(f"#relations input[value='{flow}']")
    code.wait(f"{lanes}.length === 2")
    assert code.run(lanes) == ["MayWrite", "calls"]
    overlaps = """(() => {
        const boxes = [...document.querySelectorAll('.hyperedge .box')].map(b => b.getBoundingClientRect());
        return boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right && b.left < a.right
            && a.top < b.bottom && b.top < a.bottom)).length; })()"""
    assert code.run(overlaps) == 0


def test_edges_and_tokens_can_be_chosen(code: Browser):
    open_merge(code)
    code.click("#tab-graph")
    code.wait("document.querySelector('.overlay')")
    code.click(".hyperedge .box")
    assert code.run("document.querySelectorAll('.hyperedge.chosen').length") == 1
    assert code.run(
        "[...document.querySelectorAll('.hyperedge.chosen .part')].every(p => p.getBoundingClientRect().width > 0)"
    )
    assert code.text("#details h2").startswith("Edge e")
    code.press("Escape")
    assert code.run("document.querySelectorAll('.chosen').length") == 0
    code.click(".place.leaf .area")
    node = code.text("#details h2")
    assert "#" in node
    assert code.run("document.querySelectorAll('#details .edges li').length") > 0
    assert node in code.text("#details .edges")


def test_everything_works_without_a_mouse(code: Browser):
    code.run("document.activeElement.blur()")
    focused = []
    for _ in range(11):
        code.press("Tab")
        focused.append(code.run("document.activeElement.id || document.activeElement.name"))
        assert code.run(
            "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
            " || document.activeElement.closest('.chip') !== null"
        ), focused[-1]
    assert focused[:4] == ["", "tab-findings", "search", "tier"]
    assert focused[-1].startswith("finding-") or "sort" in focused
    code.run(f"{ITEMS}.find(i => i.tabIndex === 0).focus()")
    code.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert code.run(f"{ITEMS}.indexOf(document.activeElement)") == 1
    code.press("Enter")
    code.wait(f"document.querySelector('#why .code') && {QUIET}")
    assert code.run("document.activeElement.getAttribute('aria-selected')") == "true"
    code.run("document.querySelector('#panel-heat [data-places][tabindex=\"0\"]').focus()")
    before = code.run("document.activeElement.dataset.places")
    code.press("ArrowRight")
    assert code.run("document.activeElement.dataset.places") != before
    code.press("Enter")
    code.wait(QUIET)
    code.press("Escape")
    assert code.run("document.activeElement.role") == "option"
    code.run("document.querySelector('#tab-heat').focus()")
    code.press("ArrowRight")
    code.wait("document.querySelector('.overlay')")
    assert code.run("document.activeElement.id") == "tab-graph"
    code.run("document.querySelector('.hyperedge[tabindex=\"0\"]').focus()")
    code.press("ArrowDown", "Enter")
    assert code.run("document.querySelector('.hyperedge.chosen') === document.activeElement")


def test_everything_has_a_name_for_screen_readers(code: Browser):
    open_merge(code)
    code.click("#tab-graph")
    code.wait("document.querySelector('.overlay')")
    unnamed = code.run(
        "[...document.querySelectorAll('button, input, select, [role=button], [role=listbox], [role=region], nav, aside')]"
        ".filter(e => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim())).map(e => e.outerHTML)"
    )
    assert unnamed == []
    tree = code.call("Accessibility.getFullAXTree")["nodes"]
    names = [
        node
        for node in tree
        if node.get("role", {}).get("value") in ("button", "checkbox", "option", "combobox", "tab")
    ]
    assert len(names) > 20
    assert [node for node in names if not node.get("name", {}).get("value")] == []


def test_texts_have_contrast_in_both_schemes(code: Browser):
    """At least 4.5 to 1, as the guidelines for accessible pages ask for small text."""
    code.click("#findings [role=option]")
    code.wait(f"document.querySelector('#why .code') && {QUIET}")
    for scheme in ("light", "dark"):
        code.set_scheme(scheme)
        found = code.run(_CONTRASTS)
        assert found["checked"] > 50
        assert found["low"] == [], scheme
    code.set_scheme("light")


def test_names_and_code_that_mean_harm_are_shown_as_text(code: Browser):
    odd = "['img src', 'odd', 'book'].some(word => i.dataset.path.includes(word))"
    findings = code.run(f"{ITEMS}.filter(i => {odd}).map(i => i.id)")
    assert len(findings) > 1
    for name in findings:
        code.run(f"document.getElementById('{name}').click()")
        code.wait(f"document.querySelector('#why .code, #why .problem') && {QUIET}")
    code.click("#tab-graph")
    code.click("#tab-files")
    files = code.run(f"[...document.querySelectorAll('#files li')].filter(i => {odd}).map(i => i.id)")
    assert len(files) > 1
    for name in files:
        code.click(f"#{name}")
        code.wait(f"document.querySelector('.overlay') && {QUIET}")
        code.run("document.querySelectorAll('#relations input').forEach(i => { i.checked = true; })")
        code.run(
            "document.querySelector('#relations input').dispatchEvent(new Event('change', {bubbles: true}))"
        )
        code.wait(f"document.querySelectorAll('.lanename').length > 5 && {QUIET}")
    assert code.run("window.harmed") is None
    assert code.run("document.querySelectorAll('main script, main img, nav img, aside img').length") == 0
    assert code.run("document.body.innerText.includes('\\u202e')") is False


def test_a_server_that_is_gone_is_said(code: Browser):
    code.call(
        "Network.emulateNetworkConditions",
        offline=True,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )
    try:
        code.click("#findings [role=option]")
        code.wait("document.querySelector('#panel-heat .problem')")
        assert "Is hyperheat explore still running?" in code.text("#panel-heat")
    finally:
        code.call(
            "Network.emulateNetworkConditions",
            offline=False,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )
    code.run("1")
    code.problems.clear()  # which the browser reports itself


def test_a_narrow_window_has_one_column(code: Browser):
    code.set_size(420, 800)
    try:
        code.click("#findings [role=option]")
        code.wait(f"document.querySelector('#why .code') && {QUIET}")
        assert code.run("document.documentElement.scrollWidth") <= 420
    finally:
        code.set_size(1440, 900)


def test_statements_are_asked(browser: Browser, statement_server: str):
    browser.go(statement_server)
    browser.click("#examples li:nth-child(3) button")
    browser.wait(f"document.querySelector('#details svg') && {QUIET}")
    assert browser.run("document.querySelectorAll('#qualifiers .pair').length") == 2
    assert browser.run("document.querySelectorAll('#answers [role=option]').length") > 5
    first = browser.text("#answers .what")
    assert browser.text("#details h2") == first
    assert "Neighbourhood" in browser.text("#details")
    browser.run("document.querySelector('#answers [role=option]').focus()")
    browser.press("ArrowDown", "Enter")
    browser.wait(f"document.querySelector('#details h2').innerText !== {json.dumps(first)} && {QUIET}")
    browser.run("document.querySelector('[name=subject]').value = 'nobody like this'")
    browser.run("document.querySelector('[name=object]').value = ''")
    browser.click("#question [type=submit]")
    browser.wait("document.querySelector('#answers .problem')")
    assert "nknown entity" in browser.text("#answers")
    set_value(browser, "[name=subject]", "einst")
    browser.wait("document.querySelector('#names-subject option')")
    assert "Albert Einstein" in browser.run(
        "[...document.querySelectorAll('#names-subject option')].map(o => o.value)"
    )
    browser.run("1")
    assert all(
        "400" in problem for problem in browser.problems
    )  # the browser reports the refused question itself
    browser.problems.clear()


def test_marks_in_a_report_do_not_hide_underscores(browser: Browser, tmp_path: Path):
    """Below an underscore there is background, and only below that the line under the mark."""
    text = "def f(a, b):\n    return ______\n"
    edit = FileEdit(line=2, column=12, end_line=2, end_column=18, text="b")
    finding = replace(
        MISUSE, path="a.py", line=2, column=12, end_line=2, end_column=18, fix=Fix((edit,)), alternatives=()
    )
    page = FORMATS["html"](
        replace(REPORT, findings=(finding,), heat=(), errors=()), {"a.py": SourceText(text)}
    )
    path = tmp_path / "report.html"
    path.write_text(page, encoding="ascii")
    browser.go(path.as_uri())
    box = browser.run(
        "(() => { const r = document.querySelector('mark').getBoundingClientRect();"
        " return {x: r.x + 4, y: r.y, width: r.width - 8, height: r.height + 6, scale: 4}; })()"
    )
    picture = Image.open(io.BytesIO(browser.screenshot(clip=box))).convert("RGB")
    rows = np.asarray(picture).astype(int).reshape(picture.height, -1, 3).mean(axis=1)
    background = rows[picture.height // 3]
    inked = np.abs(rows - background).sum(axis=1) > 60
    runs = np.flatnonzero(np.diff(inked.astype(int)) == 1)
    assert len(runs) >= 2, "the underscores and the line below are one"


_CONTRASTS = """(() => {
  const number = (text) => { const c = text.match(/[\\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const low = []; let checked = 0;
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg') || element.tagName === 'OPTION' || !element.offsetParent) continue;
    if (![...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.unshift(number(getComputedStyle(e).backgroundColor));
    const paper = layers.reduce((below, top) => over(top, below), [255, 255, 255, 1]);
    const ink = over(number(getComputedStyle(element).color), paper);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    checked += 1;
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push([element.outerHTML.slice(0, 120), ink, paper]);
  }
  return { checked, low };
})()"""
