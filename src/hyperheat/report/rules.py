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
            summary="The wrong variable is used.",
            kinds=("variable-misuse",),
            help=(
                "Another variable of the function that has a value here fits better with how both are used: "
                "`area(width, width)` instead of `area(width, height)`. The usual cause is a copied line in which one "
                "name was not changed. Only parameters and local names are compared; names from outside the "
                "function are not."
            ),
        ),
        Rule(
            id="HH201",
            name="swapped-arguments",
            summary="Two arguments of a call are swapped.",
            kinds=("argument-swap",),
            help=(
                "Two positional arguments of the call look swapped: `resize(height, width)` where the function takes "
                "the width first. Compare the call with the signature. Passing the arguments by keyword removes the "
                "doubt for every later reader."
            ),
        ),
        Rule(
            id="HH301",
            name="wrong-condition",
            summary="A condition uses the wrong comparison or boolean operator.",
            kinds=("comparison-operator", "boolean-operator"),
            help=(
                "A wrong comparison (`<` instead of `<=`, `==` instead of `!=`, `in` instead of `not in`), a wrong `and` or "
                "`or`, or a missing or unexpected `not` makes the condition differ from what the code around it "
                "expects. Look at the edge case: what should happen when both sides are equal, or empty?"
            ),
        ),
        Rule(
            id="HH302",
            name="wrong-operation",
            summary="An operation or an assignment uses the wrong operator.",
            kinds=("binary-operator", "augmented-assignment"),
            help=(
                "The operator does not compute what the code around it expects (`+` instead of `-`, `/` instead of `//`), "
                "or an assignment replaces a value that it should change (`=` instead of `+=`)."
            ),
        ),
        Rule(
            id="HH401",
            name="wrong-literal",
            summary="A small number or a truth value is wrong.",
            kinds=("literal",),
            help=(
                "The constant (-2, -1, 0, 1, 2, `True` or `False`) is probably wrong: an index or a step off by one, "
                "or a flag that should be the opposite."
            ),
        ),
        Rule(
            id="HH900",
            name="not-parsed",
            summary="A file could not be read as Python source, so nothing in it was checked.",
            help=(
                "The file has a syntax error, an unknown encoding or bytes that are not text. Its functions were not "
                "checked; all other files were. Exclude the file if it is not meant to be read."
            ),
        ),
        Rule(
            id="HH901",
            name="skipped",
            summary="A file or function was skipped because it is too large, too deeply nested or took too long.",
            help=(
                "Checking it would exceed the limits on size, nesting, time or memory that keep one file from stopping "
                "the whole run. Generated and minified code is the usual cause: exclude it."
            ),
        ),
    )
}
"""All rules by id."""

RULE_OF_KIND: dict[str, str] = {kind: rule.id for rule in RULES.values() for kind in rule.kinds}
"""The id of the rule that a kind of rewrite belongs to."""
