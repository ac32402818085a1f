"""Questions: which statements pose them, their answers, and the tokens that a network reads."""

import numpy as np

from hyperheat.kg import Statement, Statements
from hyperheat.kg.neural.questions import (
    OBJECT,
    SUBJECT,
    distinct,
    main_questions,
    qualifier_questions,
    tokenise,
)

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
    questions = main_questions(STATEMENTS)
    found = set()
    for number in range(len(questions)):
        row, place = questions.posed_by(np.array([number]))
        assert (row == 0).all()
        statements, answers = questions.statement[place].tolist(), questions.answer[place].tolist()
        found.add((int(questions.blank[number]), tuple(statements), tuple(answers)))
    assert found == {
        (OBJECT, (0, 1), (1, 3)),
        (OBJECT, (2,), (3,)),
        (OBJECT, (3,), (3,)),
        (SUBJECT, (0,), (0,)),
        (SUBJECT, (1,), (0,)),
        (SUBJECT, (2, 3), (0, 4)),
    }


def test_every_value_of_a_qualifier_can_be_asked_for():
    questions = qualifier_questions(STATEMENTS)
    assert questions.statement.tolist() == [0, 0, 1, 1]
    assert questions.blank.tolist() == [2, 3, 2, 3]
    assert questions.answer.tolist() == [2, 3, 3, 2]


def test_tokens_are_relation_subject_object_and_values_with_their_roles():
    tokens, order = tokenise(STATEMENTS, np.array([OBJECT, 2, SUBJECT, OBJECT]))
    # table: entities 0-4, relations q r t 5-7, backwards 8-10, the blank 11; roles: 3 q, 4 r, 5 t
    assert order.tolist() == [2, 3, 0, 1]
    assert tokens.groups == ((2, 3), (2, 5))
    assert tokens.entry.tolist() == [
        *[9, 11, 3],  # ? r d, asked backwards
        *[6, 4, 11],  # e r ?
        *[6, 0, 11, 2, 3],  # a r ? q=c t=d
        *[6, 0, 3, 11, 2],  # a r d t=? q=c
    ]
    assert tokens.role.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 5, 0, 1, 2, 5, 3]
    assert tokens.blank.tolist() == [1, 5, 8, 14]


def test_no_questions_have_no_tokens():
    tokens, order = tokenise(STATEMENTS[:0], np.zeros(0, np.int64))
    assert (tokens.groups, len(tokens.entry), len(tokens.blank), len(order)) == ((), 0, 0, 0)


def test_equal_statements_are_kept_once():
    again = Statements.build([*STATEMENTS, STATEMENTS[2], Statement("a", "r", "b", (("t", "d"), ("q", "c")))])
    assert distinct(again) == STATEMENTS
