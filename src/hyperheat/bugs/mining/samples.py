"""Samples of fixes: the function with its bug, and the function without it."""

from contextlib import suppress

from hyperheat.bugs.mining.fix import Fix
from hyperheat.bugs.mining.references import AnyReference, ReleaseReference
from hyperheat.detector.sample import Origin, Sample, make_sample
from hyperheat.pycode import FunctionGraph

__all__ = ["NO_CLEAN", "make_samples"]

NO_CLEAN = "the repaired function cannot be read alone, or has no candidates"
"""Why a fix may have no clean sample; the former where the function is a closure over the class around it."""


def make_samples(reference: AnyReference, fix: Fix, *, with_clean: bool) -> list[Sample]:
    """The function with its bug, and if asked for the function without it, tagged repaired, unless there is NO_CLEAN."""
    samples = [make_sample(fix.function, fix.repair, _origin(reference, fix.function))]
    if with_clean:
        with suppress(ValueError):
            samples.append(make_sample(fix.repaired(), None, _origin(reference, fix.function, "repaired")))
    return samples


def _origin(reference: AnyReference, function: FunctionGraph, *tags: str) -> Origin:
    return Origin(
        project=reference.project,
        version=reference.before if isinstance(reference, ReleaseReference) else reference.sha,
        path=reference.path,
        function=function.name,
        line=function.span[0],
        tags=(*reference.tags, *tags),
    )
