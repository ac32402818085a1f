"""Places of editors: every encoding, every line end, and places that do not exist."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.lsp.positions import ENCODINGS, PlacedText

TEXT = "é = '😀'\r\nb\rc\n\fd\u2028e"
CHARACTERS = st.text(st.sampled_from("ab\u00e9\u20ac\U0001f600\n\r\f\u2028\x85"), max_size=20)


@pytest.mark.parametrize(
    ("encoding", "column"), [("utf-8", 1 + len("é = '😀".encode())), ("utf-16", 8), ("utf-32", 7)]
)
def test_columns_are_counted_in_the_units_of_the_encoding(encoding, column):
    text = PlacedText(TEXT, encoding)
    end = TEXT.index("\r\n")
    assert text.place(end) == (0, column)
    assert text.offset(0, column) == end


def test_lines_end_as_in_python_and_form_feeds_end_none():
    text = PlacedText(TEXT, "utf-16")
    assert [text.place(TEXT.index(letter)) for letter in "bcde"] == [(1, 0), (2, 0), (3, 1), (3, 3)]


@pytest.mark.parametrize(
    ("place", "offset"),
    [((-1, 5), 0), ((0, -3), 0), ((0, 99), 7), ((1, 99), 10), ((9, 9), len(TEXT)), ((3, 99), len(TEXT))],
)
def test_places_that_do_not_exist_count_as_the_nearest(place, offset):
    assert PlacedText(TEXT, "utf-16").offset(*place) == offset


def test_the_middle_of_a_character_is_before_it():
    text = PlacedText("😀", "utf-16")
    assert [text.offset(0, column) for column in range(3)] == [0, 0, 1]


@given(CHARACTERS, st.sampled_from(ENCODINGS))
def test_every_place_leads_back_to_its_offset(characters, encoding):
    text = PlacedText(characters, encoding)
    for offset in range(len(characters) + 1):
        if characters[offset - 1 : offset + 1] != "\r\n":  # between the two there is no place
            assert text.offset(*text.place(offset)) == offset


@given(CHARACTERS, CHARACTERS, st.data(), st.sampled_from(ENCODINGS))
def test_replacing_a_range_changes_nothing_else(before, new, data, encoding):
    text = PlacedText(before, encoding)
    places = [o for o in range(len(before) + 1) if before[o - 1 : o + 1] != "\r\n"]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
    assert text.replaced(text.place(start), text.place(end), new) == before[:start] + new + before[end:]


def test_a_range_that_ends_before_it_starts_is_empty():
    assert PlacedText("abc", "utf-16").replaced((0, 2), (0, 1), "x") == "abxc"
