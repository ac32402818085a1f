"""Findings and what people and programs get to see of them.

    report = Report(version=..., model=Model(...), findings=(Finding(...),), summary=Summary(files=1, functions=3))
    text = FORMATS["sarif"](report, {"src/a.py": SourceText(source)})

`FORMATS` is in `hyperheat.report.formats`.
"""

from typing import TYPE_CHECKING

from hyperheat.lazy_names import lazy_names

if TYPE_CHECKING:
    from hyperheat.report.finding import (
        LEVELS,
        Alternative,
        FileEdit,
        Finding,
        Fix,
        FunctionHeat,
        HeatSpan,
        Model,
        Report,
        ScanError,
        Summary,
    )
    from hyperheat.report.fingerprint import fingerprints
    from hyperheat.report.rules import RULE_OF_KIND, RULES, Rule
    from hyperheat.report.source import SourceText

__all__ = [
    "LEVELS",
    "RULES",
    "RULE_OF_KIND",
    "Alternative",
    "FileEdit",
    "Finding",
    "Fix",
    "FunctionHeat",
    "HeatSpan",
    "Model",
    "Report",
    "Rule",
    "ScanError",
    "SourceText",
    "Summary",
    "fingerprints",
]

_HOMES = {
    "LEVELS": "finding",
    "RULES": "rules",
    "RULE_OF_KIND": "rules",
    "Alternative": "finding",
    "FileEdit": "finding",
    "Finding": "finding",
    "Fix": "finding",
    "FunctionHeat": "finding",
    "HeatSpan": "finding",
    "Model": "finding",
    "Report": "finding",
    "Rule": "rules",
    "ScanError": "finding",
    "SourceText": "source",
    "Summary": "finding",
    "fingerprints": "fingerprint",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
