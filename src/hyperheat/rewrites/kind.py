"""What a kind of rewrite is: its name, its manual page, its cases, and how to find its places."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Rewrite, Span

__all__ = ["Case", "Kind"]

_LONGEST = 40  # characters of code that a message quotes
_LONGEST_CALL = 60


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

    Messages may quote `{original}` and `{replacement}`, the two arguments `{first}` and `{second}`, and `{repaired}`, the
    code at the location after the repair.
    """

    name: str
    """The name in reports, data and results, such as "argument-swap"."""
    message: str
    """What a finding says."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """Other messages, by the replacement that they are for."""
    brief: str = ""
    """The message if the repaired code is too long to quote."""
    texts: tuple[str, ...] = ()
    """All replacements, if they are a fixed list: operators or literals."""
    find: Callable[[Body], Iterable[Rewrite]]
    """Lists the rewrites in a function. The docstring of its module is the manual page."""
    valid: tuple[Case, ...]
    """Cases with rewrites."""
    invalid: tuple[Case, ...]
    """Cases without rewrites."""

    @property
    def manual(self) -> str:
        """The manual page."""
        return sys.modules[self.find.__module__].__doc__ or ""

    def describe(self, rewrite: Rewrite, source: str) -> str:
        """What a finding says about a function's source: "did you mean `left` instead of `right`?"."""
        first, second = rewrite.arguments or (rewrite.location, rewrite.location)
        repaired = _one_line(rewrite.apply(source), rewrite.after)
        message = self.messages.get(rewrite.replacement, self.message)
        if self.brief and len(repaired) > _LONGEST_CALL:
            message = self.brief
        return message.format(
            original=rewrite.original,
            replacement=rewrite.replacement,
            first=_shortened(_one_line(source, first)),
            second=_shortened(_one_line(source, second)),
            repaired=repaired if self.brief else _shortened(repaired),
        )


def _one_line(source: str, span: Span) -> str:
    return " ".join(source[span.start : span.end].split())


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
