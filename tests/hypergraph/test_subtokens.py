"""Splitting names into subtokens."""

import pytest

from hyperheat.hypergraph.subtokens import split


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parName", ("par", "name")),
        ("foo_bar2", ("foo", "bar", "2")),
        ("HTTPServer2", ("http", "server", "2")),
        ("getHTTPResponse", ("get", "http", "response")),
        ("__init__", ("init",)),
        ("_private", ("private",)),
        ("A", ("a",)),
        ("ABC", ("abc",)),
        ("aB", ("a", "b")),
        ("IOError", ("io", "error")),
        ("x1y22", ("x", "1", "y", "22")),
        ("educated at", ("educated", "at")),
        ("not in", ("not", "in")),
        ("+=", ("+=",)),
        ("self.x", ("self", ".", "x")),
        ("", ()),
        ("_", ("_",)),
        ("__", ("__",)),
        ("  ", ("  ",)),
    ],
)
def test_splits_ascii_names(name: str, expected: tuple[str, ...]) -> None:
    assert split(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("größeMax", ("größe", "max")),
        ("ÉtatInitial", ("état", "initial")),
        ("变量_名", ("变量", "名")),
        ("नमस्ते", ("नमस्ते",)),  # its vowel signs are marks, not letters
        ("cafe\u0301Bar", ("cafe\u0301", "bar")),
        ("x²Foo", ("x²", "foo")),
        ("²Foo", ("²", "foo")),
        ("٣x", ("٣", "x")),
    ],
)
def test_splits_unicode_names(name: str, expected: tuple[str, ...]) -> None:
    assert split(name) == expected


@pytest.mark.parametrize("name", ["P69", "Q937", "L1"])
def test_opaque_identifiers_stay_whole(name: str) -> None:
    assert split(name) == (name,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("P0", ("p", "0")), ("PQ6", ("pq", "6")), ("P69b", ("p", "69", "b")), ("p69", ("p", "69"))],
)
def test_what_only_resembles_an_identifier_is_split(name: str, expected: tuple[str, ...]) -> None:
    assert split(name) == expected
