"""Notebooks: what is read of them, where findings are, and repairs that change nothing else."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.check.caches import open_cache
from tests.check.made_repairs import commit_all, git
from tests.check.notebooks import BUGGY, code, markdown, notebook
from tests.check.scores import CALIBRATION, pseudo_scores

from hyperheat.check.baseline import make_baseline
from hyperheat.check.changes import changes_since
from hyperheat.check.discovery import FoundFile, Selection, discover
from hyperheat.check.filters import make_report
from hyperheat.check.notebook import edits_in_notebook, read_notebook
from hyperheat.check.notebook_analysis import analyse_notebook
from hyperheat.check.patch import render_patch
from hyperheat.check.records import FileRecord, join_parts
from hyperheat.check.repairs import find_problems, plan_repair
from hyperheat.check.scan import scan_files
from hyperheat.check.scanned_files import ScannedFile, Sources, read_record
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.pycode import SourceError
from hyperheat.report import FileEdit, Report, SourceText
from hyperheat.report.formats import FORMATS
from hyperheat.workers.limits import Limits

DETECTOR = Detector(Path("/nowhere"), "fake", "0" * 64, replace(CALIBRATION, min_candidates=1), "key")
FILE = FoundFile("work/analysis.ipynb", Path("/work/analysis.ipynb"))


def record_of(data: bytes) -> FileRecord:
    parts = analyse_notebook(data, (), pseudo_scores, DETECTOR.calibration)
    return join_parts((part for part in parts if part is not None), ())


def scanned(data: bytes) -> ScannedFile:
    """The notebook after a scan with a detector that suspects something everywhere."""
    record = FileRecord.from_plain(json.loads(json.dumps(record_of(data).to_plain())))
    return read_record(record, FILE, DETECTOR.calibration, source=data)


def test_cells_are_numbered_among_all_and_lines_within_them():
    data = notebook(
        markdown("# Title\n"), code("import os\n"), markdown("text"), code(BUGGY), code(f"x = 1\n\n{BUGGY}")
    )
    file = scanned(data)
    report = make_report([file], Settings(), DETECTOR, show_all=True)
    places = [(f.path, f.cell, f.function, f.line) for f in report.findings]
    assert {place[:3] for place in places} == {
        ("work/analysis.ipynb", 4, "area"),
        ("work/analysis.ipynb", 5, "area"),
    }
    assert {line for _, cell, _, line in places if cell == 4} <= {2, 3}
    assert {line for _, cell, _, line in places if cell == 5} <= {4, 5}
    lines = data.decode().split("\n")
    sources = Sources([file])
    for finding in report.findings:
        shown = sources[finding.source].line(finding.line)
        assert shown in ("    total = width * width", "    return total * scale")
        assert json.dumps(f"{shown}\n") in lines[finding.file_line - 1]  # pyright: ignore[reportOptionalOperand]
    assert [(heat.cell, heat.line, heat.end_line) for heat in report.heat] == [(4, 1, 3), (5, 3, 5)]


def test_every_format_tells_the_cell():
    file = scanned(notebook(markdown("# Title"), code(BUGGY), code("def f(:\n")))
    report = make_report([file], Settings(), DETECTOR, show_all=True)
    told = {name: render(report, Sources([file])) for name, render in FORMATS.items()}
    finding = report.findings[0]
    place = f"work/analysis.ipynb:cell 2:{finding.line}:{finding.column}"
    for name in ("text", "html", "junit"):
        assert place in told[name], name
    assert "work/analysis.ipynb:cell 3:1" in told["text"]
    assert "cell 3" in told["html"]
    values = json.loads(told["json"])
    assert (values["findings"][0]["cell"], values["findings"][0]["line"]) == (2, finding.line)
    assert (values["errors"][0]["cell"], values["errors"][0]["line"]) == (3, 1)
    result = json.loads(told["sarif"])["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": finding.file_line}
    assert result["properties"]["cell"] == 2
    assert result["properties"]["regionInCell"]["startLine"] == finding.line
    assert "fixes" not in result
    assert f" file=work/analysis.ipynb,line={finding.file_line},title=" in told["github"]
    assert f"(cell 2, line {finding.line}, column {finding.column}; " in told["github"]


def test_functions_see_the_names_of_other_cells():
    """What a call passes is known by the names of the parameters of a function that another cell defines."""
    call = "def use(a, b, c):\n    d = scale(a, b) + c\n    return d\n"
    apart = record_of(notebook(code("def scale(first, second):\n    return first * second\n"), code(call)))
    alone = record_of(notebook(code("x = 1\n\n"), code(call)))
    assert apart.functions[1].name == alone.functions[0].name == "use"
    assert apart.functions[1].digest != alone.functions[0].digest


def test_commands_are_allowed_and_functions_with_them_are_not_judged():
    cells = [
        code("%matplotlib inline\nfiles = !ls\nfiles?\nplot(files);"),
        code("%%bash\nfor f in *; do echo $f; done\n"),
        code(f"%%time\n{BUGGY}"),
        code("def loud(a, b):\n    !echo {a}\n    return a * a - b\n"),
        code("from __future__ import annotations\nresult = await fetch()\n"),
    ]
    file = scanned(notebook(*cells))
    assert file.errors == ()
    assert [(f.name, f.no_bug is not None, bool(f.suspects)) for f in file.functions] == [
        ("area", True, True),
        ("loud", False, False),
    ]


def test_a_broken_cell_does_not_cost_the_others():
    file = scanned(notebook(code("x = 1\n"), code("\ndef f(:\n    pass\n"), code(BUGGY), code("s = '''\n")))
    report = make_report([file], Settings(), DETECTOR, show_all=True)
    assert [(e.rule, e.cell, e.line) for e in report.errors] == [("HH900", 2, 2), ("HH900", 4, 1)]
    assert {finding.cell for finding in report.findings} == {3}
    assert report.summary.files == 1


@pytest.mark.parametrize(
    ("data", "rule", "sentence"),
    [
        (b"", "HH900", "not a notebook: not valid JSON: expected a value in line 1, got the end"),
        (b'{"cells": [}', "HH900", "not a notebook: not valid JSON: expected a value in line 1, got '}'"),
        (b"[]", "HH900", "not a notebook: expected a JSON object with `nbformat` and `cells`"),
        (notebook(nbformat=3), "HH900", "expected a notebook of format 4, got 3; convert it with"),
        (notebook(cells={}), "HH900", "not a notebook: expected a list of cells"),
        (notebook(cells=[1]), "HH900", "not a notebook: expected cell 1 to have a `cell_type`"),
        (
            notebook({"cell_type": "code", "source": [1]}),
            "HH900",
            "not a notebook: expected the source of cell 1",
        ),
        (
            notebook(metadata={"kernelspec": {"language": "R"}}),
            "HH901",
            "expected a notebook for Python, got one for r",
        ),
        (
            notebook(code("x = 1\n" * 200_000)),
            "HH901",
            "expected at most 1000000 characters of code, got 1200000",
        ),
        (b"[" * 1_000_000, "HH900", "not a notebook: not valid JSON: expected at most 200 levels of nesting"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else str(value)[:30],
)
def test_what_is_no_notebook_is_one_sentence(data, rule, sentence):
    file = scanned(data)
    (error,) = file.errors
    assert (error.rule, error.line) == (rule, None)
    assert error.reason.startswith(sentence)
    assert not file.is_checked


def test_outputs_of_any_size_are_ignored():
    picture = {
        "output_type": "display_data",
        "data": {"image/png": "A" * 8_000_000, "application/json": [0.5] * 100_000},
    }
    data = notebook(code(BUGGY, outputs=[picture]))
    assert [function.name for function in scanned(data).functions] == ["area"]


def test_scans_of_notebooks_come_from_workers_and_from_the_cache(tmp_path, exported_detector):
    detector = load_detector(exported_detector)
    (tmp_path / "a.ipynb").write_bytes(notebook(markdown("x"), code(f"%pwd\n{BUGGY}"), code("def f(:\n")))
    (tmp_path / "b.py").write_text(BUGGY)
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "a.ipynb").write_bytes(notebook(code(BUGGY)))
    files = discover(["."], root=tmp_path, selection=Selection()).files
    assert [file.shown for file in files] == ["a.ipynb", "b.py"]
    cache = open_cache(tmp_path / "cache", detector)
    cold, warm = (list(scan_files(files, detector, jobs=1, cache=cache)) for _ in range(2))
    reports = [make_report(done, Settings(), detector, show_all=True) for done in (cold, warm)]
    assert warm[0].cached == 1
    for render in FORMATS.values():
        assert len({render(report, Sources(cold)) for report in reports}) == 1
    assert reports[0].errors[0].cell == 3


@pytest.mark.skipif(sys.platform == "win32", reason="work is not limited there")
def test_a_notebook_that_takes_too_long_costs_only_itself(tmp_path, exported_detector):
    (tmp_path / "a.ipynb").write_bytes(
        notebook(code("x = 1")).replace(b"[]", b"[" + b"[]," * 4_000_000 + b"[]]")
    )
    (tmp_path / "b.ipynb").write_bytes(notebook(code(BUGGY)))
    files = discover(["."], root=tmp_path, selection=Selection()).files
    limits = Limits(seconds=120, work_seconds=1, memory=1 << 30)
    dense, good = scan_files(files, load_detector(exported_detector), jobs=1, limits=limits)
    assert [error.reason for error in dense.errors] == ["not checked: it took more than 1 s of work"]
    assert [function.name for function in good.functions] == ["area"]


def test_a_notebook_may_be_larger_than_source(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(notebook(code("x = 1", outputs=["A" * 60_000])))
    (tmp_path / "b.ipynb").write_bytes(notebook(code("x = 1", outputs=["A" * 250_000])))
    found = discover(["."], root=tmp_path, selection=Selection(max_bytes=10_000))
    assert [file.shown for file in found.files] == ["a.ipynb"]
    assert found.errors[0].reason.startswith("expected at most 200000 bytes, got 25")


def report_of(data: bytes, **options: Any) -> Report:
    return make_report([scanned(data)], Settings(), DETECTOR, show_all=True, **options)


def test_the_baseline_of_a_notebook_survives_new_cells():
    data = notebook(code(BUGGY), code(BUGGY.replace("area", "size")))
    findings = report_of(data).findings
    assert {finding.cell for finding in findings} == {1, 2}
    known = make_baseline(findings, Sources([scanned(data)]))
    moved = notebook(markdown("x"), code("import os\n"), code(BUGGY), code(BUGGY.replace("area", "size")))
    report = report_of(moved, baseline=known)
    assert (report.findings, report.summary.known) == ((), len(findings))


def test_comments_suppress_findings_of_their_cell():
    quiet = BUGGY.replace("width\n", "width  # noqa\n").replace("scale\n", "scale  # hyperheat: ignore\n")
    report = report_of(notebook(code("x = 1  # hyperheat: ignore\n"), code(quiet), code(BUGGY)))
    assert {finding.cell for finding in report.findings} == {3}
    assert report.summary.suppressed
    assert "work/analysis.ipynb:cell 1:1:8: unused suppression: no finding here." in report.summary.notes
    report = report_of(notebook(code("# hyperheat: ignore-file\n"), code(BUGGY)))
    assert report.findings == ()


def test_a_changed_notebook_is_checked_as_a_whole(tmp_path):
    for name in ("changed", "same"):
        (tmp_path / f"{name}.ipynb").write_bytes(notebook(code(BUGGY)))
    commit_all(tmp_path)
    (tmp_path / "changed.ipynb").write_bytes(notebook(code("x = 1"), code(BUGGY)))
    changes = changes_since("HEAD", folder=tmp_path)
    for name, cells in (("changed", {2}), ("same", set())):
        path = tmp_path / f"{name}.ipynb"
        data = path.read_bytes()
        file = replace(scanned(data), file=FoundFile(f"{name}.ipynb", path))
        file = read_record(record_of(data), file.file, DETECTOR.calibration, source=data)
        report = make_report([file], Settings(), DETECTOR, show_all=True, changes=changes)
        assert {finding.cell for finding in report.findings} == cells


CELLS = st.lists(
    st.lists(
        st.sampled_from(["a = 1\n", "é = '\\u00e9'\n", "\n", 's = "\U0001f600"\\\n', "", "x\r\n", "b"]),
        max_size=5,
    ),
    min_size=1,
    max_size=3,
)


@given(
    CELLS,
    st.data(),
    st.booleans(),
    st.sampled_from([None, 1, 4]),
    st.sampled_from(["", "b", 'é\n"\U0001f600']),
)
def test_an_edit_of_a_cell_changes_nothing_else(cells, data, whole, indent, new):
    before = notebook(
        *({**code("", outputs=["é"]), "source": "".join(lines) if whole else lines} for lines in cells),
        indent=indent,
        ascii=data.draw(st.booleans()),
    )
    read = read_notebook(before)
    cell = data.draw(st.sampled_from(read.cells))
    text = "".join(piece.text for piece in cell.pieces)
    if not cell.pieces:
        return
    source = SourceText(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (line, column), (end_line, end_column) = source.place(start), source.place(end)
    edit = FileEdit(line=line, column=column, end_line=end_line, end_column=end_column, text=new)
    if source.offset(line, column) != start or source.offset(end_line, end_column) != end:
        return  # between the two characters of a line end
    edits = edits_in_notebook(read, cell.number, [edit])
    after = SourceText(before.decode()).edited(edits).encode()
    expected = json.loads(before)
    changed = json.loads(after)
    source_after = changed["cells"][cell.number - 1].pop("source")
    assert "".join(source_after) == text[:start] + new + text[end:]
    del expected["cells"][cell.number - 1]["source"]
    assert changed == expected
    first, last = cell.pieces[0].start, cell.pieces[-1].end
    assert after.startswith(before[: first + 1])
    assert after.endswith(before[last - 1 :])


def test_a_repair_is_a_patch_that_git_takes_and_changes_one_line(tmp_path):
    path = tmp_path / "a.ipynb"
    data = notebook(markdown("x"), code(BUGGY, outputs=["é"]), code("def f(:\n"))
    path.write_bytes(b"\xef\xbb\xbf" + data)
    commit_all(tmp_path)
    file = FoundFile("a.ipynb", path)
    report = make_report([scanned(data)], Settings(), DETECTOR, show_all=True)
    repair = plan_repair(file, path.read_bytes(), report.findings)
    ((_, problem),) = find_problems([repair])
    assert problem is None
    changed = [
        (old, new)
        for old, new in zip(path.read_bytes().split(b"\n"), repair.repaired.split(b"\n"), strict=True)
        if old != new
    ]
    assert len(changed) == 1
    (tmp_path / "p.patch").write_text(render_patch(repair))
    git(tmp_path, "apply", "p.patch")
    assert path.read_bytes() == repair.repaired
    compile("".join(json.loads(repair.repaired.decode("utf-8-sig"))["cells"][1]["source"]), "cell", "exec")


def test_a_repair_that_breaks_a_cell_is_told(tmp_path):
    data = notebook(code(BUGGY))
    (finding, *_) = make_report([scanned(data)], Settings(), DETECTOR, show_all=True).findings
    broken = replace(finding.fix.edits[0], text="(")
    repair = plan_repair(FILE, data, [replace(finding, fix=replace(finding.fix, edits=(broken,)))])
    ((_, problem),) = find_problems([repair])
    assert problem is not None
    assert problem.startswith("expected Python after the repair, got: cell 1: not valid Python 3")


def test_a_notebook_that_changed_into_something_else_has_no_text():
    with pytest.raises(SourceError, match="not a notebook"):
        read_notebook(b"{}")
