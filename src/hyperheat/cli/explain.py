"""`hyperheat explain`: what a rule means, or what the detector thinks of a place."""

import re
import sys
from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING

from hyperheat.cli.options import ScanOptions
from hyperheat.cli.outputs import colourful, put
from hyperheat.cli.refusal import fail
from hyperheat.spelling import ask, nearest

if TYPE_CHECKING:
    from hyperheat.report import Rule
    from hyperheat.rewrites import Case

__all__ = ["explain"]

_PLACE = re.compile(
    r"(?P<path>.+?)(?::cell (?P<cell>[0-9]{1,9}))?:(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?"
)


def explain(target: str, /, *, model: str | None = None) -> None:
    """Explain a rule, or why a place in the code is suspicious.

    Parameters
    ----------
    target
        Rule, such as HH101 or variable-misuse; or FILE:LINE or FILE:LINE:COLUMN, as `hyperheat check` prints it.
        In a notebook, "FILE:cell CELL:LINE:COLUMN".
    model
        Name of an installed model, or folder of an exported detector. Default: the model in the package.
    """
    from hyperheat.workers.outcomes import WorkersError

    place = _PLACE.fullmatch(target)
    try:
        if place is None:
            text = _explain_rule(target)
        else:
            from hyperheat.cli.explain_line import PlaceInFile, explain_line

            there = PlaceInFile(
                path=place["path"],
                cell=None if place["cell"] is None else int(place["cell"]),
                line=int(place["line"]),
                column=None if place["column"] is None else int(place["column"]),
            )
            text = explain_line(there, ScanOptions(model=model), colour=colourful(sys.stdout))
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    put(text, sys.stdout)


def _explain_rule(target: str) -> str:
    """The manual page of a rule, given by its id or name."""
    from hyperheat.report import RULES

    rules = {name: rule for rule in RULES.values() for name in (rule.id, rule.name)}
    rule = rules.get(target) or rules.get(target.upper())
    if rule is None:
        near = nearest(target, rules) or nearest(target.upper(), rules)
        hint = ask(near, otherwise=f"the rules are {', '.join(RULES)}")
        raise ValueError(f"{target}: neither a rule nor FILE:LINE[:COLUMN]; {hint}")
    return "\n\n".join(_page(rule)) + "\n"


def _page(rule: "Rule") -> Iterator[str]:
    """The parts of a manual page."""
    from hyperheat.rewrites import KINDS

    yield f"{rule.id} {rule.name}\n{rule.summary}"
    yield fill(rule.help, 80)
    for name in rule.kinds:
        kind = KINDS[name]
        summary, _, rest = kind.manual.strip().partition("\n\n")
        yield f"{name}: {summary}\n\n{rest}"
        yield f"What is reported (-) and the suggested repair (+):\n\n{_example(kind.valid[0])}"
    if rule.kinds:
        yield f"To suppress it on a line:  # hyperheat: ignore[{rule.id}] and why"


def _example(case: "Case") -> str:
    """The first rewrite of a case as a bug in the case's function, and its repair."""
    *above, right = case.source.splitlines()
    lines = [*(f"      {line}" for line in above), f"    - {case.results[0]}", f"    + {right}"]
    return "\n".join(lines)
