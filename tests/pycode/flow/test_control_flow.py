"""Control flow: every construct, as edges between places."""

from textwrap import indent

import pytest
from tests.pycode.flow.notation import Snippet, control, returns, yields

from hyperheat.pycode.flow.control_flow import SWALLOWING


def test_paper_example_of_section_3():
    body = """
        if c:
            p1
        else:
            p2
        s1
    """
    assert control(body) == {"1:c -> 2:p1 | 4:p2", "2:p1 | 4:p2 -> 5:s1"}


def test_paper_example_of_appendix_b():
    body = """
        if is_foo(x):
            x = foo(x)
        y.bar(x)
    """
    assert control(body) == {
        "1:is_foo(x) -> 2:foo(x)",
        "1:is_foo(x) | 2:foo(x) -> 3:y.bar",
        "3:y.bar -> 3:y.bar(x)",
    }


def test_edges_and_places_are_in_source_order():
    snippet = Snippet("while g():\n    if a:\n        continue\n    h()\nk()")
    assert snippet.lines(snippet.flow.control) == [
        "3:continue | 4:h() -> 1:g()",
        "1:g() -> 2:a | 5:k()",
        "2:a -> 3:continue | 4:h()",
    ]


@pytest.mark.parametrize(
    ("body", "edges"),
    [
        ("x = y\nf()", ["1:x = y -> 2:f()"]),
        ("x = g(y)\nf()", ["1:g(y) -> 2:f()"]),
        ("a, b = b, a\nf()", ["1:a, b = b, a -> 2:f()"]),
        ("x.y = 1\nx[i] = 2\nf()", ["1:x.y -> 2:x[i]", "2:x[i] -> 3:f()"]),
        ("x += g()\nf()", ["1:g() -> 1:x += g()", "1:x += g() -> 2:f()"]),
        ("x.y += 1\nf()", ["1:x.y -> 1:x.y += 1", "1:x.y += 1 -> 2:f()"]),
        ("x: int = y\nf()", ["1:x: int = y -> 2:f()"]),
        ("x: g() = h()\nf()", ["1:h() -> 2:f()"]),
        ("pass\ndel x\ndel x[i], x.y\nf()", ["1:pass -> 2:del x", "2:del x -> 3:x[i]", "3:x[i] -> 3:x.y", "3:x.y -> 4:f()"]),
        ("import a.b\nfrom c import d\nf()", ["1:import a.b -> 2:from c import d", "2:from c import d -> 3:f()"]),
        ("g(a.b, -c, d * e)", ["1:a.b -> 1:-c", "1:-c -> 1:d * e", "1:d * e -> 1:g(a.b, -c, d * e)"]),
        ("x = {a(): b(), **c()}", ["1:a() -> 1:b()", "1:b() -> 1:c()"]),
        ("x = f'{a()}{b:{c()}}'", ["1:c() -> 1:f'{a()}{b:{c()}}'", "1:a() -> 1:c()"]),
        ("g(h(), *k(), m=n())", ["1:n() -> 1:g(h(), *k(), m=n())", "1:h() -> 1:k()", "1:k() -> 1:n()"]),
        ("x[a():b()] = c()", ["1:b() -> 1:x[a():b()]", "1:c() -> 1:a()", "1:a() -> 1:b()"]),
        ("return f()", ["1:f() -> 1:return f()"]),
        ("g()\nreturn", ["1:g() -> 2:return"]),
        ("g()\nyield\nx = yield h()", ["1:g() -> 2:yield", "3:h() -> 3:yield h()", "2:yield -> 3:h()"]),
        ("yield from g()", ["1:g() -> 1:yield from g()"]),
    ],
)  # fmt: skip
def test_straight_line(body: str, edges: list[str]):
    assert control(body) == set(edges)


@pytest.mark.parametrize("body", ["global x\nx = 1", "'text'\nx = 1", "x: int\nx = 1", "nonlocal_ = 1"])
def test_what_does_nothing_is_no_node(body: str):
    assert control(body) == set()


