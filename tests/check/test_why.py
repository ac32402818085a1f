"""What moved a score: with scores that are known to depend on one part, that part is named."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.check.scores import pseudo_scores, scores_of

from hyperheat.check.analysis import Question, Score, make_question, read_module
from hyperheat.check.why import Why, find_why
from hyperheat.detector import SampleScores
from hyperheat.detector.sample import Sample

SOURCE = """\
def total(prices, rate):
    result = 0
    for price in prices:
        if price > rate:
            result += price * rate
    return result
"""


def question_of(source: str = SOURCE) -> Question:
    (function,) = read_module(source).functions
    return make_question(function, None)


def sure_if(holds: Callable[[Sample], bool], rewrite: int) -> Score:
    """A detector that is sure of a rewrite as long as something holds of the sample."""

    def score(sample: Sample) -> SampleScores:
        weights = np.full(len(sample.candidates), 1e-3)
        if holds(sample):
            weights[rewrite] = 9.0
        return scores_of(sample, weights)

    return score


def explain(holds: Callable[[Sample], bool], rewrite: int = 0) -> Why:
    return find_why(question_of(), sure_if(holds, rewrite), rewrite)


def labelled(name: str, count: int) -> Callable[[Sample], bool]:
    return lambda sample: sample.graph.labels.count(name) == count


def test_a_variable_is_named_with_all_its_occurrences() -> None:
    count = question_of().sample.graph.labels.count("rate")
    why = explain(lambda sample: sample.graph.labels.count("rate") >= count - 1)
    (cause,) = why.causes  # one occurrence alone does not matter
    assert (cause.kind, cause.text) == ("variable", "rate")
    assert [SOURCE[start:end] for start, end in cause.spans] == ["rate"] * 3
    assert (cause.start, cause.end) in cause.spans
    assert why.probability == pytest.approx(0.89, abs=0.01)
    assert cause.change == pytest.approx(why.probability, abs=0.01)


def test_a_token_is_named_at_its_place() -> None:
    why = explain(labelled(">", 1))
    (cause,) = why.causes
    assert (cause.kind, cause.text, cause.spans) == ("token", ">", ((cause.start, cause.end),))
    assert SOURCE[cause.start : cause.end] == ">"


def test_a_relation_is_named_without_a_place() -> None:
    count = question_of().sample.graph.relations.count("MayWrite")
    rewrite = next(
        index for index, rewrite in enumerate(question_of().rewrites) if rewrite.original == "price"
    )
    why = explain(lambda sample: sample.graph.relations.count("MayWrite") == count, rewrite)
    (cause,) = [cause for cause in why.causes if cause.kind == "relation"]
    assert (cause.kind, cause.text, cause.start, cause.end, cause.spans) == (
        "relation",
        "MayWrite",
        None,
        None,
        (),
    )


def test_what_speaks_against_a_finding_is_listed_apart() -> None:
    why = explain(lambda sample: "+=" not in sample.graph.labels)
    assert why.causes == ()
    (cause,) = why.against
    assert cause.text == "+="
    assert why.probability - cause.change == pytest.approx(0.89, abs=0.01)


def test_small_changes_are_not_named() -> None:
    question = question_of()

    def score(sample: Sample) -> SampleScores:
        weights = np.full(len(sample.candidates), 1e-6)
        weights[0] = 999.0 if ">" in sample.graph.labels else 500.0  # 0.999 and 0.998
        return scores_of(sample, weights)

    assert find_why(question, score, 0).causes == ()


def test_nothing_is_named_where_nothing_matters() -> None:
    why = explain(lambda sample: True)
    assert why.causes == why.against == ()
    assert why.tried > 20
    assert why.left_out == 0


def test_alternatives_are_the_other_repairs_of_the_place() -> None:
    question = question_of()
    at = question.sample.candidates.location
    place = next(node for node in at.tolist() if (at == node).sum() > 3)
    rows = np.flatnonzero(at == place)
    weights = np.full(len(at), 1e-6)
    weights[rows[:4]] = [4.0, 1.0, 3.0, 1e-6]

    why = find_why(question, lambda sample: scores_of(sample, weights, no_bug=2.0), int(rows[0]))

    assert [other.rewrite for other in why.alternatives] == [rows[2], rows[1]]
    assert [other.probability for other in why.alternatives] == [0.3, 0.1]
    assert all("did you mean" in other.message for other in why.alternatives)
    assert (why.probability, why.no_bug) == (0.4, 0.2)


def test_work_is_limited_and_what_is_left_out_is_counted() -> None:
    question, calls = question_of(), []

    def score(sample: Sample) -> SampleScores:
        calls.append(sample)
        return pseudo_scores(sample)

    every = find_why(question, score, 0)
    assert len(calls) == every.tried + 1
    calls.clear()
    some = find_why(question, score, 0, work=15 * question.sample.graph.num_nodes)
    assert len(calls) == some.tried + 1 == 16
    assert some.tried + some.left_out == every.tried + every.left_out
    assert find_why(question, score, 0, work=1).tried == 12


def test_the_answer_is_always_the_same() -> None:
    assert find_why(question_of(), pseudo_scores, 3) == find_why(question_of(), pseudo_scores, 3)


def test_a_rewrite_that_does_not_exist_is_refused() -> None:
    with pytest.raises(IndexError, match=r"rewrite: expected an index below \d+, got -1"):
        find_why(question_of(), pseudo_scores, -1)
