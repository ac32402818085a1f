"""A report made by hand: several rules and tiers, errors, a heat map, and names and code that mean harm."""

from hyperheat.report import (
    Alternative,
    FileEdit,
    Finding,
    Fix,
    FunctionHeat,
    HeatSpan,
    Model,
    Report,
    ScanError,
    SourceText,
    Summary,
)

MERGE = """\
def merge(left, right):
    left_key = normalise(left.key)
    right_key = normalise(right.key)
    if left_key == normalise(left.key):
        return left
    return resize(
        right.height,
        right.width,
    )
"""
SHOP = (
    "class Shop:\r\n\tdef total(self, items):\r\n\t\tfor i, 商品 in enumerate(items):\r\n"
    "\t\t\tsum = 商品.price\r\n\t\treturn sum\r\n"
)
HOSTILE = "def f(a, b):\n    '\x1b[31m \u202e ##vso[task.setvariable]<script>' if a else b\n    ::error::\n"
HOSTILE_PATH = "a\n::error::,%\x1b[2J<img src=x>\udcff\u202e.py"

SOURCES = {
    "src/billing/merge.py": SourceText(MERGE),
    "src/shop.py": SourceText(SHOP),
    HOSTILE_PATH: SourceText(HOSTILE),
}


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> FileEdit:
    return FileEdit(line=line, column=column, end_line=end_line, end_column=end_column, text=text)


MISUSE = Finding(
    path="src/billing/merge.py",
    rule="HH101",
    kind="variable-misuse",
    line=4,
    column=30,
    end_line=4,
    end_column=34,
    function="merge",
    message="did you mean `right` instead of `left`?",
    confidence=0.9412,
    tier="A",
    alarm_rate=1 / 4321,
    safe=True,
    fix=Fix((edit(4, 30, 4, 34, "right"),)),
    alternatives=(
        Alternative(
            kind="comparison-operator",
            message="did you mean `!=` instead of `==`?",
            confidence=0.031,
            fix=Fix((edit(4, 17, 4, 19, "!="),)),
        ),
    ),
)
SWAP = Finding(
    path="src/billing/merge.py",
    rule="HH201",
    kind="argument-swap",
    line=6,
    column=12,
    end_line=9,
    end_column=6,
    function="merge",
    message="arguments look swapped: did you mean `resize(right.width, right.height)`?",
    confidence=0.62,
    tier="B",
    alarm_rate=1 / 400,
    fix=Fix((edit(7, 9, 7, 21, "right.width"), edit(8, 9, 8, 20, "right.height"))),
)
ASSIGNMENT = Finding(
    path="src/shop.py",
    rule="HH302",
    kind="augmented-assignment",
    line=4,
    column=8,
    end_line=4,
    end_column=9,
    function="Shop.total",
    message="did you mean `+=` instead of `=`?",
    confidence=0.3,
    tier="C",
    alarm_rate=0.02,
    fix=Fix((edit(4, 8, 4, 9, "+="),)),
)
CONDITION = Finding(
    path=HOSTILE_PATH,
    rule="HH301",
    kind="boolean-operator",
    line=2,
    column=50,
    end_line=2,
    end_column=51,
    function="f\x1b[0m",
    message="missing `not`: did you mean `not {0}[a](https://example.org)\x1b]0;x\x07</script>]]>&amp;`?",
    confidence=1.0,
    tier="A",
    fix=Fix((edit(2, 50, 2, 50, "not "),)),
)

REPORT = Report(
    version="0.1.0",
    model=Model(name="heat-small", sha256="0" * 64),
    findings=(ASSIGNMENT, SWAP, CONDITION, MISUSE),
    errors=(
        ScanError(
            path="src/\u2028old.py", rule="HH900", line=3, reason="expected Python 3 source, got: \x1b[5m"
        ),
        ScanError(
            path="src/huge.py", rule="HH901", reason="expected at most 1000000 characters, got 2700000"
        ),
    ),
    summary=Summary(
        files=5,
        functions=12,
        too_small=3,
        too_large=1,
        min_candidates=6,
        hidden={"C": 3, "D": 7},
        suppressed=1,
        known=2,
        notes=("Tier A is empty: it is noise.",),
        cached=4,
        seconds=1.234,
    ),
    heat=(
        FunctionHeat(
            path="src/billing/merge.py",
            function="merge",
            line=1,
            end_line=9,
            heats=(
                HeatSpan(line=4, column=30, end_line=4, end_column=34, suspicion=0.94),
                HeatSpan(line=4, column=5, end_line=4, end_column=40, suspicion=0.12),
                HeatSpan(line=6, column=12, end_line=9, end_column=6, suspicion=0.5),
                HeatSpan(line=2, column=5, end_line=2, end_column=13, suspicion=0.05),
            ),
        ),
    ),
)
EMPTY = Report(
    version="0.1.0",
    model=Model(name="heat-small", sha256="0" * 64),
    findings=(),
    summary=Summary(files=0, functions=0),
)
