"""Data sets: splits of statements with shared tables, and the facts of the published ones."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hyperheat.kg.readers import Dropped, Label, ReadError, detect, read
from hyperheat.kg.readers.items import lines
from hyperheat.kg.statements import Statement, Statements, concatenate

__all__ = [
    "KNOWN",
    "SPLITS",
    "Facts",
    "MissingDataset",
    "StatementDataset",
    "TrainingSplits",
    "read_dataset",
    "read_labels",
]

SPLITS = ("train", "valid", "test")
TrainingSplits = Literal["train", "train+valid"]
_SPELLINGS = {"train": "train", "valid": "valid", "dev": "valid", "validation": "valid", "test": "test"}
_LABELS = "labels.tsv"


class MissingDataset(ValueError):
    """A data set that was not found; the message says where to get it and where to put it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a published data set: its source, its size, and the SHA-256 of its splits."""

    source: str
    licence: str
    statements: tuple[int, int, int]
    """in train, valid and test"""
    entities: int
    relations: int
    sha256: tuple[str, str, str]
    """of train, valid and test as WD50K text"""


_ZENODO, _CC_BY = "https://zenodo.org/records/4036498", "CC BY 4.0, content from Wikidata"
KNOWN: dict[str, Facts] = {
    "wd50k": Facts(
        source=_ZENODO,
        licence=_CC_BY,
        statements=(166_435, 23_913, 46_159),
        entities=47_155,
        relations=531,
        sha256=(
            "e9aba6bb10e3deba00e2172d793ee793b93d134050d2fd00038f74e5757ecf59",
            "1e14707f2be1df2725f85876894c937e3293ff7bce68aaf8b340c743fb0a6f3d",
            "d361fe8b4a0cfb41016471f9118f2d61ef0ed5c97569709ec2ba869b721b5028",
        ),
    ),
    "wd50k_33": Facts(
        source=_ZENODO,
        licence=_CC_BY,
        statements=(73_406, 10_568, 18_133),
        entities=38_123,
        relations=474,
        sha256=(
            "55f35e73751196caae43c0e70b2b132dad6f38359cb6f423adbc1a7ff7a17373",
            "0d97a4e8a1efddd9f641e514984b285a0c551e764f86dd9f1ce2c8093ab4caf7",
            "e8093e07a0ad21b6461e5fae035be42150539c311f502e2e104dde737615cc7f",
        ),
    ),
    "wd50k_66": Facts(
        source=_ZENODO,
        licence=_CC_BY,
        statements=(35_968, 5_154, 8_045),
        entities=27_346,
        relations=403,
        sha256=(
            "b400d436705ae362cadda40c0141ccb5a1ba456fa1d91d03d658f8c603ab8fc6",
            "5669b6a0a2b4ce9f445c2ab6a77b9f668ac0de107eacbdc7e0583e1fb64e3bd7",
            "103ba70bdd241204993eb9c07680596c39f67b9bcbd82c4a7dbf45df0204e1a6",
        ),
    ),
    "wd50k_100": Facts(
        source=_ZENODO,
        licence=_CC_BY,
        statements=(22_738, 3_279, 5_297),
        entities=18_791,
        relations=278,
        sha256=(
            "383a1c794128fde7c595b53cfdb7b4fd5a13924ad9347f6a06b106bd54abbc60",
            "100a7acb06c79d1ed4c195f7f8973131feaeead30e07d5e08e901ab4c740727a",
            "d27ee487fac4f53ba333562603cbd5866d40b876fb3b56e1c00ecb2f9490c565",
        ),
    ),
    "jf17k": Facts(
        source="https://github.com/gsp2014/NaLP, data/JF17K_version1",
        licence="see there",
        statements=(76_379, 0, 24_568),
        entities=28_645,
        relations=501,
        sha256=(
            "1c3da760c5c774d1bd26671e5d30dd57b3d43bb0d47fb1f6eb34b491d59dad61",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",  # of nothing
            "10a290d7e14aa404a4dbad1c9e28843745e27c2a017ea5d378478e6a2dc8fb43",
        ),
    ),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class StatementDataset:
    """Statements in three splits that share their tables; a split that the source lacks is empty."""

    source: str
    format: str
    train: Statements
    valid: Statements
    test: Statements
    labels: dict[str, str]
    dropped: dict[str, Counter[str]] = field(default_factory=dict)
    """the number of dropped items, by split and reason"""

    @property
    def splits(self) -> dict[str, Statements]:
        return {"train": self.train, "valid": self.valid, "test": self.test}

    def training(self, splits: TrainingSplits) -> Statements:
        """The statements to train on."""
        return self.train if splits == "train" else concatenate([self.train, self.valid])

    def every(self) -> Statements:
        """The statements of all splits."""
        return concatenate([self.train, self.valid, self.test])

    def identify(self) -> str | None:
        """The name of the published data set that this is, whatever its format."""
        counts = tuple(len(split) for split in self.splits.values())
        for name, facts in KNOWN.items():
            if facts.statements == counts and _differences(facts, self) == []:
                return name
        return None


def read_dataset(
    source: str | os.PathLike[str], format: str | None = None, labels: Path | None = None
) -> StatementDataset:
    """Read a folder of splits, a single file (which becomes the train split), or a data set by its name.

    `demo` comes with the package. Published data sets are searched in the folder of the environment variable
    HYPERHEAT_DATA, by default `data`.
    """
    path = Path(source)
    facts = None
    if os.fspath(source) == "demo" and not path.exists():
        from hyperheat.kg.demo import DATA

        path = DATA
    elif not path.exists():
        facts = KNOWN.get(os.fspath(source))
        path = _locate(os.fspath(source), facts)
    if (path / "statements").is_dir():  # as WD50K is published, beside a folder of triples
        path = path / "statements"
    files = _split_files(path) if path.is_dir() else {"train": path}
    chosen = format or detect(files["train"])
    found_labels: dict[str, str] = {}
    dropped = {split: Counter[str]() for split in files}
    sizes = Counter[str]()
    whole = Statements.build(_statements(files, chosen, found_labels, dropped, sizes))
    label_file = labels or (path / _LABELS if path.is_dir() else None)
    if label_file is not None and (labels is not None or label_file.exists()):
        found_labels.update(read_labels(label_file))
    first, second = sizes["train"], sizes["train"] + sizes["valid"]
    dataset = StatementDataset(
        source=os.fspath(source),
        format=chosen,
        train=whole[:first],
        valid=whole[first:second],
        test=whole[second:],
        labels=found_labels,
        dropped=dropped,
    )
    if facts is not None and (differences := _differences(facts, dataset)):
        raise ValueError(f"{path}: not the published {source}: {'; '.join(differences)}")
    return dataset


def read_labels(path: Path) -> dict[str, str]:
    """Read a file with an id, a tab and a label on each line."""
    labels: dict[str, str] = {}
    for number, line in lines(path):
        name, tab, text = line.partition("\t")
        if not tab or not name.strip() or not text.strip():
            raise ReadError(path, number, f"expected an id, a tab and a label, got {line[:60]!r}")
        labels[name.strip()] = text.strip()
    return labels


def _statements(
    files: dict[str, Path],
    format: str,
    labels: dict[str, str],
    dropped: dict[str, Counter[str]],
    sizes: Counter[str],
) -> Iterator[Statement]:
    """The statements of all splits in order; labels, dropped items and sizes are recorded on the way."""
    for split, path in files.items():
        for item in read(path, format):
            match item:
                case Statement():
                    sizes[split] += 1
                    yield item
                case Label(name, text):
                    labels[name] = text
                case Dropped(reason):
                    dropped[split][reason] += 1
        if not sizes[split]:
            raise ReadError(path, None, f"no statements in the {split} split")


def _split_files(folder: Path) -> dict[str, Path]:
    """The file of each split, in the order train, valid, test: `train.txt`, `n-ary_valid.json`, `dev.csv` and so on."""
    found: dict[str, list[Path]] = {split: [] for split in SPLITS}
    names = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    for path in names:
        split = _SPELLINGS.get(path.name.lower().partition(".")[0].rpartition("_")[2])
        if split is not None:
            found[split].append(path)
    for split, paths in found.items():
        if len(paths) > 1 or (split == "train" and not paths):
            got = ", ".join(path.name for path in paths or names) or "no files"
            raise ValueError(
                f"{folder}: expected one file for the {split} split, such as {split}.txt, got {got}"
            )
    return {split: paths[0] for split, paths in found.items() if paths}


def _locate(name: str, facts: Facts | None) -> Path:
    root = Path(os.environ.get("HYPERHEAT_DATA") or "data")
    if facts is None:
        raise MissingDataset(
            f"{name}: no such file or folder, and not one of the data sets {', '.join(KNOWN)}"
        )
    if not (root / name).is_dir():
        raise MissingDataset(
            f"{name}: not found. Get it from {facts.source} ({facts.licence}) and put its files (train.txt, test.txt and, "
            f"if it has one, valid.txt) into {root / name}, or set HYPERHEAT_DATA to the folder of your data sets"
        )
    return root / name


def _differences(facts: Facts, dataset: StatementDataset) -> list[str]:
    """How a data set differs from the published one."""
    found = []
    for index, (split, statements) in enumerate(dataset.splits.items()):
        if len(statements) != facts.statements[index]:
            found.append(f"{len(statements)} instead of {facts.statements[index]} statements in {split}")
        elif statements.digest() != facts.sha256[index]:
            found.append(f"other statements in {split} (SHA-256 {statements.digest()[:12]}...)")
    for what, expected, table in (
        ("entities", facts.entities, dataset.train.entities),
        ("relations", facts.relations, dataset.train.relations),
    ):
        if len(table) != expected:
            found.append(f"{len(table)} instead of {expected} {what}")
    return found