class TestBranches:
    def test_elif_without_else(self):
        assert control("if a:\n    p()\nelif b:\n    q()\nr()") == {
            "1:a -> 2:p() | 3:b",
            "3:b -> 4:q()",
            "2:p() | 3:b | 4:q() -> 5:r()",
        }

    def test_short_circuit_in_a_test(self):
        assert control("if a and f(b) or not c:\n    p()\nq()") == {
            "1:a -> 1:f(b)",
            "1:a | 1:f(b) -> 1:c",
            "1:f(b) | 1:c -> 2:p()",
            "1:c | 2:p() -> 3:q()",
        }

    def test_short_circuit_in_a_value(self):
        assert control("x = a or f(b)\nq()") == {"1:a -> 1:f(b)", "1:a | 1:f(b) -> 2:q()"}

    def test_conditional_expression(self):
        assert control("x = p if q else g()\nr()") == {"1:q -> 1:p | 1:g()", "1:p | 1:g() -> 2:r()"}

    def test_chained_comparison(self):
        assert control("x = a < f() <= c\nr()") == {"1:f() -> 1:<", "1:< -> 1:<=", "1:< | 1:<= -> 2:r()"}

    def test_chained_comparison_as_test(self):
        assert control("if a < b < c:\n    p()\nr()") == {
            "1:< -> 1:<'",
            "1:<' -> 2:p()",
            "1:< | 1:<' | 2:p() -> 3:r()",
        }

    def test_constant_tests_take_one_way(self):
        assert control("if 0:\n    p()\nelse:\n    q()") == {"1:0 -> 4:q()"}

    def test_walrus(self):
        assert control("if (n := f()) and (m := n):\n    p()\nq()") == {
            "1:f() -> 1:m := n",
            "1:m := n -> 2:p()",
            "1:f() | 1:m := n | 2:p() -> 3:q()",
        }

    def test_assert_may_fail(self):
        assert control("assert t, m()\nw()") == {"1:m() -> 1:assert t, m()", "1:t -> 1:m() | 2:w()"}


class TestLoops:
    def test_for_may_have_no_iteration(self):
        assert control("for x in g():\n    p(x)\nq()") == {
            "1:g() | 2:p(x) -> 1:for x",
            "1:for x -> 2:p(x) | 3:q()",
        }

    def test_for_with_break_continue_else(self):
        body = """
            for x in xs:
                if a(x):
                    break
                elif b:
                    continue
                c(x)
            else:
                d()
            e()
        """
        assert control(body) == {
            "5:continue | 6:c(x) -> 1:for x",
            "1:for x -> 2:a(x) | 8:d()",
            "2:a(x) -> 3:break | 4:b",
            "4:b -> 5:continue | 6:c(x)",
            "3:break | 8:d() -> 9:e()",
        }

    def test_while_with_else(self):
        assert control("while t():\n    p()\nelse:\n    q()\nr()") == {
            "2:p() -> 1:t()",
            "1:t() -> 2:p() | 4:q()",
            "4:q() -> 5:r()",
        }

    def test_endless_while_ends_only_by_break(self):
        assert control("while True:\n    if a:\n        break\n    p()\nq()") == {
            "4:p() -> 1:True",
            "1:True -> 2:a",
            "2:a -> 3:break | 4:p()",
            "3:break -> 5:q()",
        }

    def test_comprehension(self):
        assert control("[p(x) for x in g() if x]\nq()") == {
            "1:p(x) | 1:g() | 1:x'' -> 1:for x",
            "1:for x -> 1:x'' | 2:q()",
            "1:x'' -> 1:p(x)",
        }

    def test_nested_comprehension(self):
        assert control("{f(x): y for x in a for y in x}\nq()") == {
            "1:for x -> 2:q()",
            "1:f(x) | 1:for x -> 1:for y",
            "1:for y -> 1:f(x) | 1:for x",
        }

    def test_async(self):
        body = """
            async with a() as b:
                await f()
            async for x in y:
                g(x)
            z = [i async for i in y]
            w()
        """
        assert control(body, is_async=True) == {
            "1:a() -> 1:with a() as b",
            "2:f() -> 2:await f()",
            "1:with a() as b -> 2:f()",
            "2:await f() | 4:g(x) -> 3:async for x",
            "3:async for x -> 4:g(x)",
            "3:async for x | 5:for i -> 5:for i",
            "5:for i -> 6:w()",
        }


