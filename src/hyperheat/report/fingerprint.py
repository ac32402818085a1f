"""Names for findings that stay the same while the code around them moves."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

from hyperheat.report.finding import Finding, sort_findings
from hyperheat.report.source import SourceText

__all__ = ["fingerprints"]


def fingerprints(findings: Iterable[Finding], sources: Mapping[str, SourceText]) -> tuple[str, ...]:
    """One name for each finding, made of its path, rule, function and the words of its lines.

    It does not change with line numbers, indentation or blanks. Findings that agree in all of this are numbered in the order
    of their places, so pass the findings of a file together.
    """
    findings = tuple(findings)
    seen: Counter[tuple[str, ...]] = Counter()
    names: dict[Finding, str] = {}
    for finding in sort_findings(findings):
        source = sources.get(finding.source, SourceText(""))
        last = min(finding.end_line, source.last_line)
        words = [word for line in range(finding.line, last + 1) for word in source.line(line).split()]
        parts = (finding.path, finding.rule, finding.function, " ".join(words))
        names[finding] = _digest(*parts, str(seen[parts]))
        seen[parts] += 1
    return tuple(names[finding] for finding in findings)


def _digest(*parts: str) -> str:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]
