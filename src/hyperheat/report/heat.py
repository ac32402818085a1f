"""Heat maps: the code of a function in pieces of equal suspicion."""

from collections.abc import Iterator
from itertools import groupby

from hyperheat.report.finding import FunctionHeat
from hyperheat.report.source import SourceText

__all__ = ["paint"]


def paint(heat: FunctionHeat, source: SourceText) -> Iterator[tuple[int, list[tuple[str, float]]]]:
    """The number of each line of the function, with its text cut into pieces and the suspicion of each piece."""
    lines = range(heat.line, min(heat.end_line, source.last_line) + 1)
    suspicion = {number: [0.0] * len(source.line(number)) for number in lines}
    for part in heat.heats:
        for number in range(
            max(part.line, heat.line), min(part.end_line, heat.end_line, source.last_line) + 1
        ):
            row = suspicion[number]
            start = part.column - 1 if number == part.line else source.indentation(number)
            end = min(part.end_column - 1, len(row)) if number == part.end_line else len(row)
            for column in range(start, end):
                row[column] = max(row[column], part.suspicion)
    for number in lines:
        pieces = groupby(zip(source.line(number), suspicion[number], strict=True), key=lambda pair: pair[1])
        yield number, [("".join(text for text, _ in pairs), value) for value, pairs in pieces]
