"""Questions in columns, as text and as JSON."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.kg import Questions, Statement, Statements
from hyperheat.kg.questions import (
    FIRST_QUALIFIER,
    OBJECT,
    RELATION,
    SUBJECT,
    QuestionError,
    join_questions,
    parse_line,
    parse_question,
)

EINSTEIN = Questions.of(
    "Albert Einstein", "educated at", None, (("academic degree", "PhD"), ("major", "physics"))
)


STATEMENTS = Statements.build(
    [
        Statement("a", "r", "b", (("q", "c"), ("t", "d"))),
        Statement("d", "r", "c"),
        Statement("c", "t", "a", (("q", "b"), ("q", "d"), ("r", "a"))),
    ]
)
# entities a b c d are 0 .. 3, relations q r t are 0 .. 2
ASKED = Questions(STATEMENTS, np.array([OBJECT, SUBJECT, FIRST_QUALIFIER + 1]))


def test_what_is_asked_for_is_erased():
    assert ASKED.statements.subject.tolist() == [0, 0, 2]
    assert ASKED.statements.object.tolist() == [0, 2, 0]
    assert ASKED.statements.value.tolist() == [2, 3, 1, 0, 0]
    assert STATEMENTS.object.tolist() == [1, 2, 0]
    other = [Statement("a", "r", "d", (("q", "c"), ("t", "d"))), Statement("b", "r", "c"), STATEMENTS[2]]
    assert Questions(Statements.build(other), ASKED.blank) == ASKED


def test_what_is_given_stands_in_the_order_of_the_slots():
    owner, entity = ASKED.given()
    order = np.argsort(owner, kind="stable")
    assert owner[order].tolist() == [0, 0, 0, 1, 2, 2, 2, 2]
    assert entity[order].tolist() == [0, 2, 3, 2, 2, 0, 1, 0]
    assert ASKED.given_qualifiers().tolist() == [True, True, True, False, True]
    assert ASKED.asked_qualifiers(np.array([2])).tolist() == [0]


def test_blanks_are_filled():
    assert ASKED.filled(np.array([1, 3, 3])) == STATEMENTS
    assert str(ASKED.filled(np.array([2, 1, 0]))).splitlines() == [
        "a | r | c | q=c | t=d",
        "b | r | c",
        "c | t | a | q=b | q=a | r=a",
    ]


def test_each_given_qualifier_is_left_out_in_turn():
    assert str(ASKED.without_each()).splitlines() == [
        "a | r | ? | t=d",
        "a | r | ? | q=c",
        "c | t | a | q=? | r=a",
        "c | t | a | q=b | q=?",
    ]
    assert len(ASKED[1].without_each()) == 0


def test_some_of_them_are_questions_too():
    lines = ["a | r | ? | q=c | t=d", "? | r | c", "c | t | a | q=b | q=? | r=a"]
    assert str(ASKED).splitlines() == lines
    assert [str(question) for question in ASKED] == lines
    assert str(ASKED[1:]).splitlines() == lines[1:]
    assert str(ASKED[np.array([2, 0])]).splitlines() == [lines[2], lines[0]]
    assert ASKED[0] == parse_question(lines[0])
    assert ASKED[0] != ASKED[1]
    assert len({ASKED[0], parse_question(lines[0])}) == 1


def test_questions_with_other_names_are_joined():
    assert join_questions([ASKED[0], parse_question("x | y | ?"), ASKED[1:]]) == join_questions(
        map(parse_question, ["a | r | ? | q=c | t=d", "x | y | ?", *str(ASKED[1:]).splitlines()])
    )
    assert len(join_questions([])) == 0


@pytest.mark.parametrize("blank", [[0, 0], [0, 2, 0], [0, 0, -2], [4, 0, 0], [0, 0, 5]], ids=str)
def test_blanks_are_slots(blank: list[int]):
    with pytest.raises(ValueError, match="blank: expected a slot of each of 3 statements"):
        Questions(STATEMENTS, np.array(blank))


def test_text_is_read():
    text = "Albert Einstein|educated at | ? | academic degree=PhD | major = physics"
    assert parse_question(text) == EINSTEIN
    assert str(EINSTEIN) == "Albert Einstein | educated at | ? | academic degree=PhD | major=physics"


def test_any_entity_may_be_blank():
    assert parse_question("? | r | o").blank.tolist() == [SUBJECT]
    assert parse_question("s | r | ?").blank.tolist() == [OBJECT]
    assert parse_question("s | r | o | q=v | q=?").blank.tolist() == [FIRST_QUALIFIER + 1]


def test_backslashes_escape():
    question = parse_question(r"a\|b | r\\ | ? | x\=y=p=q | z=\?")
    assert question == Questions.of("a|b", "r\\", None, (("x=y", "p=q"), ("z", "?")))
    assert parse_question(str(question)) == question


names = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1).filter(
    lambda name: name == name.strip()
)


@given(names, names, names, st.lists(st.tuples(names, names)), st.integers(0, 5))
def test_what_is_written_is_read_back(subject, relation, obj, pairs, blank):
    slots = [subject, obj, *(value for _, value in pairs)]
    slots[blank % len(slots)] = None
    qualifiers = tuple((name, value) for (name, _), value in zip(pairs, slots[2:], strict=True))
    question = Questions.of(slots[0], relation, slots[1], qualifiers)
    assert parse_question(str(question)) == question


def test_json_is_read():
    pairs = '"qualifiers": [["academic degree", "PhD"], ["major", "physics"]]'
    line = f'{{"subject": "Albert Einstein", "relation": "educated at", "object": null, {pairs}}}'
    assert parse_line(line) == EINSTEIN
    mapping = line.replace(pairs, '"qualifiers": {"academic degree": "PhD", "major": ["physics"]}')
    assert parse_line(mapping) == EINSTEIN
    assert parse_line('{"relation": "r", "object": "o"}') == Questions.of(None, "r", "o")
    assert parse_line("s | r | ?") == Questions.of("s", "r", None)


def test_mappings_may_hold_lists():
    assert Questions.of("s", "r", "o", {"q": ["a", None]}) == Questions.of(
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
        ("s | ? | ?", r"expected one blank in 's \| \? \| \?', got 2"),
        ("s | r | ? | q", "expected qualifier=value, got 'q'"),
        ("s | r | ? | ?=v", "the name of a qualifier cannot be blank"),
        ("s | r | ? | =v", "expected names in .* got ''"),
        (" | r | ?", "expected names in .* got ''"),
        ("{", "expected a JSON object, got '{'"),
        ('{"subject": "s"}', r"expected one blank in 's \| \? \| \?', got 2"),
        ("{}", "expected the keys subject, relation, object, qualifiers, got "),
        ('{"relation": "r", "who": 1}', "got relation, who"),
        ('{"subject": 3, "relation": "r"}', "expected names in .* got 3"),
        ('{"subject": "s", "relation": null}', "expected one blank in .*, got 2"),
        ('{"subject": "s", "relation": "r", "qualifiers": "q=v"}', "expected pairs of relation and value"),
        ('{"subject": "s", "relation": "r", "qualifiers": [["q"]]}', "expected pairs of relation and value"),
        ('{"subject": "s", "relation": "r", "qualifiers": 3}', "expected pairs of relation and value"),
        ('{"subject": "s", "relation": "r", "qualifiers": {"q": {}}}', "expected names in"),
    ],
)
def test_what_is_no_question_is_said(text: str, message: str):
    with pytest.raises(QuestionError, match=message):
        parse_line(text)


def test_a_relation_may_be_blank():
    question = parse_question("Einstein | ? | ETH | degree=BSc")
    assert question.blank.tolist() == [RELATION]
    assert question.asks_relation
    assert str(question) == "Einstein | ? | ETH | degree=BSc"
    assert question == parse_line('{"subject": "Einstein", "object": "ETH", "qualifiers": {"degree": "BSc"}}')
    assert [question.statements.entities[e] for e in question.given()[1]] == ["Einstein", "ETH", "BSc"]
    assert str(question.without_each()) == "Einstein | ? | ETH"
    both = join_questions([question, parse_question("Einstein | born in | ?")])
    with pytest.raises(ValueError, match="expected questions for relations or for entities, got both"):
        _ = both.asks_relation
    relation = both.statements.relations.index("born in")
    assert both.filled(np.array([relation, 0]))[0].relation == "born in"
