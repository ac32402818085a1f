"""Data sets: splits, labels, identity, and what is said of missing and broken ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from hyperheat.kg import Statement
from hyperheat.kg.audit import audit, save_dataset
from hyperheat.kg.datasets import KNOWN, Facts, MissingDataset, read_dataset, read_labels
from hyperheat.kg.readers import ReadError

FILES = {
    "train.txt": "Q1,P1,Q2,P2,Q3\nQ1,P1,Q2,P2,Q3\n",
    "valid.txt": "Q1,P1,Q2\n",
    "test.txt": "Q2,P2,Q1,P1,Q4\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def test_splits_share_their_tables(folder: Path):
    dataset = read_dataset(folder)
    assert [len(split) for split in dataset.splits.values()] == [2, 1, 1]
    assert dataset.train.entities is dataset.test.entities
    assert dataset.test.entities == ("Q1", "Q2", "Q3", "Q4")
    assert dataset.test[0] == Statement("Q2", "P2", "Q1", (("P1", "Q4"),))
    assert dataset.format == "wd50k"
    assert dataset.identify() is None


def test_a_single_file_is_training_data(folder: Path):
    dataset = read_dataset(folder / "train.txt")
    assert [len(split) for split in dataset.splits.values()] == [2, 0, 0]


def test_other_spellings_of_splits_and_files_beside_them(folder: Path):
    (folder / "train.txt").rename(folder / "n-ary_train.txt")
    (folder / "valid.txt").rename(folder / "dev.txt")
    (folder / "LICENSE").write_text("text")
    (folder / ".train.txt").write_text("")
    assert [len(split) for split in read_dataset(folder).splits.values()] == [2, 1, 1]


def test_statements_may_lie_in_a_folder_of_their_own(folder: Path):
    (folder / "triples").mkdir()
    inner = folder / "statements"
    inner.mkdir()
    for name in FILES:
        (folder / name).rename(inner / name)
    assert [len(split) for split in read_dataset(folder).splits.values()] == [2, 1, 1]


def test_folders_without_clear_splits_are_refused(folder: Path):
    (folder / "train.csv").write_text("head,relation,tail\n")
    with pytest.raises(
        ValueError, match=r"mine: expected one file for the train split, .* got train.csv, train.txt"
    ):
        read_dataset(folder)
    (folder / "train.csv").unlink()
    (folder / "train.txt").unlink()
    with pytest.raises(
        ValueError, match=r"expected one file for the train split, .* got test.txt, valid.txt"
    ):
        read_dataset(folder)


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_an_empty_split_is_refused(split: str, folder: Path):
    (folder / f"{split}.txt").write_text("\n")
    with pytest.raises(
        ReadError, match=rf"{split}\.txt: (the file is empty|no statements in the {split} split)"
    ):
        read_dataset(folder)


def test_a_missing_data_set_says_where_to_get_it_and_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERHEAT_DATA", str(tmp_path))
    with pytest.raises(
        MissingDataset, match=r"Get it from https://zenodo.org/records/4036498 .* into .*wd50k_100"
    ):
        read_dataset("wd50k_100")
    with pytest.raises(
        MissingDataset, match=r"nowhere: no such file or folder, and not one of the data sets wd50k, "
    ):
        read_dataset("nowhere")


def test_a_named_data_set_must_be_the_published_one(folder: Path, monkeypatch):
    published = read_dataset(folder)
    digests = (published.train.digest(), published.valid.digest(), published.test.digest())
    facts = {"source": "here", "licence": "none", "entities": 4, "relations": 2}
    monkeypatch.setenv("HYPERHEAT_DATA", str(folder.parent))
    monkeypatch.setitem(KNOWN, "mine", Facts(**facts, statements=(2, 1, 1), sha256=digests))
    assert read_dataset("mine").identify() == "mine"
    (folder / "test.txt").write_text("Q2,P2,Q1,P1,Q3\n")
    with pytest.raises(
        ValueError,
        match=r"mine: not the published mine: other statements in test .*; 3 instead of 4 entities",
    ):
        read_dataset("mine")
    monkeypatch.setitem(KNOWN, "mine", Facts(**facts, statements=(3, 1, 1), sha256=digests))
    with pytest.raises(ValueError, match="2 instead of 3 statements in train"):
        read_dataset("mine")


def test_labels_come_from_the_folder_or_from_a_file(folder: Path, tmp_path: Path):
    (folder / "labels.tsv").write_text("Q1\tone\nP1\trelation one\n")
    assert read_dataset(folder).labels == {"Q1": "one", "P1": "relation one"}
    other = tmp_path / "other.tsv"
    other.write_text("Q9\tnine\n")
    assert read_dataset(folder, labels=other).labels == {"Q9": "nine"}
    with pytest.raises(FileNotFoundError):
        read_dataset(folder, labels=tmp_path / "none.tsv")


@pytest.mark.parametrize("line", ["Q2", "Q2\t", "\tlabel", "Q2 label"])
def test_broken_labels_are_refused_with_their_line(line: str, tmp_path: Path):
    path = tmp_path / "labels.tsv"
    path.write_text(f"Q1\tone\n{line}\n")
    with pytest.raises(ReadError, match=r"labels\.tsv:2: expected an id, a tab and a label"):
        read_labels(path)


def test_the_report_counts_everything(folder: Path):
    (folder / "labels.tsv").write_text("Q1\tone\nQ3\tthree\nP1\trelation one\nQ99\tnobody\n")
    found = audit(read_dataset(folder))
    assert found["dataset"] is None
    assert (found["entities"], found["relations"], found["also_relations"]) == (4, 2, 0)
    assert (found["labelled_entities"], found["labelled_relations"], found["labels_of_unknown_ids"]) == (
        2,
        1,
        1,
    )
    train = found["splits"]["train"]
    assert (train["statements"], train["with_qualifiers"], train["duplicates"], train["dropped"]) == (
        2,
        2,
        1,
        {},
    )
    assert found["leaks"]["valid"]["equal_triples"] == 1
    assert found["leaks"]["test"] == {
        "statements": 1,
        "equal_statements": 0,
        "equal_triples": 0,
        "main_pairs": 1,
        "entity_sets": 0,
    }
    assert found["unseen_entities"] == {"valid": 0, "test": 1}


def test_an_imported_folder_is_the_same_data_set(folder: Path, tmp_path: Path):
    (folder / "labels.tsv").write_text("Q1\tone\n")
    dataset = read_dataset(folder)
    saved = save_dataset(dataset, tmp_path / "out")
    again = read_dataset(tmp_path / "out")
    assert again.splits == dataset.splits
    assert again.labels == {"Q1": "one"}
    assert audit(again)["splits"] == saved["splits"]
    save_dataset(read_dataset(folder / "train.txt"), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "labels.tsv",
        "report.json",
        "train.jsonl",
    ]


def test_drops_are_counted_by_split_and_reason(tmp_path: Path):
    (tmp_path / "train.json").write_text(
        '{"P1_h": "Q1", "P1_t": "Q2", "P2": ["http://x", "http://y"]}\n{"P1_h": "Q1", "P1_t": "http://z"}\n'
    )
    assert audit(read_dataset(tmp_path))["splits"]["train"]["dropped"] == {
        "literal as qualifier value": 2,
        "literal as subject or object": 1,
    }


def test_labels_are_one_line_each(folder: Path, tmp_path: Path):
    labelled = replace(read_dataset(folder), labels={"Q1": "one\n\ttwo", "Q2": " \n"})
    save_dataset(labelled, tmp_path / "out")
    assert read_dataset(tmp_path / "out").labels == {"Q1": "one two"}
