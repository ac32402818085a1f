"""Why a reference to one small rewrite is none of the candidates."""

from hyperheat.bugs.mining.fix import NoFix
from hyperheat.bugs.mining.references import Reference
from hyperheat.rewrites import candidates, place

__all__ = ["explain"]

_SWAP = "argument-swap"


def explain(error: NoFix, reference: Reference) -> str:
    """The reason in a few words; where only the candidates fail, whether the rules take its place at all."""
    function, span = error.function, reference.record.get("span")
    if function is None or not isinstance(span, list):
        return error.reason
    wanted = tuple(span)
    for rewrite in candidates(function):
        if rewrite.kind == reference.kind:
            found = place(function, rewrite.location)
            if found == wanted or (
                rewrite.kind == _SWAP and found[:2] <= wanted[:2] and wanted[2:] <= found[2:]
            ):
                return "its place has candidates, this one not among them"
    return "its place has no candidates of the kind"
