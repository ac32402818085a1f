"""JSON with places: the same values as the library's, exact places, and one sentence for anything that is not JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.check.json_places import JsonError, PlacedString, read_places

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def wanted_of(value: Any) -> Any:
    """What asks for all of a value; an empty list, or one of unlike items, is asked for as a whole."""
    if isinstance(value, dict):
        return {name: wanted_of(item) for name, item in value.items()}
    if isinstance(value, list):
        return [wanted_of(value[0])] if value else [True]
    return True


@given(VALUES, VALUES, st.sampled_from([None, 0, 1, 3]), st.booleans())
def test_strings_are_found_at_their_places_among_anything(value, other, indent, ascii):
    document = {"a": [{"text": 'é\n"\\', "other": other}, {"text": ["x", "\U0001f600"]}], "b": value}
    data = json.dumps(document, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    try:
        data.decode()
    except UnicodeDecodeError:
        return
    found = read_places(data, {"a": [{"text": [True]}]})
    (first, second) = found["a"]
    assert [first["text"].text, *(piece.text for piece in second["text"])] == ['é\n"\\', "x", "\U0001f600"]
    for piece in (first["text"], *second["text"]):
        assert json.loads(data[piece.start : piece.end]) == piece.text


@given(st.binary(max_size=40) | st.text('[]{}:,"\\ue019tfalsn \n').map(str.encode))
def test_what_the_library_takes_is_taken_and_nothing_else(data):
    try:
        json.loads(data.decode(), parse_constant=lambda name: 1 / 0)
        valid = not data.startswith(b"\xef\xbb\xbf")
    except (ValueError, ZeroDivisionError):
        valid = False
    if not _is_text(data):
        valid = None
    try:
        read_places(data, None)
        taken, sentence = True, ""
    except JsonError as error:
        taken, sentence = False, str(error)
    assert valid in (taken, None)
    assert "\n" not in sentence


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data.startswith(b"\xef\xbb\xbf")


def test_other_types_than_wanted_are_nothing():
    assert read_places(b'{"a": 1, "a": "x", "b": [2, {}]}', {"a": {"b": True}, "b": True}) == {
        "a": PlacedString(14, 17, "x"),
        "b": None,
    }
    assert read_places(b"[[1, 2], []]", [[True]]) == [[b"1", b"2"], []]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "expected a value in line 1, got the end"),
        (b'{\n"a": tru\n}', r"expected JSON in line 2, got 'tru\n}'"),
        (b'{"a": 1,}', "expected a name in quotes in line 1, got '}'"),
        (b"[" * 100_000, "expected at most 200 levels of nesting in line 1"),
        (b'{"a": "\xff"}', "expected UTF-8 in line 1"),
        (b"[1, 2, 3 4]", "expected `,` or `]` in line 1, got '4]'"),
    ],
)
def test_what_is_no_json_is_one_sentence(data, sentence):
    with pytest.raises(JsonError) as error:
        read_places(data, {"a": True})
    assert str(error.value).startswith(sentence)


def test_large_values_that_are_not_wanted_cost_little():
    data = json.dumps({"x": list(range(300_000)), "y": "\\\n" * 2_000_000, "z": "z"}).encode()
    assert read_places(data, {"z": True})["z"].text == "z"
