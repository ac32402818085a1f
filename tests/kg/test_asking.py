"""Questions as text and as JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.kg.asking import OBJECT, SUBJECT, Question, QuestionError, parse_line, parse_question

EINSTEIN = Question(
    "Albert Einstein", "educated at", None, (("academic degree", "PhD"), ("major", "physics"))
)


def test_text_is_read():
    text = "Albert Einstein|educated at | ? | academic degree=PhD | major = physics"
    assert parse_question(text) == EINSTEIN
    assert str(EINSTEIN) == "Albert Einstein | educated at | ? | academic degree=PhD | major=physics"


def test_any_entity_may_be_blank():
    assert parse_question("? | r | o").blank == SUBJECT
    assert parse_question("s | r | ?").blank == OBJECT
    assert parse_question("s | r | o | q=v | q=?").blank == 3


def test_backslashes_escape():
    question = parse_question(r"a\|b | r\\ | ? | x\=y=p=q | z=\?")
    assert question == Question("a|b", "r\\", None, (("x=y", "p=q"), ("z", "?")))
    assert parse_question(str(question)) == question


names = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1).filter(
    lambda name: name == name.strip()
)


@given(names, names, names, st.lists(st.tuples(names, names)), st.integers(0, 5))
def test_what_is_written_is_read_back(subject, relation, obj, pairs, blank):
    slots = [subject, obj, *(value for _, value in pairs)]
    slots[blank % len(slots)] = None
    qualifiers = tuple((name, value) for (name, _), value in zip(pairs, slots[2:], strict=True))
    question = Question(slots[0], relation, slots[1], qualifiers)
    assert parse_question(str(question)) == question


def test_json_is_read():
    pairs = '"qualifiers": [["academic degree", "PhD"], ["major", "physics"]]'
    line = f'{{"subject": "Albert Einstein", "relation": "educated at", "object": null, {pairs}}}'
    assert parse_line(line) == EINSTEIN
    mapping = line.replace(pairs, '"qualifiers": {"academic degree": "PhD", "major": ["physics"]}')
    assert parse_line(mapping) == EINSTEIN
    assert parse_line('{"relation": "r", "object": "o"}') == Question(None, "r", "o")
    assert parse_line("s | r | ?") == Question("s", "r", None)


def test_mappings_may_hold_lists():
    assert Question.of("s", "r", "o", {"q": ["a", None]}) == Question(
        "s", "r", "o", (("q", "a"), ("q", None))
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"expected subject \| relation \| object .* got ''"),
        ("s | r", r"expected subject \| relation \| object .* got 's \| r'"),
        ("s | r | o", "expected one blank in 's | r | o', got 0"),
        ("? | r | ?", "got 2"),
        ("? | r | o | q=?", "got 2"),
        ("s | ? | o", r"expected a relation, got a blank in 's \| \? \| o': only entities can be asked for"),
        ("s | r | ? | q", "expected qualifier=value, got 'q'"),
        ("s | r | ? | ?=v", "expected the name of a qualifier, got a blank"),
        ("s | r | ? | =v", "expected names in .* got ''"),
        (" | r | ?", "expected names in .* got ''"),
        ("{", "expected a JSON object, got '{'"),
        ('{"subject": "s"}', "expected the keys subject, relation, object, qualifiers, got subject"),
        ('{"relation": "r", "who": 1}', "got relation, who"),
        ('{"subject": 3, "relation": "r"}', "expected names in .* got 3"),
        ('{"subject": "s", "relation": null}', "expected a relation, got a blank"),
        ('{"subject": "s", "relation": "r", "qualifiers": "q=v"}', "expected pairs of relation and value"),
        ('{"subject": "s", "relation": "r", "qualifiers": [["q"]]}', "expected pairs of relation and value"),
        ('{"subject": "s", "relation": "r", "qualifiers": 3}', "expected pairs of relation and value"),
        ('{"subject": "s", "relation": "r", "qualifiers": {"q": {}}}', "expected names in"),
    ],
)
def test_what_is_no_question_is_said(text: str, message: str):
    with pytest.raises(QuestionError, match=message):
        parse_line(text)
