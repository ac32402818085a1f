"""The one number of a finding, in words: how many alarms there are at its level."""

__all__ = ["MEANING", "describe_rate"]

MEANING = (
    "1 alarm in N functions: in popular packages, as they were released, the model has one finding as sure as this or "
    "surer for every N functions."
)
"""What the number means, wherever it is explained."""


def describe_rate(rate: float | None) -> str:
    """Alarms per function of real code, as one alarm in so many functions, rounded down to two digits.

    >>> describe_rate(1 / 3456)
    '1 alarm in 3,400 functions'
    """
    if rate is None:
        return "alarms not measured"
    functions = int(1 / rate + 1e-6)
    functions -= functions % 10 ** max(0, len(str(functions)) - 2)
    return f"1 alarm in {functions:,} functions" if functions > 1 else "1 alarm in every function"
