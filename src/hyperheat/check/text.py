"""Checking a text in this process, with the model of the package."""

import warnings
from functools import cache

from hyperheat.check.judge import judge
from hyperheat.check.scan import scan_source
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.report.finding import Finding

__all__ = ["check_text"]


def check_text(source: str, *, path: str = "<source>") -> list[Finding]:
    """The findings of all tiers in a text of Python source, without those that its comments keep quiet.

    Warns of functions that were skipped. Raises ValueError if the text cannot be read.
    """
    file = scan_source(source, _detector(), path=path)
    for error in file.errors:
        reason = f"{path}:{error.line}: {error.reason}" if error.line else f"{path}: {error.reason}"
        if not file.functions:
            raise ValueError(reason)
        warnings.warn(f"not checked: {reason}", stacklevel=2)
    return list(judge([file], Settings(), _detector(), show_all=True).findings)


@cache
def _detector() -> Detector:
    return load_detector()
