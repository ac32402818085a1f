"""Words of subjects, names of tests."""

import pytest

from hyperheat.bugs.mining.commits import is_fix_like, is_revert, is_test_file


@pytest.mark.parametrize(
    ("subject", "fix", "revert"),
    [
        ("Fix crash on empty input", True, False),
        ("Bugfix: off-by-one", True, False),
        ("[core] fixed #12", True, False),
        ("Fix typo in docs", False, False),
        ("Fix flake8 errors", False, False),
        ("Add a prefix", False, False),
        ("Debug output", False, False),
        ('Revert "Fix crash"', False, True),
        ("Reapply the fix", False, True),
        ("", False, False),
    ],
)
def test_subjects(subject, fix, revert):
    assert (is_fix_like(subject), is_revert(subject)) == (fix, revert)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("a/test/b.py", True),
        ("a/test_b.py", True),
        ("a/b_test.py", True),
        ("conftest.py", True),
        ("a/latest.py", False),
        ("contest/a.py", False),
    ],
)
def test_files_of_tests(path, expected):
    assert is_test_file(path) is expected
