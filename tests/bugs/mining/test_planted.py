"""Bugs that are planted in one release and fixed in the next are found, and nothing else is."""

import sysconfig
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.bugs.mining.local_index import LocalIndex, make_sdist, make_wheel, serve_index

from hyperheat.bugs.mining import BugFix, ReleaseReference
from hyperheat.bugs.mining.bug_fix import describe_fix
from hyperheat.bugs.mining.releases import mine_package
from hyperheat.bugs.mining.samples import package_samples
from hyperheat.detector.sample import encode_candidates
from hyperheat.pycode import FunctionGraph, extract
from hyperheat.rewrites import Rewrite, candidates

STANDARD = Path(sysconfig.get_paths()["stdlib"])
FILES = ["bisect.py", "cmd.py", "csv.py", "fractions.py", "heapq.py", "sched.py", "shlex.py", "textwrap.py"]
UNRELATED = "\n\ndef entirely_new(one, two):\n    return one + two\n\n\nUNRELATED = 17\n"


@pytest.fixture(scope="module")
def shared_index():
    with serve_index() as index:
        yield index


@cache
def functions_of(file: str) -> list[tuple[FunctionGraph, tuple[Rewrite, ...]]]:
    """The functions of a file that have candidates."""
    module = extract(read(file))
    return [(function, found) for function in module.functions if (found := candidates(function))]


def read(file: str) -> str:
    return (STANDARD / file).read_text(encoding="utf-8")


def edit_elsewhere(text: str, function: FunctionGraph, others: list[FunctionGraph]) -> str:
    """Other changes of the file: a line above, a function that gets another name, and code at the end."""
    lines = text.split("\n")
    for other in others:
        if other.name != function.name:
            line = other.syntax.function.lineno - 1
            lines[line] = lines[line].replace("def ", "def entirely_other_", 1)
            break
    return "\n".join(["# Changed.", *lines]) + UNRELATED


@settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(data=st.data())
def test_a_planted_bug_is_found_and_repaired(shared_index: LocalIndex, data: st.DataObject):
    file = data.draw(st.sampled_from(FILES))
    found = functions_of(file)
    function, rewrites = data.draw(st.sampled_from(found))
    kind = data.draw(st.sampled_from(sorted({rewrite.kind for rewrite in rewrites})))
    rewrite = data.draw(st.sampled_from([rewrite for rewrite in rewrites if rewrite.kind == kind]))
    text = read(file)
    assume(text.count(function.source) == 1)
    broken = text.replace(function.source, rewrite.apply(function.source))
    mended = edit_elsewhere(
        text, function, [other for other, _ in found[:: data.draw(st.sampled_from([1, -1]))]]
    )
    pack = data.draw(st.sampled_from([make_wheel, make_sdist]))
    name = "pack-{}-py3-none-any.whl" if pack is make_wheel else "pack-{}.tar.gz"
    shared_index.files["pack"] = {}
    for version, contents in (("1.0", broken), ("1.1", mended)):
        shared_index.add(
            "pack", name.format(version), pack({f"pack/{file}": contents, "pack/__init__.py": ""})
        )

    (fix,) = mine_package("pack", shared_index.registry).fixes

    module = extract(broken)
    (bug,) = [f for f in module.functions if (f.name, f.span[0]) == (function.name, function.span[0])]
    repair = rewrite.inverse(function.source)
    expected = describe_fix(BugFix(function=bug, repair=repair, facts=module.facts))
    assert fix["pair"] == expected["pair"]
    assert {name: fix[name] for name in ("function", "start_line", "kind", "span", "after_text")} == {
        name: expected[name] for name in ("function", "start_line", "kind", "span", "after_text")
    }

    result = package_samples([ReleaseReference.of(fix)], shared_index.registry, with_clean=False)
    (sample,) = result.samples
    own = candidates(bug)
    columns, order = encode_candidates(bug, own)
    assert (sample.source, len(sample.candidates)) == (bug.source, len(columns))
    assert own[order[sample.target]].apply(sample.source) == function.source
