"""Knowledge graphs of statements with qualifiers: reading, checking and completing them."""

from hyperheat.kg.asking import Question
from hyperheat.kg.completion import Answer, Completer, Completion
from hyperheat.kg.explaining import Explanation
from hyperheat.kg.models import complete, load
from hyperheat.kg.statements import Statement, Statements

__all__ = [
    "Answer",
    "Completer",
    "Completion",
    "Explanation",
    "Question",
    "Statement",
    "Statements",
    "complete",
    "load",
]
