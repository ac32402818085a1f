"""Small samples for the tests of the bug task."""

from hyperheat.detector.sample import Origin, Sample, make_sample
from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import candidates

SOURCE = """
def clamp(value, low, high):
    if value < low and not high:
        return low
    total = 0
    for step in range(low, high):
        total += step
    return min(value, total)


class Box:
    def area(self, width, height):
        scaled = width * 2
        if scaled == height or width is None:
            return self.combine(scaled, height)
        return width - height
"""


def origin(function: str = "clamp", line: int = 2) -> Origin:
    return Origin(project="box", version="1.0", path="box/core.py", function=function, line=line)


def all_samples(source: str = SOURCE, every: int = 7) -> list[Sample]:
    """The clean sample of each function, then every so-manieth bug."""
    module = extract(source)
    made = []
    for function in module.functions:
        place = origin(function.name, function.span[0])
        made.append(make_sample(function, None, place))
        for rewrite in candidates(function)[::every]:
            broken = extract_function(rewrite.apply(function.source), function, module.facts)
            made.append(make_sample(broken, rewrite.inverse(function.source), place))
    return made
