"""Real bugs: fixes of one small rewrite, mined from git histories or read from lists of references."""

from hyperheat.bugs.mining.bug_fix import BugFix, NoFix, find_fix
from hyperheat.bugs.mining.commits import Mining, mine
from hyperheat.bugs.mining.references import (
    AnyReference,
    Reference,
    ReleaseReference,
    read_references,
    select,
)
from hyperheat.bugs.mining.repository import GitError, Repository

__all__ = [
    "AnyReference",
    "BugFix",
    "GitError",
    "Mining",
    "NoFix",
    "Reference",
    "ReleaseReference",
    "Repository",
    "find_fix",
    "mine",
    "read_references",
    "select",
]