class TestExceptions:
    def test_raise_does_not_fall_through(self):
        assert control("if a:\n    raise E()\nq()") == {"1:a -> 2:E() | 3:q()", "2:E() -> 2:raise E()"}

    def test_each_clause_is_entered_from_what_may_raise(self):
        body = """
            before()
            try:
                f()
                x = 1
                g()
            except A:
                a()
            except B:
                b()
            else:
                c()
            d()
        """
        assert control(body) == {
            "1:before() -> 3:f()",
            "3:f() -> 4:x = 1",
            "4:x = 1 -> 5:g()",
            "3:f() | 5:g() -> 6:except A | 8:except B",
            "6:except A -> 7:a()",
            "8:except B -> 9:b()",
            "5:g() -> 11:c()",
            "7:a() | 9:b() | 11:c() -> 12:d()",
        }

    def test_types_of_clauses_are_evaluated_in_turn(self):
        assert control("try:\n    f()\nexcept m.A:\n    a()\nexcept m.B:\n    b()") == {
            "2:f() -> 3:m.A",
            "3:m.A -> 3:except m.A | 5:m.B",
            "3:except m.A -> 4:a()",
            "5:m.B -> 5:except m.B",
            "5:except m.B -> 6:b()",
        }

    def test_uncaught_goes_to_the_outer_try(self):
        body = """
            try:
                try:
                    f()
                except A:
                    pass
            except B:
                b()
        """
        assert control(body) == {
            "3:f() -> 4:except A | 6:except B",
            "4:except A -> 5:pass",
            "6:except B -> 7:b()",
        }

    @pytest.mark.parametrize("clause", ["except", "except BaseException"])
    def test_a_clause_for_everything_lets_nothing_out(self, clause: str):
        body = f"try:\n    try:\n        f()\n    {clause}:\n        pass\n    g()\nexcept B:\n    b()"
        assert control(body) == {
            f"3:f() -> 4:{clause}",
            f"4:{clause} -> 5:pass",
            "3:f() | 5:pass -> 6:g()",
            "6:g() -> 7:except B",
            "7:except B -> 8:b()",
        }

    def test_if_nothing_is_known_to_raise_everything_may(self):
        assert control("try:\n    x = y\nexcept NameError:\n    a()\nb()") == {
            "2:x = y -> 3:except NameError",
            "3:except NameError -> 4:a()",
            "2:x = y | 4:a() -> 5:b()",
        }

    def test_except_star_clauses_may_run_one_after_the_other(self):
        body = "try:\n    f()\nexcept* A:\n    a()\nexcept* B:\n    b()\nc()"
        assert control(body) == {
            "2:f() -> 3:except A",
            "3:except A -> 4:a()",
            "2:f() | 4:a() -> 5:except B",
            "5:except B -> 6:b()",
            "2:f() | 4:a() | 6:b() -> 7:c()",
        }

    def test_finally_on_all_ways(self):
        body = """
            for x in y:
                try:
                    if a:
                        break
                    if b:
                        continue
                    if c:
                        return
                    f()
                finally:
                    g()
                h()
            i()
        """
        assert control(body) == {
            "11:g() | 12:h() -> 1:for x",
            "1:for x -> 3:a",
            "3:a -> 4:break | 5:b",
            "5:b -> 6:continue | 7:c",
            "7:c -> 8:return | 9:f()",
            "4:break | 6:continue | 8:return | 9:f() -> 11:g()",
            "11:g() -> 12:h()",
            "1:for x | 11:g() -> 13:i()",
        }

    def test_return_in_finally_stops_the_exception(self):
        body = "try:\n    try:\n        f()\n    finally:\n        return\nexcept A:\n    a()"
        assert control(body) == {"3:f() -> 5:return"}

    def test_finally_within_finally(self):
        body = "try:\n    return f()\nfinally:\n    try:\n        g()\n    finally:\n        h()\ni()"
        assert control(body) == {"2:f() -> 2:return f()", "2:return f() | 2:f() -> 5:g()", "5:g() -> 7:h()"}

    def test_with_passes_exceptions_on(self):
        assert control("with a() as b, c:\n    f()\n    g()\nh()") == {
            "1:a() -> 1:with a() as b",
            "1:with a() as b -> 1:with c",
            "1:with c -> 2:f()",
            "2:f() -> 3:g()",
            "3:g() -> 4:h()",
        }

    @pytest.mark.parametrize("name", sorted(SWALLOWING))
    def test_with_that_swallows_exceptions(self, name: str):
        assert "2:f() | 3:g() -> 4:h()" in control(f"with m.{name}(E):\n    f()\n    g()\nh()")


