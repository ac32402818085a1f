"""Baselines: what is known stays hidden, what is new is shown, what is gone is told."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.check.findings import make_finding

from hyperheat.check.baseline import (
    BaselineError,
    Known,
    compare_to_baseline,
    make_baseline,
    read_baseline,
    write_baseline,
)
from hyperheat.report import SourceText

SOURCES = {"a.py": SourceText("x = a - a\ny = b\n"), "b\n.py": SourceText("z = c\n")}
FINDINGS = (make_finding(1), make_finding(1, column=5), make_finding(1, path="b\n.py"))


def test_what_is_known_is_told_from_what_is_new():
    baseline = make_baseline(FINDINGS, SOURCES)
    moved = {**SOURCES, "a.py": SourceText("\n\nx =  a - a\ny = b\n")}
    now = (make_finding(3), make_finding(3, column=5), make_finding(3, column=9), make_finding(4))
    compared = compare_to_baseline(now, moved, baseline, scanned=lambda path: True)
    assert compared.known == now[:2]
    assert compared.new == now[2:]
    assert compared.stale == (Known("b\n.py", "HH101", "f"),)
    partly = compare_to_baseline(now, moved, baseline, scanned=lambda path: path == "a.py")
    assert partly.stale == ()


def test_one_of_two_that_are_alike_gone_leaves_one_stale_entry():
    baseline = make_baseline(FINDINGS[:2], SOURCES)
    compared = compare_to_baseline(FINDINGS[1:2], SOURCES, baseline, scanned=lambda path: True)
    assert (compared.new, compared.known) == ((), FINDINGS[1:2])
    assert compared.stale == (Known("a.py", "HH101", "f"),)


def test_the_file_has_one_entry_a_line_and_a_fixed_order(tmp_path):
    baseline = {"b" * 32: Known("src/b.py", "HH201", "g"), "a" * 32: Known("é\n.py", "HH101", "C.f")}
    write_baseline(tmp_path / "known.json", baseline)
    assert (tmp_path / "known.json").read_text() == (
        "{\n"
        '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": {"path":"\\u00e9\\n.py","rule":"HH101","function":"C.f"},\n'
        '"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb": {"path":"src/b.py","rule":"HH201","function":"g"},\n'
        '"version": 1\n'
        "}\n"
    )
    assert read_baseline(tmp_path / "known.json") == baseline


def test_an_empty_baseline_is_one(tmp_path):
    write_baseline(tmp_path / "known.json", {})
    assert read_baseline(tmp_path / "known.json") == {}


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.binary(min_size=16, max_size=16).map(bytes.hex),
        st.builds(Known, *[st.text(st.characters(exclude_categories=["Cs"]))] * 3),
    )
)
def test_what_is_written_is_read(tmp_path_factory, baseline):
    path = tmp_path_factory.getbasetemp() / "known.json"
    write_baseline(path, baseline)
    assert read_baseline(path) == baseline


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be read as a baseline: Expecting value"),
        ("{\n<<<<<<< ours\n", "the baseline has merge conflicts"),
        ("[]", "expected a baseline of version 1, got list"),
        ("{}", "expected a baseline of version 1, got none"),
        ('{"version": 2}', "expected a baseline of version 1, got 2"),
        ('{"a": {}, "version": 1}', "expected entries of fingerprint, path, rule and function, got 'a': {}"),
        ("[" * 100_000, "cannot be read as a baseline: "),
        ("\udcff", "cannot be read as a baseline: 'utf-8' codec can't decode"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path, text, reason):
    path = tmp_path / "known.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BaselineError) as error:
        read_baseline(path)
    assert str(error.value).startswith(f"{path}: {reason}")


def test_a_missing_file_is_told():
    with pytest.raises(
        BaselineError, match=r"gone\.json: cannot be read as a baseline: cannot be read: no such file"
    ):
        read_baseline(Path("gone.json"))


def test_findings_of_other_functions_are_new():
    other = replace(FINDINGS[0], function="g")
    baseline = make_baseline(FINDINGS, SOURCES)
    assert compare_to_baseline([other], SOURCES, baseline, scanned=bool).new == (other,)
