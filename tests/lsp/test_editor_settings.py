"""What an editor may set, in the ways that editors send it."""

import pytest

from hyperheat.lsp.editor_settings import ALLOWED, read_editor_settings


@pytest.mark.parametrize("nothing", [None, {}, {"hyperheat": None}, {"hyperheat": {}}, []])
def test_nothing_sets_nothing(nothing):
    read = read_editor_settings(nothing)
    assert (read.options, read.problems) == ({}, ())


@pytest.mark.parametrize(
    "sent",
    [
        {"tier": "B", "min-confidence": 0.5},
        {"hyperheat": {"tier": "B", "minConfidence": 0.5}},
    ],
)
def test_settings_may_stand_alone_or_under_a_name(sent):
    read = read_editor_settings(sent)
    assert (read.options, read.problems) == ({"tier": "B", "min-confidence": 0.5}, ())


@pytest.mark.parametrize(
    "key", ["model", "baseline", "jobs", "strict", "fail-on", "per-file-ignores", "timeout"]
)
def test_what_could_harm_is_not_a_setting(key):
    assert key not in ALLOWED
    read = read_editor_settings({"hyperheat": {key: "/tmp/evil"}})
    assert read.options == {}
    assert len(read.problems) == 1
    assert read.problems[0].startswith(f"hyperheat.{key}: not a setting of the editor: ")


@pytest.mark.parametrize("strange", [7, "tier", [1], {"hyperheat": 7}, {7: 8}])
def test_strange_values_are_told_and_ignored(strange):
    read = read_editor_settings(strange)
    assert read.options == {}
    assert len(read.problems) == 1
