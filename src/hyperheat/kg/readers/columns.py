"""Tables with one column per part of a statement: `head,relation,tail,q:degree,q:major,...`."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperheat.kg.statements import Statement

__all__ = ["Columns"]

_MAIN = {"subject": ("subject", "head"), "relation": ("relation",), "object": ("object", "tail")}


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a table holds the parts of a statement."""

    width: int
    main: tuple[int, int, int]
    qualifiers: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, header: Sequence[str]) -> "Columns":
        """Find the columns by their names; a name that says nothing here is refused."""
        names = [name.strip() for name in header]
        main = []
        for part, spellings in _MAIN.items():
            places = [index for index, name in enumerate(names) if name.lower() in spellings]
            if len(places) != 1:
                raise ValueError(
                    f"expected one column {' or '.join(spellings)} for the {part}, got the columns {names}"
                )
            main.extend(places)
        others = [(name, index) for index, name in enumerate(names) if index not in main]
        for name, _ in others:
            if not name.startswith("q:") or not name[2:]:
                raise ValueError(f"expected head, relation, tail and columns such as q:degree, got {name!r}")
        qualifiers = tuple((name[2:], index) for name, index in others)
        return cls(len(names), (main[0], main[1], main[2]), qualifiers)

    def statement(self, cells: Sequence[str | None]) -> Statement:
        """The statement of a row; an empty cell is a qualifier that the statement does not have."""
        if len(cells) != self.width:
            raise ValueError(f"expected {self.width} cells, as the header has, got {len(cells)}")
        texts = [(cell or "").strip() for cell in cells]
        subject, relation, obj = (texts[index] for index in self.main)
        if not (subject and relation and obj):
            raise ValueError(f"expected a subject, a relation and an object, got {texts}")
        pairs = tuple((name, texts[index]) for name, index in self.qualifiers if texts[index])
        return Statement(subject, relation, obj, pairs)
