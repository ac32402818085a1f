"""The answers that statements hold: grouped by question, and looked up for one."""

import numpy as np
import pytest

from hyperheat.kg import Completer, Statement, Statements
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.known_answers import KnownAnswers, group_main, group_values
from hyperheat.kg.questions import OBJECT, SUBJECT, Questions

STATEMENTS = Statements.build(
    [
        Statement("a", "r", "b", (("q", "c"), ("t", "d"))),
        Statement("a", "r", "d", (("t", "d"), ("q", "c"))),  # the same question after its object
        Statement("a", "r", "d"),
        Statement("e", "r", "d"),  # the same question after its subject as the one before
    ]
)
# entities a b c d e are 0 .. 4, relations q r t are 0 .. 2


def test_statements_that_differ_in_the_blank_alone_pose_one_question():
    groups = group_main(STATEMENTS)
    found = set()
    for number in range(len(groups)):
        row, place = groups.answers(np.array([number]))
        assert (row == 0).all()
        statements, answers = groups.statement[place].tolist(), groups.answer[place].tolist()
        found.add((int(groups.blank[number]), tuple(statements), tuple(answers)))
    assert found == {
        (OBJECT, (0, 1), (1, 3)),
        (OBJECT, (2,), (3,)),
        (OBJECT, (3,), (3,)),
        (SUBJECT, (0,), (0,)),
        (SUBJECT, (1,), (0,)),
        (SUBJECT, (2, 3), (0, 4)),
    }


def test_every_value_of_a_qualifier_can_be_asked_for():
    groups = group_values(STATEMENTS)
    assert groups.statement.tolist() == [0, 0, 1, 1]
    assert groups.blank.tolist() == [2, 3, 2, 3]
    assert groups.answer.tolist() == [2, 3, 3, 2]


def test_groups_give_their_questions():
    groups = group_values(STATEMENTS)
    assert str(groups.questions(STATEMENTS, np.array([3, 0]))) == (
        "a | r | d | t=d | q=?\na | r | b | q=? | t=d"
    )


@pytest.mark.parametrize(
    ("question", "known", "otherwise"),
    [
        (Questions.of("a", "r", None), ["b", "d"], []),
        (Questions.of("a", "r", None, {"q": "c"}), ["b", "d"], []),
        (Questions.of("a", "r", None, {"q": "d"}), [], ["b", "d"]),
        (Questions.of(None, "r", "d"), ["a", "e"], []),
        (Questions.of(None, "r", "d", {"t": "d"}), ["a"], ["e"]),
        (Questions.of("a", "r", "d", {"q": None}), ["c"], []),
        (Questions.of("a", "r", "d", {"q": None, "t": "c"}), [], ["c"]),
        (Questions.of("b", "r", None), [], []),
    ],
    ids=str,
)
def test_answers_are_known_with_these_or_other_qualifiers(question, known, otherwise):
    completer = Completer(Heuristic(STATEMENTS), STATEMENTS, {})
    found = KnownAnswers(STATEMENTS).to(completer.resolve(question))
    assert [[STATEMENTS.entities[i] for i in entities] for entities in found] == [known, otherwise]


def test_equal_statements_are_kept_once():
    again = Statements.build([*STATEMENTS, STATEMENTS[2], Statement("a", "r", "b", (("t", "d"), ("q", "c")))])
    assert again.distinct() == STATEMENTS
