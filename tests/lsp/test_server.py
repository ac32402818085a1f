"""The server as an editor meets it, over standard input and output."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.lsp.editor import Editor, children, gone

from hyperheat.check.filters import make_report
from hyperheat.check.scan import scan_source
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import load_detector
from hyperheat.lsp.diagnostics import SEVERITIES, range_of
from hyperheat.lsp.positions import Encoding, PlacedText
from hyperheat.report.finding import Finding
from hyperheat.report.source import SourceText

FIRST = (
    "def first_or(items, default=None):\n    for item in items:\n        return items\n    return default\n"
)
AREA = "def area(width, height):\n    if width < 0:\n        return 0\n    return width * width\n"
TEXT = f"{FIRST}\n\n{AREA}"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not list processes in /proc")


@pytest.fixture(scope="module")
def detector(exported_detector):
    return load_detector(exported_detector)


@pytest.fixture(scope="module")
def editor(tmp_path_factory, exported_detector):
    folder = tmp_path_factory.mktemp("folder")
    (folder / "pyproject.toml").write_text('[tool.hyperheat]\ntier = "C"\nexclude = ["generated/"]\n')
    with Editor(folder, ("--model", str(exported_detector))) as editor:
        yield editor


def start(folder: Path, model: Path, **options: Any) -> Editor:
    """Another server, with findings of every tier."""
    (folder / "pyproject.toml").write_text('[tool.hyperheat]\ntier = "C"\n')
    return Editor(folder, ("--model", str(model)), **options)


def findings_in(text: str, detector, **options: Any) -> list[Finding]:
    file = scan_source(text, detector, path="a.py")
    return list(make_report([file], Settings(**{"tier": "C", **options}), detector).findings)


def expected(text: str, detector, encoding: Encoding = "utf-16", **options: Any) -> list[tuple[Any, ...]]:
    """What diagnostics of a text say."""
    source, placed = SourceText(text), PlacedText(text, encoding)
    return [
        (
            range_of(finding, source, placed),
            finding.rule,
            SEVERITIES[finding.tier],
            f"{finding.message} ({finding.worth})",
        )
        for finding in findings_in(text, detector, **options)
    ]


def said(diagnostics: Any) -> list[tuple[Any, ...]]:
    """The same of diagnostics."""
    assert all(d.source == "hyperheat" for d in diagnostics)
    return [(d.range, d.code, d.severity, d.message) for d in diagnostics]


def test_opening_gives_what_a_check_finds(editor, detector):
    uri = editor.open("a.py", TEXT)
    found = said(editor.diagnostics(uri))
    assert len(found) > 2
    assert found == expected(TEXT, detector)
    editor.close(uri)
    editor.wait_for_diagnostics(uri, lambda diagnostics: not diagnostics)


def test_changes_are_followed_and_saving_changes_nothing(editor, detector):
    uri = editor.open("changes.py", TEXT)
    editor.diagnostics(uri)
    editor.replace(uri, "width * width", "width * height")
    assert said(editor.diagnostics(uri)) == expected(editor.documents[uri].text, detector)
    editor.replace(uri, "def first_or", "import os\n\n\ndef first_or")
    assert said(editor.diagnostics(uri)) == expected(editor.documents[uri].text, detector)
    editor.write(uri, AREA)
    assert said(editor.diagnostics(uri)) == expected(AREA, detector)
    count = len(editor.published)
    editor.save(uri)
    other = editor.open("other.py", TEXT)  # which is scanned after it
    editor.diagnostics(other)
    assert [p.uri for p in editor.published[count:]] == [other]
    for document in (uri, other):
        editor.close(document)


def test_an_edit_that_changes_what_is_known_elsewhere_is_followed_after_a_pause(editor, detector):
    text = f"{AREA}\n\ndef volume(depth, side):\n    return area(side, side) * depth\n"
    uri = editor.open("calls.py", text)
    editor.diagnostics(uri)
    editor.replace(uri, "def area", "def other")  # the call is no longer bound to its parameters
    final = expected(editor.documents[uri].text, detector)
    assert said(editor.diagnostics(uri)) != final
    editor.wait_for_diagnostics(uri, lambda diagnostics: said(diagnostics) == final)
    editor.close(uri)


def follow_wide_edits(editor: Editor, detector) -> None:
    """Edit beside characters of every width and every line end, then repair a place behind them."""
    text = TEXT.replace("return width * width", "return ('😀é€', width * width)").replace("\n", "\r\n", 4)
    uri = editor.open("wide.py", text)
    assert said(editor.diagnostics(uri)) == expected(text, detector, editor.encoding)
    editor.replace(uri, "é€', width", "é😀', '𝔘', height")
    editor.replace(uri, "'😀", "'\f\u2028😀")
    edited = editor.documents[uri].text
    assert said(editor.diagnostics(uri)) == expected(edited, detector, editor.encoding)
    found = findings_in(edited, detector)[-1]
    place = range_of(found, SourceText(edited), PlacedText(edited, editor.encoding))
    (repair, *_) = editor.actions(uri, place)
    assert editor.apply(uri, repair) == SourceText(edited).edited(found.fix.edits)
    editor.close(uri)


def test_edits_beside_wide_characters(editor, detector):
    assert editor.encoding == "utf-16"
    follow_wide_edits(editor, detector)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-32"])
def test_edits_beside_wide_characters_in_an_encoding_that_was_agreed_on(
    tmp_path, exported_detector, detector, encoding
):
    with start(tmp_path, exported_detector, encodings=("utf-7", encoding)) as editor:
        assert editor.encoding == encoding
        follow_wide_edits(editor, detector)


def test_while_a_text_is_broken_findings_in_other_functions_stay_with_them(editor, detector):
    uri = editor.open("broken.py", TEXT)
    whole = said(editor.diagnostics(uri))
    editor.replace(uri, "def first_or", "\nx = (\ndef first_or")  # all functions are two lines further down
    shifted = [
        (types.Range(*(types.Position(p.line + 2, p.character) for p in (r.start, r.end))), *rest)
        for r, *rest in whole
    ]
    assert said(editor.diagnostics(uri)) == shifted
    told = editor.wait_for_diagnostics(uri, lambda found: found[-1].code == "HH900")  # after a pause
    assert said(told[:-1]) == shifted
    assert (told[-1].severity, told[-1].message) == (
        types.DiagnosticSeverity.Information,
        "not valid Python 3: '(' was never closed",
    )
    assert told[-1].range.start.line == 1
    editor.replace(uri, "default=None", "default=1")
    kept = editor.diagnostics(uri)
    assert said([d for d in kept if d.code != "HH900"]) == [  # those of the function that changed are gone
        d for d in shifted if d[0].start.line > 7
    ]
    editor.replace(uri, "x = (\n", "")
    assert said(editor.diagnostics(uri)) == expected(editor.documents[uri].text, detector)
    editor.close(uri)


def test_files_that_are_opened_broken_are_told(editor):
    uri = editor.open("never.py", "def f(:\n")
    (error,) = editor.diagnostics(uri)
    assert (error.code, error.message) == ("HH900", "not valid Python 3: invalid syntax")
    editor.close(uri)


def test_documents_that_were_never_saved_are_checked(editor, detector):
    uri = editor.open("untitled:Untitled-1", TEXT)
    assert said(editor.diagnostics(uri)) == expected(TEXT, detector)
    editor.close(uri)


def test_what_a_scan_of_the_project_leaves_out_is_left_alone(editor):
    (editor.folder / ".git").mkdir()
    (editor.folder / ".gitignore").write_text("ignored/\n")
    left_out = ["generated/a.py", "ignored/a.py", ".venv/lib/a.py", "/usr/lib/site-packages/a.py"]
    uris = [editor.open(name if name[0] != "/" else f"file://{name}", TEXT) for name in left_out]
    for name, language in (
        ("stub.pyi", "python"),
        ("notes.txt", "plaintext"),
        ("notebook.ipynb", "json"),
        ("git:/a.py", "python"),
        ("vscode-notebook-cell:/a.ipynb#1", "python"),
    ):
        uris.append(editor.open(name, TEXT, language=language))
    last = editor.open("src/last.py", TEXT)
    assert editor.diagnostics(last)
    for uri in uris[:4]:
        assert editor.diagnostics(uri) == ()
    assert not [params for params in editor.published if params.uri in uris[4:]]
    for uri in (*uris, last):
        editor.close(uri)


def test_a_repair_gives_the_repaired_text(editor, detector):
    uri = editor.open("repair.py", TEXT)
    diagnostics, own = editor.diagnostics(uri), []
    for finding, diagnostic in zip(findings_in(TEXT, detector), diagnostics, strict=True):
        actions = editor.actions(uri, diagnostic.range)
        own = [a for a in actions if a.diagnostics == (diagnostic,)]
        assert len(own) == len(finding.alternatives) + 2
        assert {action.kind for action in own} == {types.CodeActionKind.QuickFix}
        for action, fix in zip(own, (finding.fix, *(o.fix for o in finding.alternatives)), strict=False):
            assert editor.apply(uri, action) == SourceText(TEXT).edited(fix.edits)
    assert own[0].title == "Change to `return width * height`"
    nowhere = types.Range(types.Position(5, 0), types.Position(5, 0))
    assert editor.actions(uri, nowhere) == ()
    editor.close(uri)


def test_ignoring_a_finding_removes_it(editor, detector):
    uri = editor.open("ignore.py", TEXT)
    diagnostics = editor.diagnostics(uri)
    action = editor.actions(uri, diagnostics[-1].range)[-1]
    assert action.title == "Ignore HH101 on this line"
    after = editor.apply(uri, action)
    assert after == TEXT.replace("width * width", "width * width  # hyperheat: ignore[HH101]")
    editor.write(uri, after)
    left = said(editor.diagnostics(uri))
    assert left == expected(after, detector)
    assert 0 < len(left) < len(diagnostics)
    editor.close(uri)


def test_hovering_over_a_finding_says_why(editor, detector):
    uri = editor.open("why.py", TEXT)
    diagnostic = editor.diagnostics(uri)[0]
    text = editor.hover(uri, diagnostic.range.start)
    assert text is not None
    assert text.startswith(r"**HH101 variable\-misuse**: did you mean `default` instead of `items`?")
    assert "Tier " in text
    assert " functions." in text
    assert "parts were tried" in text
    assert editor.hover(uri, types.Position(5, 0)) is None
    editor.close(uri)


def test_settings_of_the_project_and_of_the_editor(tmp_path, exported_detector, detector):
    with start(tmp_path, exported_detector, settings={"ignore": ["HH101"]}) as editor:
        uri = editor.open("a.py", TEXT)
        quiet = expected(TEXT, detector, select=("HH201", "HH301", "HH302", "HH401"))
        editor.wait_for_diagnostics(uri, lambda found: said(found) == quiet)
        editor.settings = {"select": ["HH101"]}
        editor.tell(
            editor.client.workspace_did_change_configuration,
            types.DidChangeConfigurationParams(settings=None),
        )
        loud = expected(TEXT, detector, select=("HH101",))
        editor.wait_for_diagnostics(uri, lambda found: said(found) == loud != quiet)
        assert "workspace/didChangeWatchedFiles" in editor.registered
        (tmp_path / "pyproject.toml").write_text('[tool.hyperheat]\ntier = "A"\n')
        editor.tell(
            editor.client.workspace_did_change_watched_files, types.DidChangeWatchedFilesParams(changes=[])
        )
        editor.wait_for_diagnostics(uri, lambda found: not found)
        sent = {"hyperheat": {"tier": "C", "select": ["HH101"], "model": "/tmp/model", "minConfidense": 1}}
        editor.tell(
            editor.client.workspace_did_change_configuration,
            types.DidChangeConfigurationParams(settings=sent),
        )
        editor.wait_for_diagnostics(uri, lambda found: said(found) == loud)
        editor.wait_for(lambda: len(editor.messages) == 2)
        assert editor.messages[0].startswith(
            "hyperheat: hyperheat.model: not a setting of the editor: expected"
        )
        assert editor.messages[1].endswith("did you mean min-confidence?")
        (tmp_path / "pyproject.toml").write_text("[tool.hyperheat]\ntire = 1\n")
        editor.save(uri)
        editor.wait_for(lambda: "did you mean tier?" in editor.messages[-1])
        assert editor.messages[-1].startswith(f"hyperheat: {tmp_path}")


def test_two_hundred_open_files(editor, detector):
    uris = [editor.open(f"many{number}.py", TEXT.replace("area", f"area{number}")) for number in range(200)]
    editor.replace(uris[0], "width * width", "width * height")  # before most of the others are done
    assert said(editor.diagnostics(uris[0])) == expected(editor.documents[uris[0]].text, detector)
    editor.wait_for(lambda: {params.uri for params in editor.published} >= set(uris))
    for uri in (uris[1], uris[100], uris[-1]):
        assert said(editor.diagnostics(uri)) == expected(editor.documents[uri].text, detector)
    for uri in uris:
        editor.close(uri)


def test_work_on_an_older_text_stops(editor, detector):
    long = "".join(TEXT.replace("area", f"area{i}").replace("first", f"first{i}") for i in range(400))
    uri = editor.open("stale.py", long)
    for number in range(30):
        editor.write(uri, f"x = {number}\n{long}")
    editor.write(uri, AREA)
    assert said(editor.diagnostics(uri)) == expected(AREA, detector)
    assert [params.version for params in editor.published if params.uri == uri] == [32]
    editor.close(uri)


@ON_LINUX
def test_workers_that_crash_are_replaced(editor, detector):
    uri = editor.open("crash.py", TEXT)
    editor.diagnostics(uri)
    for pid in _workers(editor):
        os.kill(pid, signal.SIGKILL)
    editor.replace(uri, "width * width", "width * height")
    assert said(editor.diagnostics(uri)) == expected(editor.documents[uri].text, detector)
    for pid in _template_and_workers(editor):
        os.kill(pid, signal.SIGKILL)
    editor.replace(uri, "width * height", "width * width")
    assert said(editor.diagnostics(uri)) == expected(TEXT, detector)
    editor.close(uri)


def _template_and_workers(editor: Editor) -> list[int]:
    return list(children(editor.process.pid))


def _workers(editor: Editor) -> list[int]:
    """The processes that have no children of their own."""
    return [pid for pid in _template_and_workers(editor) if not list(children(pid))]


@ON_LINUX
@pytest.mark.parametrize("leaving", ["politely", "killed", "at the end of its input"])
def test_no_process_is_left_behind(tmp_path, exported_detector, leaving):
    with start(tmp_path, exported_detector) as editor:
        editor.diagnostics(editor.open("a.py", TEXT))
        pids = _template_and_workers(editor)
        assert len(pids) >= 2
        if leaving == "killed":
            os.kill(editor.process.pid, signal.SIGKILL)
        elif leaving == "at the end of its input":
            stdin = editor.process.stdin
            assert stdin is not None
            editor.tell(lambda _: stdin.close(), None)
        if leaving != "politely":
            editor.wait_for(lambda: editor.process.returncode is not None)
    assert editor.process.returncode == {"politely": 0, "killed": -9}.get(leaving, 1)
    editor.wait_for(lambda: all(map(gone, pids)))


@pytest.mark.parametrize(
    "body",
    [
        b"nonsense",
        b"[1, 2]",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "method": 7}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": 1}}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///no"}}}',
        b'{"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {"settings": 12}}',
        b'{"jsonrpc": "2.0", "method": "no/such/method", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 77, "method": "textDocument/hover", "params": {}}',
        b'{"jsonrpc": "2.0", "id": "none", "result": null}',
        b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 4711}}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_strange_messages_do_no_harm(editor, detector, body):
    editor.send_raw(body)
    uri = editor.open("after.py", AREA)
    editor.wait_for(lambda: [p for p in editor.published if p.uri == uri and p.diagnostics])
    editor.close(uri)


def test_strange_places_do_no_harm(editor, detector):
    uri = editor.open("places.py", AREA)
    editor.diagnostics(uri)
    span = types.Range(types.Position(4_000_000, 7), types.Position(2, 999_999))
    change = types.TextDocumentContentChangePartial(range=span, text="# end\n")
    editor.change(uri, change, text=AREA + "# end\n")
    assert said(editor.diagnostics(uri)) == expected(AREA + "# end\n", detector)
    assert editor.hover(uri, types.Position(9_999, 9_999)) is None
    assert editor.actions(uri, span) == ()
    editor.close(uri)


def test_initial_options_are_settings_too_and_options_of_the_command_are_limits(
    tmp_path, exported_detector, detector
):
    options = ("--stdio", "--model", str(exported_detector), "--max-file-size", "1KB")
    with Editor(tmp_path, options, initial={"select": ["HH3"], "tier": "C"}) as editor:
        uri = editor.open("a.py", TEXT)
        assert said(editor.diagnostics(uri)) == expected(TEXT, detector, select=("HH301", "HH302"))
        long = editor.open("long.py", TEXT * 20)
        (error,) = editor.diagnostics(long)
        assert (error.code, error.message) == (
            "HH901",
            f"expected at most 1000 characters, got {len(TEXT) * 20}",
        )


def test_a_missing_package_is_named_in_one_sentence():
    script = (
        "import sys\nsys.modules['pygls'] = None\nsys.modules['lsprotocol'] = None\nsys.argv[1:] = ['lsp']\n"
        "from hyperheat.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() in (
        "hyperheat: this command needs the package 'pygls': pip install 'hyperheat[lsp]'",
        "hyperheat: this command needs the package 'lsprotocol': pip install 'hyperheat[lsp]'",
    )
