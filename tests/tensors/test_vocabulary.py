from dataclasses import replace

import pytest

from hyperheat import HypergraphBuilder, Vocabulary
from hyperheat.tensors.vocabulary import UNKNOWN


def small_graph():
    b = HypergraphBuilder()
    a, c = b.add_node("fooBar"), b.add_node("bar")
    b.relate("BinOp", ("left_arg", a), ("right", c))
    b.relate_sequence("Tokens", [a, c])
    return b.build()


def test_collects_subtokens_most_frequent_first():
    vocab = Vocabulary.build([small_graph()])
    assert vocab.labels == (UNKNOWN, "bar", "foo")
    assert vocab.names == (UNKNOWN, "arg", "bin", "left", "op", "right", "tokens")


def test_minimum_count_and_size_leave_out_the_rare():
    assert Vocabulary.build([small_graph()], min_count=2).labels == (UNKNOWN, "bar")
    assert Vocabulary.build([small_graph()], max_size=1).names == (UNKNOWN, "arg")


def test_unseen_subtokens_are_unknown_and_known_parts_are_kept():
    vocab = Vocabulary.build([small_graph()])
    assert vocab.label_ids("bar_baz") == (1, 0)
    assert vocab.name_ids("neverSeen") == (0, 0)
    assert vocab.label_ids("") == ()


def test_whole_strings_can_be_kept():
    vocab = Vocabulary.build([small_graph()], split="whole")
    assert vocab.labels == (UNKNOWN, "bar", "fooBar")


def test_a_label_spelled_like_the_unknown_token_is_unknown():
    b = HypergraphBuilder()
    b.add_node(UNKNOWN)
    assert Vocabulary.build([b.build()], split="whole").labels == (UNKNOWN,)


def test_round_trip_on_disk(tmp_path):
    vocab = Vocabulary.build([small_graph()])
    vocab.save(tmp_path / "vocab.json")
    loaded = Vocabulary.load(tmp_path / "vocab.json")
    assert loaded == vocab
    assert loaded.fingerprint == vocab.fingerprint
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.json"]


def test_a_changed_copy_does_not_remember():
    vocab = Vocabulary.build([small_graph()])
    assert vocab.label_ids("fooBar") == (2, 1)
    assert replace(vocab, split="whole").label_ids("fooBar") == (0,)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="split: expected one of subtokens, whole, got 'bpe'"):
        Vocabulary.build([], split="bpe")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="max_size: expected at least 0, got -1"):
        Vocabulary.build([], max_size=-1)


def test_fingerprint_depends_on_content():
    assert Vocabulary.build([small_graph()]).fingerprint != Vocabulary.build([]).fingerprint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a vocabulary"),
        ("[]", "expected the keys"),
        ('{"split": "subtokens", "labels": []}', "expected the keys"),
        ('{"split": "subtokens", "labels": [3], "names": []}', "labels: expected a list of strings"),
        (
            '{"split": "subtokens", "labels": ["a"], "names": []}',
            "labels: expected '<unknown>' as first entry",
        ),
        (
            '{"split": "bpe", "labels": ["<unknown>"], "names": ["<unknown>"]}',
            "split: expected one of subtokens, whole",
        ),
        (
            '{"split": "whole", "labels": ["<unknown>", "a", "a"], "names": ["<unknown>"]}',
            "labels: expected distinct subtokens, got 'a'",
        ),
    ],
)
def test_corrupt_files_are_refused_by_name(tmp_path, text, message):
    path = tmp_path / "vocab.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        Vocabulary.load(path)
    assert "vocab.json" in str(caught.value)
