"""Flow analysis of generated programs against what happens when they are run."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.pycode.flow.oracle import Choices, Program, Recorder

from hyperheat.pycode.flow.function_flow import FunctionFlow, analyse_flow
from hyperheat.pycode.names.function_names import ModuleScope

SETTINGS = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
PATHS = 250
LEAVES = ("<n>", "f(<n>)", "<n>.p")
EXPRESSIONS = (
    *LEAVES,
    *(
        "f(<e>, <e>)",
        "(<e> + <e>)",
        "<n>[<e>]",
        "(<n> := f(<e>))",
        "(not <e>)",
        "(<e> < <e>)",
        "(<e> < <e> < <e>)",
    ),
    *("(<e> and <e>)", "(<e> or <e>)", "(<e> if <e> else <e>)"),
)
STATEMENTS = (
    *("pass", "<n> = 1", "<n> = <e>", "<n> += <e>", "<n>.p = <e>", "<n>.p += <e>", "<n>[<n>] = <e>"),
    *("<n> = <n>.p = <e>", "f(<n>)", "<e>", "assert <e>, <n>", "del <n>"),
)
BRANCHES = (
    *(
        "if <e>:<b>",
        "if <e>:<b>\nelif <e>:<b>\nelse:<b>",
        "with f(<n>) as <n>:<b>",
        "with suppress(E), <e>:<b>",
    ),
    *(
        "match <n>:\n    case 0 as <n>:<c>\n    case 1 | 2 if <e>:<c>",
        "match <e>:\n    case 0:<c>\n    case <n>:<c>",
    ),
    "match <n>:\n    case 1:<c>\n    case _ if <n>:<c>\n    case _:<c>",
    # the calls are there so that something in the body may raise
    *(
        "try:\n    f(<n>)<b>\nfinally:<f>",
        "try:\n    f(<n>)<b>\nexcept E:<b>",
        "try:\n    f(<n>)<b>\nexcept:<b>",
    ),
    "try:\n    f(<n>)<b>\nexcept <n>.p as <n>:<b>\nexcept E:<b>\nelse:<b>\nfinally:<f>",
    "try:\n    f(<n>)<b>\nexcept E as <n>:<b>\nexcept:<b>\nelse:<b>",
)
LOOPS = (
    *("for <n> in <e>:<l>", "for <n> in <e>:<l>\nelse:<b>", "while <n>:<l>", "while f(<n>):<l>\nelse:<b>"),
    *(
        "while True:\n    if <n>:\n        break<l>",
        "<n> = [<e> for <n> in <e> if <e>]",
        "<n> = [<e> for <n> in <n> for <n> in <e>]",
    ),
)
FUNCTIONS = (
    "def g(b):\n    <s>\n    return a",
    "def g(c):\n    nonlocal a\n    a = c\n    <s>",
    "g = lambda: f(a, <e>)",
    "def g():\n    h = lambda: <e>\n    h()\n    return h",
)


class Writer:
    """Writes a program by filling templates: <n>ame, <e>xpression, <s>tatement, <b>lock and special blocks."""

    def __init__(self, draw: st.DrawFn, *, loops: bool):
        self.draw = draw
        self.compound = BRANCHES + LOOPS * loops

    def pick(self, options: tuple[str, ...]) -> str:
        return options[self.draw(st.integers(0, len(options) - 1))]

    def expression(self, depth: int = 2) -> str:
        template = self.pick(EXPRESSIONS if depth else LEAVES)
        return re.sub(
            "<n>|<e>", lambda m: self.name() if m[0] == "<n>" else self.expression(depth - 1), template
        )

    def name(self) -> str:
        return self.pick(("a", "b", "c"))

    def fill(self, template: str, depth: int, jumps: tuple[str, ...]) -> str:
        def part(found: re.Match[str]) -> str:
            match found[0]:
                case "<n>":
                    return self.name()
                case "<e>":
                    return self.expression()
                case "<s>":
                    # nothing that may raise: a call outside of `try` is taken to return
                    return self.fill(self.pick(tuple(s for s in STATEMENTS if "assert" not in s)), 0, ())
                case "<c>":
                    return indent(self.block(depth, jumps), " " * 8)
                case "<l>":
                    return indent(self.block(depth, (*jumps, "break", "continue")), " " * 4)
                case "<f>":
                    # an endless loop of failures and `continue` could not be stopped
                    return indent(
                        self.block(depth, tuple(jump for jump in jumps if jump != "continue")), " " * 4
                    )
            return indent(self.block(depth, jumps), " " * 4)

        return re.sub("<[a-z]>", part, template)

    def block(self, depth: int, jumps: tuple[str, ...] = ("return", "return a", "raise b")) -> str:
        """Some lines, the first one empty so that a block can follow a colon."""
        lines = [""]
        for _ in range(self.draw(st.integers(1, 3))):
            kind = self.draw(st.integers(0, 9))
            if kind == 0:
                lines.append(self.pick(jumps))
            elif kind < 5 or depth == 0:
                lines.append(self.fill(self.pick(STATEMENTS), 0, jumps))
            else:
                lines.append(self.fill(self.pick(self.compound), depth - 1, jumps))
        return "\n".join(lines)


@st.composite
def programs(draw: st.DrawFn, *, loops: bool) -> str:
    return "def main(a, b):" + indent(Writer(draw, loops=loops).block(3), "    ")


@st.composite
def programs_with_functions(draw: st.DrawFn) -> str:
    """Programs in which a nested function shares variables and is called now and then."""
    writer = Writer(draw, loops=True)
    function = writer.fill(writer.pick(FUNCTIONS), 0, ())
    body = (
        f"c = g = a{writer.block(2)}\n{function}{writer.block(2)}\ng(){writer.block(1)}\ng(){writer.block(1)}"
    )
    return "def main(a, b):\n" + indent(body, "    ")


def record_some(program: Program, seeds: range) -> Recorder:
    recorder = Recorder()
    for seed in seeds:
        program.run(Choices(seed), recorder)
    return recorder


def assert_predicted(program: Program, recorder: Recorder) -> None:
    """Everything that happened had been foreseen."""
    solved = program.solved
    for observed, predicted in (
        (recorder.reads, solved.reads),
        (recorder.writes, solved.writes),
        (recorder.nodes, solved.nodes),
    ):
        for number, before in observed.items():
            assert before <= set(predicted[number])
    assert recorder.last_uses <= set(solved.last_uses)


@SETTINGS
@given(programs(loops=False))
def test_without_loops_the_analysis_is_exact(source: str):
    note(source)
    program = Program(source)
    recorder, choices = Recorder(), Choices()
    for _ in range(PATHS):
        program.run(choices, recorder)
        if not choices.next_path():
            break
    else:
        assert_predicted(program, recorder)
        return
    solved = program.solved
    assert [recorder.reads[n] for n in range(len(solved.reads))] == [set(p) for p in solved.reads]
    assert [recorder.writes[n] for n in range(len(solved.writes))] == [set(p) for p in solved.writes]
    assert [recorder.nodes[n] for n in range(len(solved.nodes))] == [set(p) for p in solved.nodes]
    assert recorder.last_uses <= set(solved.last_uses) <= recorder.last_uses | recorder.implicit_last_uses


@SETTINGS
@given(programs(loops=True))
def test_what_happens_in_loops_is_predicted(source: str):
    note(source)
    program = Program(source)
    assert_predicted(program, record_some(program, range(12)))


@SETTINGS
@given(programs_with_functions())
def test_what_happens_through_nested_functions_is_predicted(source: str):
    note(source)
    program = Program(source)
    assert_predicted(program, record_some(program, range(12)))


def flows(body: list[ast.stmt], scope: ModuleScope) -> Iterator[FunctionFlow]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield analyse_flow(statement, scope)
        elif isinstance(statement, ast.ClassDef):
            yield from flows(statement.body, scope.inside(statement))


@pytest.mark.parametrize("name", ["argparse", "asyncio/base_events", "contextlib", "dataclasses", "tarfile"])
def test_facts_of_real_functions_fit_together(name: str):
    path = Path(ast.__file__).parent / f"{name}.py"
    module = ast.parse(path.read_bytes())
    found = list(flows(module.body, ModuleScope.of(module)))
    assert len(found) > 10
    for flow in found:
        symbol_of = {
            place: number for number, facts in enumerate(flow.symbols) for place in facts.occurrences
        }
        assert len(symbol_of) == sum(len(facts.occurrences) for facts in flow.symbols)
        for facts in flow.symbols:
            assert set(facts.last_uses) <= set(facts.occurrences)
        for merged in (flow.may_read, flow.may_write):
            assert all(len({symbol_of[place] for place in before + after}) == 1 for before, after in merged)
        for merged in (flow.control, flow.may_read, flow.may_write):
            # each place has one set of predecessors, and each set of predecessors one edge
            assert len({before for before, _ in merged}) == len(merged)
            successors = [place for _, after in merged for place in after]
            assert len(set(successors)) == len(successors)
