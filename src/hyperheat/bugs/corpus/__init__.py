"""Training data of random bugs: packages in, shards of samples out."""

from hyperheat.bugs.corpus.build import Built, build_corpus, summarise
from hyperheat.bugs.corpus.corpus_settings import CorpusSettings
from hyperheat.bugs.corpus.packages import CorpusError, Package, read_names, source_packages, without

__all__ = [
    "Built",
    "CorpusError",
    "CorpusSettings",
    "Package",
    "build_corpus",
    "read_names",
    "source_packages",
    "summarise",
    "without",
]
