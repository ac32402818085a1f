"""Training data of random bugs: packages in, shards of samples out."""

from hyperheat.bugs.corpus.build import Built, build_corpus
from hyperheat.bugs.corpus.manifest import summarise
from hyperheat.bugs.corpus.packages import CorpusError, Package, read_names, source_packages, without
from hyperheat.bugs.corpus.settings import Settings

__all__ = [
    "Built",
    "CorpusError",
    "Package",
    "Settings",
    "build_corpus",
    "read_names",
    "source_packages",
    "summarise",
    "without",
]
