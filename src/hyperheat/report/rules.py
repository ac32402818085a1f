"""The rules: what each id stands for, in one place for all outputs and for `explain`."""

from dataclasses import dataclass

__all__ = ["RULES", "RULE_OF_KIND", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One id that a finding or a scan error carries.

    `kinds` are the kinds of rewrites that repair it; a rule without any is about files, not about bugs.
    """

    id: str
    name: str
    summary: str
    help: str
    kinds: tuple[str, ...] = ()


RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        Rule(
            id="HH101",
            name="variable-misuse",
            summary="A variable is used where another one is meant.",
            kinds=("variable-misuse",),
            help=(
                "The name at this place is a variable of the function, but another one that has a value here fits "
                "better with how both are used: `area(width, width)` for `area(width, height)`. Copied lines in "
                "which one name was not changed are the usual cause. Only parameters and local names are "
                "compared; names from outside the function are not."
            ),
        ),
        Rule(
            id="HH201",
            name="swapped-arguments",
            summary="Two arguments of a call stand in each other's place.",
            kinds=("argument-swap",),
            help=(
                "Two positional arguments of the call look as if they had changed places: `resize(height, width)` "
                "where the function takes the width first. Compare with the signature; passing the arguments by "
                "keyword removes the doubt for every later reader."
            ),
        ),
        Rule(
            id="HH301",
            name="wrong-condition",
            summary="A condition uses the wrong comparison or boolean operator.",
            kinds=("comparison-operator", "boolean-operator"),
            help=(
                "The comparison (`<` for `<=`, `==` for `!=`, `in` for `not in`), the `and` or `or`, or a `not` that "
                "is missing or too much, turns the condition into something else than the code around it expects. "
                "Look at the border case: what should happen when both sides are equal, or empty?"
            ),
        ),
        Rule(
            id="HH302",
            name="wrong-operation",
            summary="An operation or an assignment uses the wrong arithmetic operator.",
            kinds=("binary-operator", "augmented-assignment"),
            help=(
                "The operator computes something else than the code around it expects (`+` for `-`, `/` for `//`), or "
                "an assignment replaces a value that it should change (`=` for `+=`)."
            ),
        ),
        Rule(
            id="HH401",
            name="wrong-literal",
            summary="A small number is off, or a truth value is the wrong one.",
            kinds=("literal",),
            help=(
                "The constant (-2, -1, 0, 1, 2, `True` or `False`) is probably not the one that is meant: an index "
                "or a step off by one, or a flag the wrong way round."
            ),
        ),
        Rule(
            id="HH900",
            name="not-parsed",
            summary="A file is not Python source that can be read, so nothing in it was checked.",
            help=(
                "The file has a syntax error, an unknown encoding or bytes that are not text. Its functions were not "
                "checked; all other files were. Exclude the file if it is not meant to be read."
            ),
        ),
        Rule(
            id="HH901",
            name="skipped",
            summary="A file or function was left out because it is too large, too deep or took too long.",
            help=(
                "Reading it would have gone beyond the limits on size, nesting, time or memory that keep one file "
                "from stopping the scan of all others. Generated and minified code is the usual cause: exclude it."
            ),
        ),
    )
}
"""All rules by id."""

RULE_OF_KIND: dict[str, str] = {kind: rule.id for rule in RULES.values() for kind in rule.kinds}
"""The id of the rule that a kind of rewrite belongs to."""
