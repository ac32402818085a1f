"""Why an answer: effects of qualifiers and near statements, by hand."""

from math import log

import pytest
from tests.kg.neural_data import new_model, random_statements

from hyperheat.kg import Completer, Statement, Statements
from hyperheat.kg.explanation import Effect
from hyperheat.kg.heuristic import _NEW_THERE as NEW
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.neural.trained_model import ModelScorer

FACTS = [
    Statement("film", "award", "Oscar", (("winner", "Ann"),)),
    Statement("film", "award", "Globe"),
    Statement("play", "award", "Tony", (("winner", "Ann"),)),
    Statement("film", "country", "France"),
    Statement("Ann", "born in", "France"),
]
STATEMENTS = Statements.build(FACTS)
COMPLETER = Completer(Heuristic(STATEMENTS), STATEMENTS, {"Ann": "Ann Example", "award": "award received"})


def test_the_effect_of_a_qualifier_is_the_answer_without_it():
    found = COMPLETER.complete("film", "award", None, {"winner": "Ann"}, k=3)
    tony = next(a for a in found if a.id == "Tony")
    why = COMPLETER.explain(found, tony.rank)
    # Without Ann nothing speaks for Tony; Oscar, Globe, France and Ann, who is a subject now, come before it.
    assert why.effects == (Effect(qualifier="winner", value="Ann", probability=0.0, rank=5),)
    assert why.answer is tony
    plain = COMPLETER.complete("film", "award", None)
    assert COMPLETER.explain(plain).effects == ()


def test_near_statements_share_rare_parts():
    found = COMPLETER.complete("play", "award", None, {"winner": "Ann"}, candidates=["Oscar"])
    why = COMPLETER.explain(found, support=4)
    # Weights of the parts of play | award | Oscar | winner=Ann: award is in 3 of 5 statements, play in 1, as subject 1,
    # Oscar 1, as object 1, Ann 3, as winner 2.
    award, play, oscar, ann, winner = log(5 / 3), 2 * log(5), 2 * log(5), log(5 / 3), log(5 / 2)
    whole = award + play + oscar + ann + winner
    assert [(str(s.statement), s.closeness) for s in why.support] == [
        (
            "film | award received | Oscar | winner=Ann Example",
            pytest.approx((award + oscar + ann + winner) / whole),
        ),
        (
            "play | award received | Tony | winner=Ann Example",
            pytest.approx((award + play + ann + winner) / whole),
        ),
        ("film | award received | Globe", pytest.approx(award / whole)),
        ("Ann Example | born in | France", pytest.approx(ann / whole)),
    ]


def test_a_known_statement_supports_itself_wholly():
    found = COMPLETER.complete(None, "award", "Oscar", {"winner": "Ann"}, k=1)
    why = COMPLETER.explain(found, support=1)
    assert (found[0].id, why.support[0].closeness) == ("film", pytest.approx(1))


def test_values_of_qualifiers_are_explained_too():
    statements = random_statements(60)
    completer = Completer(ModelScorer(new_model(statements)), statements, {})
    s = next(s for s in statements if len(s.qualifiers) == 3)
    (q1, v1), (q2, _), (q3, v3) = s.qualifiers
    asked = completer.complete(s.subject, s.relation, s.object, [(q1, v1), (q2, None), (q3, v3)], k=50)
    why = completer.explain(asked, 2)
    assert [(e.qualifier, e.value) for e in why.effects] == [(q1, v1), (q3, v3)]
    for effect, rest in zip(why.effects, ([(q2, None), (q3, v3)], [(q1, v1), (q2, None)]), strict=True):
        without = completer.complete(s.subject, s.relation, s.object, rest, k=50)
        same = next(a for a in without if a.id == asked[1].id)
        by_score = 1 + sum(a.score > same.score for a in without)
        assert (effect.probability, effect.rank) == (pytest.approx(same.probability, rel=1e-4), by_score)


def test_it_prints_in_lines():
    found = COMPLETER.complete("film", "award", None, {"winner": "Ann"}, k=1)
    lines = str(COMPLETER.explain(found, support=1)).splitlines()
    assert lines[0] == f"why Oscar, rank 1 with p {found[0].probability:.3f}:"
    # without Ann the shares are 1 for Oscar and Globe, NEW for France and Ann
    p = 1 / (2 + 2 * NEW)
    assert lines[1] == f"  winner=Ann: {found[0].probability - p:+.3f} (without it p {p:.3f}, rank 1)"
    assert lines[2] == "  near 1.00: film | award received | Oscar | winner=Ann Example"


def test_only_answers_can_be_explained():
    found = COMPLETER.complete("film", "award", None, k=2)
    for rank in (0, 3):
        with pytest.raises(ValueError, match=f"expected the rank of an answer, 1 to 2, got {rank}"):
            COMPLETER.explain(found, rank)
