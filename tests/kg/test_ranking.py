"""Ranks: computed by hand, compared with brute force, at chance for a model that knows nothing."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.kg import Statement, Statements
from hyperheat.kg.breakdown import group_answers
from hyperheat.kg.questions import FIRST_QUALIFIER, OBJECT, RELATION, SUBJECT, Questions
from hyperheat.kg.ranking import Ranking, RankMetrics, rank

ENTITIES = "abcdef"


def table_of(*statements: Statement) -> Statements:
    """The statements behind one that names all entities and relations, so that a is 0, b is 1 and so on."""
    everything = Statement("a", "q", "b", tuple(zip("rrrr", "cdef", strict=True)))
    return Statements.build([everything, *statements])[1:]


def fixed(by_query: Mapping[tuple[int, str], Sequence[float]]):
    """A scorer that looks scores up by the blank and the given entity."""

    def scores(questions: Questions) -> np.ndarray:
        return np.array(
            [
                by_query[blank, ENTITIES[entity]]
                for blank, entity in zip(
                    questions.blank.tolist(), given_main(questions).tolist(), strict=True
                )
            ]
        )

    return scores


def given_main(questions: Questions) -> np.ndarray:
    """The subject where the object is asked for, else the object."""
    return np.where(questions.blank == OBJECT, questions.statements.subject, questions.statements.object)


EVERYONE = np.ones(6, bool)
ASKED = table_of(Statement("a", "r", "c"))
#                         a   b   c   d   e   f
SCORES = fixed({(OBJECT, "a"): [0, 5, 3, 3, 4, 3], (SUBJECT, "c"): [2, 1, 9, 2, 0, 0]})


def test_greater_scores_count_whole_and_ties_half():
    # object c scores 3: b and e are greater, d and f tie: 1 + 2 + 2/2 = 4
    # subject a scores 2: c is greater, d ties: 1 + 1 + 1/2 = 2.5
    ranking = rank(SCORES, ASKED, known=ASKED, candidates=EVERYONE)
    assert ranking.ranks.tolist() == [[4.0], [2.5]]
    assert ranking.tied == 2


def test_known_answers_are_no_wrong_answers():
    known = table_of(Statement("a", "r", "b"), Statement("a", "r", "d"), Statement("c", "r", "c"))
    # object: b and d answer (a, r) too, so only e is greater and f ties; subject: c answers (r, c) too, d ties
    ranking = rank(SCORES, ASKED, known=known, candidates=EVERYONE)
    assert ranking.ranks.tolist() == [[2.5], [1.5]]


def test_answers_to_other_questions_do_not_filter():
    known = table_of(Statement("a", "q", "b"), Statement("b", "r", "e"), Statement("e", "r", "a"))
    assert rank(SCORES, ASKED, known=known, candidates=EVERYONE).ranks.tolist() == [[4.0], [2.5]]


def test_the_filter_key_has_qualifiers_or_not():
    known = table_of(Statement("a", "r", "b", (("q", "f"),)), Statement("a", "r", "e"))
    with_qualifiers = rank(SCORES, ASKED, known=known, candidates=EVERYONE, key="qualifiers")
    assert with_qualifiers.ranks[0].tolist() == [3.0]  # b under another qualifier stays a wrong answer
    alone = rank(SCORES, ASKED, known=known, candidates=EVERYONE, key="triple")
    assert alone.ranks[0].tolist() == [2.0]


def test_the_order_of_qualifiers_says_nothing():
    asked = table_of(Statement("a", "r", "c", (("q", "e"), ("r", "f"))))
    known = table_of(Statement("a", "r", "b", (("r", "f"), ("q", "e"))))
    assert rank(SCORES, asked, known=known, candidates=EVERYONE).ranks[0].tolist() == [3.0]


def test_statements_filter_each_other():
    asked = table_of(Statement("a", "r", "c"), Statement("a", "r", "b"))
    scores = fixed(
        {(OBJECT, "a"): [0, 2, 1, 0, 0, 0], (SUBJECT, "c"): [1] + [0] * 5, (SUBJECT, "b"): [1] * 6}
    )
    ranking = rank(scores, asked, known=asked[:0], candidates=EVERYONE)
    assert ranking.ranks.tolist() == [[1.0, 1.0], [1.0, 3.5]]


def test_only_candidates_compete_and_the_answer_always_stands():
    candidates = np.array([False, False, False, True, True, False])  # d and e
    # object: e is greater, d ties; subject a: d ties, e is lower; a and c are no candidates
    assert rank(SCORES, ASKED, known=ASKED, candidates=candidates).ranks.tolist() == [[2.5], [1.5]]
    # known answers outside the candidates change nothing
    known = table_of(Statement("a", "r", "b"), Statement("b", "r", "c"))
    assert rank(SCORES, ASKED, known=known, candidates=candidates).ranks.tolist() == [[2.5], [1.5]]


@pytest.mark.parametrize("entities", [1, 2, 7, 100])
def test_constant_scores_get_the_middle_rank(entities):
    statements = Statements.build(
        [Statement("0", "r", "0"), *(Statement(str(i), "s", "0") for i in range(entities))]
    )
    ranking = rank(
        lambda questions: np.zeros((len(questions), entities)),
        statements[:1],
        known=statements[:1],
        candidates=np.ones(entities, bool),
    )
    assert ranking.metrics()["both"].mrr == pytest.approx(2 / (entities + 1))


def test_random_scores_get_no_more_than_chance():
    # over n candidates the expected reciprocal rank is (1 + 1/2 + ... + 1/n) / n
    rng = np.random.default_rng(0)
    entities = 50
    every = Statements.build(Statement(str(i), f"r{j}", str(i)) for i in range(entities) for j in range(40))
    ranking = rank(
        lambda questions: rng.random((len(questions), entities)),
        every,
        known=every,
        candidates=np.ones(entities, bool),
    )
    chance = sum(1 / k for k in range(1, entities + 1)) / entities
    assert ranking.metrics()["both"].mrr == pytest.approx(chance, rel=0.1)
    assert ranking.tied == 0


names = st.sampled_from("abcd")
some = st.lists(
    st.builds(
        Statement,
        names,
        st.sampled_from("rq"),
        names,
        st.lists(st.tuples(st.just("q"), names), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


@given(
    some,
    st.integers(1, 8),
    st.lists(st.integers(0, 2), min_size=48, max_size=48),
    st.integers(0, 63),
    st.data(),
)
def test_ranks_are_those_of_brute_force(statements, asked, scores, mask, data):
    """The definition as plain loops over entities and statements, with few distinct scores so that ties abound."""
    key = data.draw(st.sampled_from(["qualifiers", "triple"]))
    batch_size = data.draw(st.integers(1, 3))
    every = table_of(*statements)
    candidates = np.array([bool(mask >> bit & 1) for bit in range(6)])
    score = np.array(scores).reshape(2, 4, 6)  # by direction and given entity

    def scorer(questions: Questions) -> np.ndarray:
        return score[(questions.blank == SUBJECT).astype(int), given_main(questions)]

    got = rank(scorer, every[:asked], known=every, candidates=candidates, key=key, batch_size=batch_size)

    def question(s: Statement, direction: int):
        qualifiers = tuple(sorted(s.qualifiers)) if key == "qualifiers" else None
        return (s.object if direction else s.subject, s.relation, qualifiers)

    for direction in (0, 1):
        for index, s in enumerate(statements[:asked]):
            given_entity, answer = (s.object, s.subject) if direction else (s.subject, s.object)
            row = score[direction, ENTITIES.index(given_entity)]
            known = {
                (t.subject if direction else t.object)
                for t in statements
                if question(t, direction) == question(s, direction)
            }
            expected = 1.0
            for c, name in enumerate(ENTITIES):
                if candidates[c] and name != answer and name not in known:
                    target = row[ENTITIES.index(answer)]
                    expected += 1.0 if row[c] > target else 0.5 if row[c] == target else 0.0
            assert got.ranks[direction, index] == expected


def test_metrics_by_hand():
    metrics = RankMetrics.of(np.array([1.0, 1.5, 4.0, 10.0]))
    assert metrics.queries == 4
    assert metrics.mrr == pytest.approx((1 + 2 / 3 + 1 / 4 + 1 / 10) / 4)
    assert (metrics.h1, metrics.h3, metrics.h10) == (0.25, 0.5, 1.0)


def test_metrics_by_direction_and_number_of_qualifiers():
    sizes = (0, 1, 7, 6)
    asked = table_of(*(Statement("a", "r", "b", (("q", "c"),) * size) for size in sizes))
    answers = np.stack([asked.object, asked.subject])
    ranking = Ranking(
        ranks=np.array([[1.0, 2.0, 4.0, 5.0], [1.0, 1.0, 2.0, 1.0]]),
        answers=answers,
        statement=np.arange(4),
        tied=0,
    )
    table = ranking.metrics(group_answers("qualifiers", asked, answers, np.zeros(0, int)))
    assert list(table) == ["both", "object", "subject", "0 qualifiers", "1 qualifier", "6+ qualifiers"]
    assert table["object"].mrr == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 5) / 4)
    assert table["subject"].mrr == pytest.approx((1 + 1 + 1 / 2 + 1) / 4)
    assert table["both"].mrr == pytest.approx((table["object"].mrr + table["subject"].mrr) / 2)
    assert table["1 qualifier"].mrr == pytest.approx(0.75)
    assert table["6+ qualifiers"].queries == 4


def test_a_scorer_does_not_see_what_it_is_asked_for():
    statements = table_of(Statement("b", "r", "c", (("q", "e"),)))
    seen = []

    def scorer(questions: Questions) -> np.ndarray:
        s = questions.statements
        seen.append((s.subject.tolist(), s.object.tolist(), s.value.tolist()))
        return np.zeros((1, 6))

    rank(scorer, statements, known=statements, candidates=EVERYONE)
    assert seen == [([1], [0], [4]), ([0], [2], [4])]  # a, which is 0, stands for the blank


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda questions: np.full((len(questions), 6), np.nan), "scorer: expected numbers, got NaN"),
        (lambda questions: np.zeros((len(questions), 5)), r"expected scores of shape \(1, 6\), got \(1, 5\)"),
    ],
)
def test_scores_that_cannot_be_ranked_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        rank(scores, ASKED, known=ASKED, candidates=EVERYONE)


def test_infinite_scores_can_be_ranked():
    scores = fixed(
        {(OBJECT, "a"): [-np.inf] * 2 + [0] + [np.inf] + [-np.inf] * 2, (SUBJECT, "c"): [-np.inf] * 6}
    )
    assert rank(scores, ASKED, known=ASKED, candidates=EVERYONE).ranks.tolist() == [[2.0], [3.5]]


def test_nothing_to_rank_is_refused():
    with pytest.raises(ValueError, match="expected at least one statement, got none"):
        rank(SCORES, ASKED[:0], known=ASKED, candidates=EVERYONE)
    with pytest.raises(
        ValueError, match=r"candidates: expected a mask over 6 entities, got int64 of shape \(2,\)"
    ):
        rank(SCORES, ASKED, known=ASKED, candidates=np.array([0, 1]))


@given(some, st.integers(1, 8), st.lists(st.integers(0, 2), min_size=6, max_size=6), st.data())
def test_ranks_of_values_and_relations_are_those_of_brute_force(statements, asked, scores, data):
    """One row of scores for all questions; the known answers decide."""
    key = data.draw(st.sampled_from(["qualifiers", "triple"]))
    every = table_of(*statements)
    for ask in ("values", "relations"):
        score = np.array(scores[: len(every.relations)] if ask == "relations" else scores)
        names = every.relations if ask == "relations" else ENTITIES

        def scorer(questions: Questions, score=score) -> np.ndarray:
            return np.tile(score, (len(questions), 1))

        def questions_of(s: Statement, ask=ask):
            if ask == "relations":
                yield (
                    (s.subject, s.object, tuple(sorted(s.qualifiers)) if key == "qualifiers" else None),
                    s.relation,
                )
                return
            for place, (name, value) in enumerate(s.qualifiers):
                rest = sorted(s.qualifiers[:place] + s.qualifiers[place + 1 :])
                yield (
                    (s.subject, s.relation, s.object, name, tuple(rest) if key == "qualifiers" else None),
                    value,
                )

        posed = [question for s in statements[:asked] for question in questions_of(s)]
        if not posed:
            with pytest.raises(ValueError, match="expected statements with qualifiers, got none"):
                rank(scorer, every[:asked], known=every, candidates=np.ones(len(score), bool), ask=ask)
            continue
        got = rank(
            scorer,
            every[:asked],
            known=every,
            candidates=np.ones(len(score), bool),
            key=key,
            ask=ask,
            batch_size=2,
        )
        everything = [question for s in statements for question in questions_of(s)]
        for column, (given_part, answer) in enumerate(posed):
            known = {other for part, other in everything if part == given_part}
            target = score[names.index(answer)]
            wrong = [score[i] for i, name in enumerate(names) if name != answer and name not in known]
            expected = 1 + sum(x > target for x in wrong) + sum(x == target for x in wrong) / 2
            assert got.ranks[0, column] == expected
            assert names[got.answers[0, column]] == answer


def test_relations_and_values_are_asked_for_and_not_seen():
    statements = table_of(Statement("b", "r", "c", (("q", "e"), ("r", "f"))))
    blanks, seen = [], []

    def scorer(questions: Questions) -> np.ndarray:
        blanks.extend(questions.blank.tolist())
        s = questions.statements
        seen.append((s.relation.tolist(), s.value.tolist()))
        return np.zeros((len(questions), 2 if questions.asks_relation else 6))

    rank(scorer, statements, known=statements, candidates=EVERYONE, ask="values")
    rank(scorer, statements, known=statements, candidates=np.ones(2, bool), ask="relations")
    assert blanks == [FIRST_QUALIFIER, FIRST_QUALIFIER + 1, RELATION]
    assert seen == [([1, 1], [0, 5, 4, 0]), ([0], [4, 5])]


def test_answers_are_grouped_by_degree_and_by_relation():
    asked = table_of(Statement("a", "r", "b"), Statement("c", "q", "d"), Statement("a", "r", "e"))
    answers = np.stack([asked.object, asked.subject])
    held = np.repeat(
        [0, 1, 2, 3], [150, 3, 1, 12]
    )  # a is in 150 training statements, b in 3, c in 1, d in 12, e in none
    by_degree = group_answers("degree", asked, answers, held)
    assert {name: mask.tolist() for name, mask in by_degree.items()} == {
        "degree 0": [[False, False, True], [False, False, False]],
        "degree 1": [[False, False, False], [False, True, False]],
        "degree 2-3": [[True, False, False], [False, False, False]],
        "degree 10-99": [[False, True, False], [False, False, False]],
        "degree 100+": [[False, False, False], [True, False, True]],
    }
    by_relation = group_answers("relation", asked, answers, held)
    assert list(by_relation) == ["relation r", "relation q"]
    assert by_relation["relation r"].tolist() == [[True, False, True]] * 2
