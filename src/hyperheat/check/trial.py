"""Does a model work at all? It is asked about a function of four lines before it is asked about anything else."""

from hyperheat.check.examine import make_question, read_module
from hyperheat.detector import Scorer
from hyperheat.detector.manifest import ModelError
from hyperheat.workers.limits import Limits

__all__ = ["try_model"]

_FUNCTION = "def first(items, default):\n    if len(items) > 1:\n        return get(items, default)\n    return default\n"


def try_model(scorer: Scorer, limits: Limits) -> None:
    """Raise ModelError if a model has no answer for a small function, or takes too much memory for it."""
    (function,) = read_module(_FUNCTION).functions
    try:
        scorer.score_batch([make_question(function, None).sample])
    except MemoryError:
        reason, _ = limits.out_of_memory()
        raise ModelError(f"{scorer.path}: cannot be run on a function of four lines: {reason}") from None
