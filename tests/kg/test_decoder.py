"""The tokens that a network reads."""

import numpy as np

from hyperheat.kg import Questions, Statement, Statements
from hyperheat.kg.neural.decoder import tokenise
from hyperheat.kg.questions import OBJECT, SUBJECT

STATEMENTS = Statements.build(
    [
        Statement("a", "r", "b", (("q", "c"), ("t", "d"))),
        Statement("a", "r", "d", (("t", "d"), ("q", "c"))),
        Statement("a", "r", "d"),
        Statement("e", "r", "d"),
    ]
)
# entities a b c d e are 0 .. 4, relations q r t are 0 .. 2


def test_tokens_are_relation_subject_object_and_values_with_their_roles():
    tokens, order = tokenise(Questions(STATEMENTS, np.array([OBJECT, 2, SUBJECT, OBJECT])))
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
    tokens, order = tokenise(Questions(STATEMENTS[:0], np.zeros(0, np.int64)))
    assert (tokens.groups, len(tokens.entry), len(tokens.blank), len(order)) == ((), 0, 0, 0)
