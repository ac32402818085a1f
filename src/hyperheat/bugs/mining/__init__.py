"""Real bugs: fixes of one small rewrite, mined from git histories or read from lists of references."""

from hyperheat.bugs.mining.fix import Fix, NoFix, find_fix
from hyperheat.bugs.mining.git import GitError, Repository
from hyperheat.bugs.mining.realising import Realised, realise
from hyperheat.bugs.mining.references import Reference, read_references, select
from hyperheat.bugs.mining.sieve import Mined, Mining, mine

__all__ = [
    "Fix",
    "GitError",
    "Mined",
    "Mining",
    "NoFix",
    "Realised",
    "Reference",
    "Repository",
    "find_fix",
    "mine",
    "read_references",
    "realise",
    "select",
]
