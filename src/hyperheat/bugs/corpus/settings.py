"""What decides the content of a corpus, and the places of the files of a build."""

from dataclasses import dataclass
from pathlib import Path

from hyperheat.bugs.corpus.packages import CorpusError

__all__ = ["SECONDS_PER_FILE", "Settings", "Workspace"]

SECONDS_PER_FILE = 60
"""The processor time that the work on one file of a package may take."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How samples are made of packages.

    `clean` is the share of samples without a bug among those with at most one; `dense` is the number of samples of
    each function with many bugs at once, planted at a share `rate` of its locations; `pairs` adds the graphs that
    some baselines read; `functions_per_package` keeps large packages from dominating; `with_tests` reads test files
    too, whose bugs are mostly changed expectations.
    """

    clean: float = 0.25
    dense: int = 0
    rate: float = 0.25
    pairs: bool = True
    seed: int = 0
    functions_per_package: int = 300
    with_tests: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.clean <= 1:
            raise CorpusError(f"clean: expected more than 0 and at most 1, got {self.clean}")
        if self.dense < 0:
            raise CorpusError(f"dense: expected at least 0, got {self.dense}")
        if not 0 < self.rate <= 1:
            raise CorpusError(f"rate: expected more than 0 and at most 1, got {self.rate}")
        if self.functions_per_package < 1:
            raise CorpusError(f"functions_per_package: expected at least 1, got {self.functions_per_package}")


@dataclass(frozen=True)
class Workspace:
    """The folder of a corpus. What only the build needs lies in `.work` and may be deleted afterwards."""

    out: Path

    def make_folders(self) -> None:
        """Create all folders that are not there yet."""
        splits = [self.out / split for split in ("train", "valid", "test")]
        for folder in (*splits, self.archives, self.indexes, self.plans, self.made, self.unpacked):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def work(self) -> Path:
        """Everything that is not part of the data set."""
        return self.out / ".work"

    @property
    def settings(self) -> Path:
        """The settings the build began with."""
        return self.work / "settings.json"

    @property
    def archives(self) -> Path:
        """Wheels, and a record of each."""
        return self.work / "archives"

    @property
    def indexes(self) -> Path:
        """What pass one found in each package."""
        return self.work / "index"

    @property
    def plans(self) -> Path:
        """What each package contributes once duplicates are gone."""
        return self.work / "plan"

    @property
    def planned(self) -> Path:
        """The record of the packages that take part; it says that all plans are there."""
        return self.work / "plan.json"

    @property
    def made(self) -> Path:
        """What pass two made of each package."""
        return self.work / "made"

    @property
    def unpacked(self) -> Path:
        """Files of packages that are being worked on."""
        return self.work / "unpacked"
