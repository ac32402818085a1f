"""One file per kind of rewrite, named after the kind. Models know a kind by its place in `KINDS`."""

from hyperheat.rewrites.kind import Kind
from hyperheat.rewrites.kinds.argument_swap import ARGUMENT_SWAP
from hyperheat.rewrites.kinds.augmented_assignment import AUGMENTED_ASSIGNMENT
from hyperheat.rewrites.kinds.binary_operator import BINARY_OPERATOR
from hyperheat.rewrites.kinds.boolean_operator import BOOLEAN_OPERATOR
from hyperheat.rewrites.kinds.comparison_operator import COMPARISON_OPERATOR
from hyperheat.rewrites.kinds.literal import LITERAL
from hyperheat.rewrites.kinds.variable_misuse import VARIABLE_MISUSE

__all__ = ["KINDS"]

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        VARIABLE_MISUSE,
        ARGUMENT_SWAP,
        COMPARISON_OPERATOR,
        BOOLEAN_OPERATOR,
        BINARY_OPERATOR,
        AUGMENTED_ASSIGNMENT,
        LITERAL,
    )
}
"""All kinds of rewrites by name."""
