"""The co-occurrence heuristic, by hand."""

import numpy as np
import pytest

from hyperheat.kg import Statement, Statements
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.questions import OBJECT, SUBJECT, Questions

TRAINING = [
    Statement("film", "award", "Oscar", (("winner", "Ann"),)),
    Statement("film", "award", "Globe"),
    Statement("play", "award", "Tony", (("winner", "Ann"),)),
    Statement("film", "country", "France"),
]


def scores(query: Statement, blank: int) -> dict[str, float]:
    both = Statements.build([*TRAINING, query])
    row = Heuristic(both[:-1])(Questions(both[-1:], np.array([blank])))[0]
    return dict(zip(both.entities, row.tolist(), strict=True))


def test_objects():
    # of film's three statements one holds Oscar, Globe, France and Ann each; award was answered by Oscar, Globe, Tony
    found = scores(Statement("film", "award", "Tony"), OBJECT)
    assert found == pytest.approx(
        {"Oscar": 1 / 3, "Globe": 1 / 3, "France": 0.2 / 3, "Ann": 0.2 / 3, "Tony": 0, "film": 0, "play": 0}
    )


def test_qualifiers_add_their_own_company():
    # Ann stands in two statements, once with film and Oscar, once with play and Tony
    found = scores(Statement("film", "award", "Tony", (("winner", "Ann"),)), OBJECT)
    assert found["Oscar"] == pytest.approx(1 / 3 + 1 / 2)
    assert found["Tony"] == pytest.approx(1 / 2)
    assert found["play"] == pytest.approx(0.2 / 2)


def test_subjects_have_their_own_prior():
    found = scores(Statement("play", "award", "Oscar"), SUBJECT)
    assert found == pytest.approx(
        {"film": 1, "Ann": 0.2, "Oscar": 0, "Globe": 0, "Tony": 0, "France": 0, "play": 0}
    )


def test_queries_do_not_touch_each_other():
    both = Statements.build(
        [*TRAINING, Statement("film", "country", "Oscar"), Statement("play", "award", "Globe")]
    )
    heuristic = Heuristic(both[:-2])
    together = heuristic(Questions(both[-2:], np.array([OBJECT, OBJECT])))
    alone = [heuristic(Questions(both[[row]], np.array([OBJECT])))[0] for row in (-2, -1)]
    assert np.array_equal(together, np.stack(alone))


def test_an_entity_that_training_never_saw_scores_nothing():
    assert set(scores(Statement("opera", "award", "Oscar"), OBJECT).values()) == {0}
