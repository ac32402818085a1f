"""What a kind of rewrite is: its name, its manual page, its cases, and how to find its places."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Edit, Rewrite, Span

__all__ = ["Case", "Kind", "replaced"]


@dataclass(frozen=True, slots=True)
class Case:
    """A function and what the rewrites of one kind make of it: the line that each of them changes, in order.

    `why` says what the case shows.
    """

    why: str
    source: str
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of bug and of repair.

    `message` is what a rewrite says, `messages` hold others for particular replacements; `texts` are all replacements
    of a kind that knows them beforehand; `find` lists the rewrites, in a module whose docstring is the manual page;
    `valid` are cases with rewrites, `invalid` are cases without any.
    """

    name: str
    message: str
    messages: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    find: Callable[[Body], Iterable[Rewrite]]
    valid: tuple[Case, ...]
    invalid: tuple[Case, ...]

    @property
    def manual(self) -> str:
        """The manual page."""
        return sys.modules[self.find.__module__].__doc__ or ""

    def describe(self, rewrite: Rewrite, source: str) -> str:
        """What a rewrite says in plain words about a function's source: "`left` may be meant instead of `right`"."""
        first, second = rewrite.arguments or (rewrite.location, rewrite.location)
        message = self.messages.get(rewrite.replacement, self.message)
        return message.format(
            original=rewrite.original,
            replacement=rewrite.replacement,
            first=_excerpt(source, first),
            second=_excerpt(source, second),
        )


def replaced(
    kind: str, location: Span, original: str, replacement: str, variable: Span | None = None
) -> Rewrite:
    """The rewrite that puts one text in place of another, which the location holds."""
    return Rewrite(
        kind=kind,
        location=location,
        original=original,
        replacement=replacement,
        edits=(Edit(*location, replacement),),
        after=Span(location.start, location.start + len(replacement)),
        variable=variable,
    )


def _excerpt(source: str, span: Span) -> str:
    """The text of a span on one line, shortened."""
    text = " ".join(source[span.start : span.end].split())
    return text if len(text) <= 40 else f"{text[:37]}..."
