import numpy as np
import pytest
from tests.detector.samples import SOURCE, all_samples, origin

from hyperheat.detector.sample import NO_BUG, TEXTS, encode_candidates, make_sample
from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import KINDS, candidates


def labels(sample, column):
    return [sample.graph.labels[node] if node >= 0 else None for node in getattr(sample.candidates, column)]


def test_candidates_are_columns_of_nodes():
    function = extract("def f(a, b):\n    return g(a, b) < 1\n").functions[0]
    sample = make_sample(function, None, origin())
    kinds = [tuple(KINDS)[code] for code in sample.candidates.kind]
    texts = [TEXTS[code][1] if code >= 0 else None for code in sample.candidates.text]
    rows = list(
        zip(
            kinds,
            labels(sample, "location"),
            texts,
            labels(sample, "first"),
            labels(sample, "second"),
            strict=True,
        )
    )
    assert sorted(rows, key=str) == sorted(
        [
            ("argument-swap", "Call", None, "a", "b"),
            ("variable-misuse", "a", None, "b", None),
            ("variable-misuse", "b", None, "a", None),
            *(("comparison-operator", "<", text, None, None) for text in ("<=", ">", ">=", "==", "!=")),
            *(("literal", "1", text, None, None) for text in ("-2", "-1", "0", "2")),
        ],
        key=str,
    )
    assert sample.target == NO_BUG
    assert sample.kind == "clean"
    assert (np.diff(sample.candidates.location) >= 0).all()


def test_a_variable_is_its_symbol():
    function = extract("def f(a, b):\n    return a\n").functions[0]
    sample = make_sample(function, None, origin())
    (symbol,) = sample.candidates.first[sample.candidates.text < 0]
    edges = [e for e in function.graph if e.relation == "Symbol" and ("sym", symbol) in e.incidences]
    assert [sample.graph.labels[node] for _, node in edges[0].incidences] == ["b", "b"]


def test_a_call_that_is_a_statement_is_located_at_the_call():
    sample = make_sample(extract("def f(a, b):\n    g(a, b)\n").functions[0], None, origin())
    assert "Call" in labels(sample, "location")
    assert "Expr" not in labels(sample, "location")


def test_the_target_is_the_repair():
    module = extract(SOURCE)
    for function in module.functions:
        for rewrite in candidates(function):
            broken = extract_function(rewrite.apply(function.source), function, module.facts)
            sample = make_sample(broken, rewrite.inverse(function.source), origin())
            assert sample.kind == rewrite.kind
            text = sample.candidates.text[sample.target]
            if text >= 0:
                assert TEXTS[text] == (rewrite.kind, rewrite.original)
            elif rewrite.kind == "variable-misuse":
                symbol = sample.candidates.first[sample.target]
                assert sample.graph.labels[symbol] == rewrite.original


def test_tokens_stand_for_nodes():
    for sample in all_samples():
        tokens = int((sample.token_of == np.arange(len(sample.token_of))).sum())
        assert (sample.token_of[:tokens] == np.arange(tokens)).all()
        assert sample.token_of.max() < tokens
        assert (sample.token_of[sample.candidates.location] >= 0).all()


def test_what_cannot_be_a_sample():
    module = extract("def f():\n    pass\ndef g(a, b):\n    return a\n")
    with pytest.raises(ValueError, match="f: expected candidate rewrites, got none"):
        make_sample(module.functions[0], None, origin())
    rewrite = candidates(module.functions[1])[0].inverse(module.functions[1].source)
    with pytest.raises(ValueError, match="g: expected one of its candidates, got Rewrite"):
        make_sample(module.functions[1], rewrite, origin())


def test_rewrites_of_no_known_form_are_refused():
    function = extract("def f(a, b):\n    return a < b\n").functions[0]
    rewrite = next(found for found in candidates(function) if found.kind == "comparison-operator")
    message = (
        "comparison-operator: expected a replacement in its texts, a variable or two arguments, got '<>'"
    )
    with pytest.raises(ValueError, match=message):
        encode_candidates(function, (rewrite._replace(replacement="<>"),))
