"""How tightly operators bind: which of them may take another's place without moving anything else.

`a + b * c` with `+` for `*` would read `(a + b) + c`: another tree, not only another operator. So an operator
may only be replaced by one that leaves its operands together and itself an operand of what is above.
"""

import ast

from hyperheat.rewrites.body import Body, Place

__all__ = ["BINARY", "fits"]

BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", 5),
    ast.Sub: ("-", 5),
    ast.Mult: ("*", 6),
    ast.Pow: ("**", 8),
    ast.Div: ("/", 6),
    ast.FloorDiv: ("//", 6),
    ast.Mod: ("%", 6),
    ast.MatMult: ("@", 6),
    ast.LShift: ("<<", 4),
    ast.RShift: (">>", 4),
    ast.BitOr: ("|", 1),
    ast.BitAnd: ("&", 3),
    ast.BitXor: ("^", 2),
}
"""The text and the strength of each binary operator; a stronger one binds more tightly."""
_UNARY, _POWER, _PRIMARY = 7, 8, 9
_SIGNS = (ast.UAdd, ast.USub, ast.Invert)


def fits(body: Body, place: Place, strength: int) -> bool:
    """Whether a binary operation keeps its tree with an operator of the given strength."""
    node = place.node
    left, right = _strength(body, node.left), _strength(body, node.right)
    if strength == _POWER:  # it takes more on its right than on its left
        if left <= _POWER or right < _UNARY:
            return False
    elif left < strength or right <= strength:
        return False
    return body.is_parenthesised(node) or _fits_above(place, strength)


def _fits_above(place: Place, strength: int) -> bool:
    node, parent = place.node, place.parent
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, _SIGNS):
        return strength == _POWER
    if not isinstance(parent, ast.BinOp):
        return True
    above = BINARY[type(parent.op)][1]
    if above == _POWER:
        return node is parent.right and strength == _POWER
    return strength >= above if node is parent.left else strength > above


def _strength(body: Body, operand: ast.expr) -> int:
    if isinstance(operand, ast.BinOp | ast.UnaryOp) and body.is_parenthesised(operand):
        return _PRIMARY
    if isinstance(operand, ast.BinOp):
        return BINARY[type(operand.op)][1]
    return _UNARY if isinstance(operand, ast.UnaryOp) else _PRIMARY