class TestMatch:
    def test_patterns_are_tried_in_turn(self):
        body = """
            match x:
                case 0 | None:
                    a()
                case [1, y, *rest] if y:
                    b()
                case {"k": v, **more}:
                    c()
                case Point(x=0) as p:
                    d()
            f()
        """
        assert control(body) == {
            "2:0 -> 2:None",
            "2:0 | 2:None -> 3:a()",
            "2:None -> 4:[1, y, *rest]",
            "4:[1, y, *rest] -> 4:1",
            "4:1 -> 4:y'",
            "4:y' -> 5:b()",
            '4:[1, y, *rest] | 4:1 | 4:y\' -> 6:{"k": v, **more}',
            '6:{"k": v, **more} -> 7:c() | 8:Point(x=0)',
            "8:Point(x=0) -> 8:0",
            "8:0 -> 9:d()",
            "3:a() | 5:b() | 7:c() | 8:Point(x=0) | 8:0 | 9:d() -> 10:f()",
        }

    def test_last_case_for_everything(self):
        assert control("match x:\n    case 1:\n        a()\n    case _:\n        b()\nc()") == {
            "2:1 -> 3:a() | 4:_",
            "4:_ -> 5:b()",
            "3:a() | 5:b() -> 6:c()",
        }

    def test_values_of_patterns_are_evaluated(self):
        assert control("match x:\n    case m.A:\n        a()\n    case m.B:\n        b()") == {
            "2:m.A' -> 2:m.A",
            "2:m.A -> 3:a() | 4:m.B'",
            "4:m.B' -> 4:m.B",
            "4:m.B -> 5:b()",
        }


class TestFunctions:
    def test_nested_function_is_a_graph_of_its_own(self):
        body = """
            @d(1)
            def g(a: t.u = h()) -> r.t:
                k()
                if a:
                    return 1
                m()
            n()
        """
        assert control(body) == {
            "2:r.t -> 2:def g",
            "2:h() -> 2:t.u",
            "1:d(1) -> 2:h()",
            "2:t.u -> 2:r.t",
            "3:k() -> 4:a",
            "4:a -> 5:return 1 | 6:m()",
            "2:def g -> 7:n()",
        }

    def test_definition_of_the_outermost_function(self):
        snippet = Snippet("g()", "a=h(), *, b: t.u", before="@d(1)\n")
        assert set(snippet.lines(snippet.flow.control)) == {
            "-1:d(1) -> 0:h()",
            "0:h() -> 0:t.u",
            "0:t.u -> 0:def f",
        }

    def test_lambda(self):
        assert control("f(lambda x, y=g(): x + h(y))\nk()") == {
            "1:g() -> 1:f(lambda x, y=g(): x + h(y))",
            "1:h(y) -> 1:x + h(y)",
            "1:f(lambda x, y=g(): x + h(y)) -> 2:k()",
        }

    def test_class_body_runs_in_place(self):
        body = """
            class A(B, metaclass=m()):
                x: t.u = 3
                def g(self):
                    h()
            n()
        """
        assert control(body) == {
            "3:def g -> 1:class A",
            "1:m() -> 2:t.u",
            "2:t.u -> 3:def g",
            "1:class A -> 5:n()",
        }

    def test_unreachable_code_has_no_edges(self):
        assert control("if a:\n    return\n    f()\n    g()\nh()") == {"1:a -> 2:return | 5:h()"}
        assert control("for x in y:\n    continue\n    f()\nh()") == {
            "2:continue -> 1:for x",
            "1:for x -> 2:continue | 4:h()",
        }


class TestReturnsAndYields:
    def test_returns_and_nodes_before_the_end(self):
        assert returns("if a:\n    return 1\nif b:\n    return\nif c:\n    f()") == [
            ["2:return 1", "4:return", "5:c", "6:f()"]
        ]

    def test_no_end_is_reached(self):
        assert returns("while True:\n    if a():\n        return 1") == [["3:return 1"]]
        assert returns("raise E") == []

    def test_nested_functions_and_lambdas(self):
        assert returns("def g():\n    h()\nreturn lambda: x") == [["3:return lambda: x"], ["2:h()"], ["3:x"]]

    def test_return_through_finally(self):
        assert returns("try:\n    return f()\nfinally:\n    g()") == [["2:return f()"]]

    def test_yields(self):
        body = "x = yield\nyield 1\nyield from y\ndef g():\n    yield 2\nreturn\nyield"
        assert yields(body) == [["1:yield", "2:yield 1", "3:yield from y", "7:yield"], ["5:yield 2"]]
        assert yields("f()") == []


def test_deeply_nested_finally_stays_small():
    body = "f()"
    for _ in range(15):
        body = "try:\n    g()\n    return\nfinally:\n" + indent(body, "    ")
    assert "54:g() | 55:return -> 58:g()" in control(body)
