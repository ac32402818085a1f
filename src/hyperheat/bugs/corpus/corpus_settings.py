"""The settings of a corpus: how many samples, of which kinds, are made of each package."""

from dataclasses import asdict, dataclass
from typing import Any

from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.rewrites.habits import Habits

__all__ = ["SECONDS_PER_FILE", "CorpusSettings"]

SECONDS_PER_FILE = 60
"""The processor time allowed for one file of a package."""


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """How samples are made of packages.

    `clean` is the share of samples without a bug among those with at most one; `dense` is the number of samples of
    each function with many bugs at once, planted at a share `rate` of its locations; `pairs` adds the graphs that
    some baselines read; `functions_per_package` keeps large packages from dominating; `with_tests` reads test files
    too, whose bugs are mostly changed expectations; `habits` say how bugs are drawn that are planted alone;
    `split_files` gives each package files in every split, for corpora
    of too few packages to give each a split as a whole.
    """

    clean: float = 0.25
    dense: int = 0
    rate: float = 0.25
    pairs: bool = True
    seed: int = 0
    functions_per_package: int = 300
    with_tests: bool = False
    habits: Habits | None = None
    split_files: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.clean <= 1:
            raise CorpusError(f"clean: expected more than 0 and at most 1, got {self.clean}")
        if self.dense < 0:
            raise CorpusError(f"dense: expected at least 0, got {self.dense}")
        if not 0 < self.rate <= 1:
            raise CorpusError(f"rate: expected more than 0 and at most 1, got {self.rate}")
        if self.functions_per_package < 1:
            raise CorpusError(f"functions_per_package: expected at least 1, got {self.functions_per_package}")

    def to_plain(self) -> dict[str, Any]:
        """The settings as a manifest has them; corpora without the newer settings look as they always did."""
        values = asdict(self)
        return {key: values[key] for key in values if values[key] or key not in ("split_files", "habits")}
