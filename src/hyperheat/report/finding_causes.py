"""Why there is a finding, as plain data: the parts of the function without which its confidence would be another.

    why.confidence                      0.989, that of the finding
    why.causes[0].text, .confidence     "item", 0.31: the confidence if `item` were not there

Each part was removed alone, so what two of them do together is not known.
"""

from dataclasses import dataclass

__all__ = ["METHOD", "CodeCause", "CodePlace", "FindingCauses"]

METHOD = (
    "Causes were found by removing one part of the function at a time and asking the model again: "
    "they show what it looked at, not what is wrong with the code."
)
"""How causes are found, for those who read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePlace:
    """A place in a file, as findings have it: lines and columns count from 1, and an end is no longer part."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCause:
    """A variable, token or relation that matters for a finding.

    `places` are its occurrences, in order; a relation has none. `meaning` says what a relation tells about the place of the
    finding; it is empty for other causes. `confidence` is that of the finding without it.
    """

    kind: str
    text: str
    meaning: str
    places: tuple[CodePlace, ...]
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCauses:
    """What a finding depends on.

    Without one of `causes` its confidence is lower, without one of `against` higher; the largest change comes first.
    `tried` parts were removed; `left_out` were not, because the function is too large to try them all.
    """

    confidence: float
    causes: tuple[CodeCause, ...]
    against: tuple[CodeCause, ...]
    tried: int
    left_out: int
