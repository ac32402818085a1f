"""Knowledge graphs of statements with qualifiers: reading, checking and completing them."""

from hyperheat.kg.statements import Statement, Statements

__all__ = ["Statement", "Statements"]
