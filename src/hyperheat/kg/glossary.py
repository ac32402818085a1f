"""A glossary: names found by id or label in any case, with suggestions for those that are not found."""

import re
import unicodedata
from collections.abc import Mapping

from hyperheat.spelling import ask, nearest

__all__ = ["AmbiguousName", "Glossary", "UnknownName"]

_SHOWN = 5
_NEAR = 3  # similar names that are suggested


class UnknownName(ValueError):
    """A name that is not in the table of entities or relations."""


class AmbiguousName(ValueError):
    """A label that several ids have."""


class Glossary:
    """The entities or the relations of a model, found by id or label; `kind` is "entity" or "relation"."""

    def __init__(self, kind: str, names: tuple[str, ...], labels: Mapping[str, str]) -> None:
        self.kind, self.names = kind, names
        self._labels = labels
        self._by_id = {name: index for index, name in enumerate(names)}
        self._by_text: dict[str, list[int]] = {}
        for index, name in enumerate(names):
            for text in {_folded(name), _folded(labels.get(name, name))}:
                self._by_text.setdefault(text, []).append(index)

    def label(self, index: int) -> str | None:
        """The label of a name, if it has one."""
        return self._labels.get(self.names[index])

    def show(self, index: int) -> str:
        """The label and the id of a name, or the id alone."""
        name, label = self.names[index], self.label(index)
        return name if label is None or label == name else f"{label} ({name})"

    def has(self, text: str) -> bool:
        """Whether it is a name or a label."""
        return _folded(text) in self._by_text

    def find(self, text: str) -> int:
        """The index of an id or a label; an exact match wins over one in another case.

        Raises UnknownName with similar names, or AmbiguousName with the ids that share the label.
        """
        if text in self._by_id:
            return self._by_id[text]
        found = self._by_text.get(_folded(text), [])
        exact = [index for index in found if self.label(index) == text]
        found = exact or found
        if not found:
            raise UnknownName(f"unknown {self.kind} {text!r}{self.hint(text)}")
        if len(found) > 1:
            shown = ", ".join(map(self.show, found[:_SHOWN])) + (", ..." if len(found) > _SHOWN else "")
            raise AmbiguousName(f"ambiguous {self.kind} {text!r}: it is the label of {shown}; use the id")
        return found[0]

    def hint(self, text: str) -> str:
        """Similar names as the end of a sentence; empty if there are none."""
        near = [self.show(index) for index in self.near(text)]
        return f"; {ask(near)}" if near else ""

    def near(self, text: str) -> list[int]:
        """The names most similar to a text: first those that contain it as a word, then those spelled similarly."""
        folded = _folded(text)
        as_word = re.compile(rf"\b{re.escape(folded)}\b")
        texts = [known for known in self._by_text if as_word.search(known)] if folded else []
        texts = sorted(texts, key=len)[:_NEAR] + nearest(folded, self._by_text, _NEAR)
        indices = dict.fromkeys(index for known in texts for index in self._by_text[known])
        return list(indices)[:_NEAR]


def _folded(text: str) -> str:
    """The text without differences in case, width and spacing."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
