"""Data flow: what may have been read or written last before each occurrence."""

import pytest
from tests.pycode.flow.notation import Snippet, last_uses, reads, writes


def test_paper_example_of_appendix_b():
    body = """
        if is_foo(x):
            x = foo(x)
        y.bar(x)
    """
    assert reads(body, "x", "x, y") == {"1:x -> 2:x'", "2:x' -> 2:x", "1:x | 2:x' -> 3:x"}
    assert writes(body, "x", "x, y") == {"0:x -> 1:x | 2:x | 2:x'", "0:x | 2:x -> 3:x"}
    assert last_uses(body, "x", "x, y") == ["3:x"]


class TestStatements:
    def test_the_value_is_read_before_the_target_is_written(self):
        assert writes("x = x + 1\nf(x)", "x", "x") == {"0:x -> 1:x | 1:x'", "1:x -> 2:x"}
        assert reads("x = x + 1\nf(x)", "x", "x") == {"1:x' -> 1:x | 2:x"}

    def test_augmented_assignment_reads_and_writes(self):
        assert writes("x += 1\nf(x)", "x", "x") == {"0:x -> 1:x", "1:x -> 2:x"}
        assert reads("x += 1\nf(x)", "x", "x") == {"1:x -> 2:x"}

    def test_augmented_assignment_evaluates_its_value_between(self):
        assert reads("x += f(x)\ng(x)", "x", "x") == {"1:x -> 1:x'", "1:x' -> 2:x"}

    @pytest.mark.parametrize(
        "statement", ["x.a = 1", "x[i] = 1", "x.a += 1", "x[i] += 1", "del x.a", "del x[i]"]
    )
    def test_attributes_and_items_do_not_write_the_base(self, statement: str):
        assert writes(f"{statement}\nf(x)", "x", "x") == {"0:x -> 1:x | 2:x"}

    def test_targets_are_written_in_order(self):
        assert writes("x = x.y = x", "x", "x") == {"0:x -> 1:x | 1:x''", "1:x -> 1:x'"}

    def test_star_targets(self):
        assert writes("a, (b, *c) = f(c)\ng(c)", "c", "c") == {"0:c -> 1:c | 1:c'", "1:c -> 2:c"}

    def test_del_is_a_write(self):
        assert writes("x = 1\ndel x\nf(x)", "x") == {"1:x -> 2:x", "2:x -> 3:x"}

    def test_annotations_of_locals_are_not_evaluated(self):
        assert writes("x: x = 1\nf(x)", "x", "x") == {"0:x -> 1:x", "1:x -> 2:x"}
        assert last_uses("y: T = 1", "T") == []

    def test_imports(self):
        body = "import a.b, c as d\nfrom e import f as g, h\na.b(d, g, h)"
        assert writes(body, "a") == {"1:a.b -> 3:a"}
        assert writes(body, "d") == {"1:d -> 3:d"}
        assert writes(body, "g") == {"2:g -> 3:g"}
        assert writes(body, "h") == {"2:h -> 3:h"}

    def test_walrus(self):
        assert writes("if (n := f()) > 1 and n < 2:\n    g(n)", "n") == {"1:n -> 1:n' | 2:n"}

    def test_with(self):
        assert writes("with f() as x, g(x) as y:\n    h(x)", "x") == {"1:x -> 1:x' | 2:x"}

    def test_global(self):
        assert writes("global n\nn = 1\nf(n)", "n") == {"2:n -> 3:n"}


class TestBranches:
    def test_both_branches_write(self):
        body = "if c:\n    x = 1\nelse:\n    x = 2\nf(x)\ng(x)"
        assert writes(body, "x") == {"2:x | 4:x -> 5:x | 6:x"}

    def test_a_write_without_else_does_not_hide_the_earlier_one(self):
        assert writes("if c:\n    x = 1\nf(x)", "x", "x") == {"0:x -> 2:x", "0:x | 2:x -> 3:x"}

    def test_short_circuit(self):
        assert writes("f(a and (x := b))\ng(x)", "x", "x") == {"0:x -> 1:x", "0:x | 1:x -> 2:x"}

    def test_conditional_expression(self):
        assert reads("y = x if c else 0\nf(x)", "x", "x") == {"1:x -> 2:x"}

    def test_chained_comparison(self):
        assert writes("a < b < (x := c)\nf(x)", "x", "x") == {"0:x -> 1:x", "0:x | 1:x -> 2:x"}

    def test_unreachable_code(self):
        assert writes("if c:\n    x = 1\n    return\n    x = 2\nf(x)", "x", "x") == {"0:x -> 2:x | 5:x"}

    def test_match(self):
        body = """
            match s:
                case [x, 0] | {"k": x}:
                    f(x)
                case x if x:
                    g(x)
            h(x)
        """
        assert writes(body, "x", "x") == {
            "0:x -> 2:x | 2:x' | 4:x",
            "2:x | 2:x' -> 3:x",
            "4:x -> 4:x'' | 5:x",
            "2:x | 2:x' | 4:x -> 6:x",
        }


class TestLoops:
    def test_while(self):
        body = "while x:\n    x = x.next\nreturn x"
        assert writes(body, "x", "x") == {"0:x | 2:x -> 1:x | 2:x | 2:x' | 3:x"}
        assert reads(body, "x", "x") == {"2:x' -> 1:x | 2:x", "1:x -> 2:x' | 3:x"}

    def test_for_target(self):
        assert writes("for x in f(x):\n    g(x)\nh(x)", "x", "x") == {
            "0:x -> 1:x'",
            "0:x | 1:x -> 1:x | 3:x",
            "1:x -> 2:x",
        }

    def test_continue_and_break(self):
        body = """
            x = 0
            for i in r:
                if a:
                    x = 1
                    continue
                if b:
                    x = 2
                    break
                f(x)
            g(x)
        """
        assert writes(body, "x") == {"1:x | 4:x -> 4:x | 7:x | 9:x", "1:x | 4:x | 7:x -> 10:x"}

    def test_comprehension_variables_are_written_before_the_element(self):
        assert writes("[x for x in x]\nf(x)", "x", "x") == {"1:x' -> 1:x | 1:x'", "0:x -> 1:x'' | 2:x"}

    def test_walrus_in_a_comprehension(self):
        assert writes("f([m := k for k in n])\ng(m)", "m", "m") == {"0:m | 1:m -> 1:m | 2:m"}


class TestExceptions:
    def test_a_handler_sees_every_point_that_may_raise(self):
        body = """
            try:
                x = f()
                g(x)
                x = h()
            except E:
                i(x)
            j(x)
        """
        assert writes(body, "x", "x") == {
            "0:x -> 2:x",
            "2:x -> 3:x | 4:x",
            "0:x | 2:x -> 6:x",
            "0:x | 2:x | 4:x -> 7:x",
        }

    def test_the_name_of_an_exception_ends_with_its_clause(self):
        assert writes("try:\n    f()\nexcept E as e:\n    g(e)\nh(e)", "e", "e") == {
            "0:e -> 3:e | 5:e",
            "3:e -> 4:e",
        }

    def test_the_name_of_an_exception_ends_on_all_ways_out(self):
        body = """
            for i in r:
                try:
                    f()
                except E as e:
                    continue
                g(e)
        """
        assert writes(body, "e") == set()

    def test_finally_keeps_the_ways_apart(self):
        body = """
            x = 0
            try:
                if a:
                    x = 1
                    return
                x = 2
            finally:
                f(x)
            g(x)
        """
        assert writes(body, "x") == {"1:x -> 4:x | 6:x", "4:x | 6:x -> 8:x", "6:x -> 9:x"}

    def test_exceptions_reach_finally(self):
        body = "x = 0\ntry:\n    f()\n    x = 1\nfinally:\n    g(x)\nh(x)"
        assert writes(body, "x") == {"1:x -> 4:x", "1:x | 4:x -> 6:x", "4:x -> 7:x"}

    def test_break_through_finally(self):
        body = """
            for i in r:
                try:
                    x = 1
                    if x:
                        break
                    x = 2
                finally:
                    f(x)
                g(x)
            h(x)
        """
        assert writes(body, "x") == {
            "3:x -> 4:x | 6:x",
            "6:x -> 3:x | 9:x",
            "3:x | 6:x -> 8:x | 10:x",
        }

    def test_swallowed_exceptions(self):
        body = "x = 0\nwith suppress(E):\n    x = f()\n    x = g()\nh(x)"
        assert writes(body, "x") == {"1:x -> 3:x", "3:x -> 4:x", "1:x | 3:x | 4:x -> 5:x"}


class TestDottedNames:
    def test_writes_and_reads_of_an_attribute(self):
        body = "a.b = 1\na.b += 1\nf(a.b)"
        assert writes(body, "a.b", "a") == {"1:a.b -> 2:a.b", "2:a.b -> 3:a.b"}
        assert reads(body, "a.b", "a") == {"2:a.b -> 3:a.b"}

    def test_a_write_of_the_base_ends_it(self):
        body = "a.b = 1\nf(a.b)\na = g()\nf(a.b)"
        assert writes(body, "a.b", "a") == {"1:a.b -> 2:a.b"}
        assert reads(body, "a.b", "a") == set()

    def test_a_write_of_a_shorter_chain_ends_longer_ones(self):
        body = "a.b.c = 1\na.b = 2\nf(a.b.c)"
        assert writes(body, "a.b.c", "a") == set()
        assert writes(body, "a.b", "a") == {"2:a.b -> 3:a.b"}

    def test_a_loop_that_rebinds_the_base(self):
        assert writes("for a in r:\n    f(a.b)\n    a.b = 1", "a.b") == set()


class TestNestedFunctions:
    def test_a_closure_sees_what_reaches_or_follows_its_definition(self):
        body = """
            x = 1
            x = 2
            def g():
                return x
            x = 3
            f(x)
        """
        assert writes(body, "x") == {"1:x -> 2:x", "2:x | 5:x -> 4:x", "2:x -> 5:x", "5:x -> 6:x"}

    def test_nonlocal_writes_may_happen_any_time_after_the_definition(self):
        body = """
            n = 0
            f(n)
            def g():
                nonlocal n
                n += 1
            f(n)
            n = 2
            f(n)
        """
        assert writes(body, "n") == {
            "1:n -> 2:n",
            "1:n | 5:n | 7:n -> 5:n",
            "1:n | 5:n -> 6:n | 7:n",
            "5:n | 7:n -> 8:n",
        }

    def test_siblings_see_each_other(self):
        body = """
            n = 0
            def g():
                nonlocal n
                n = 1
            def h():
                return n
        """
        assert writes(body, "n") == {"1:n | 4:n -> 4:n | 6:n"}

    def test_a_function_defined_in_a_loop(self):
        assert writes("for x in r:\n    f(lambda: x)", "x") == {"1:x -> 1:x | 2:x"}

    def test_recursion(self):
        assert writes("def g():\n    return g()\ng()", "g") == {"1:g -> 2:g | 3:g"}

    def test_lambda_parameters_and_defaults(self):
        assert writes("f(lambda x=x: x)", "x", "x") == {"0:x -> 1:x'", "1:x -> 1:x''"}

    def test_defaults_are_read_at_the_definition(self):
        assert writes("def g(a=x):\n    pass\nx = 1", "x", "x") == {"0:x -> 1:x | 3:x"}

    def test_annotations_are_read_at_the_definition(self):
        assert writes("def g(a: x) -> x:\n    pass\nx = 1", "x", "x") == {"0:x -> 1:x | 1:x' | 3:x"}

    def test_lazy_annotations_are_not_read(self):
        snippet = Snippet("def g(a: x):\n    pass\nf(x)", "x", before="from __future__ import annotations\n")
        assert snippet.lines(snippet.flow.may_write, "x") == ["0:x -> 3:x"]

    def test_locals_of_nested_functions_are_their_own(self):
        assert writes("x = 1\ndef g():\n    x = 2\n    return x\nf(x)", "x") == {"1:x -> 5:x", "3:x -> 4:x"}

    def test_class_bodies_run_in_place(self):
        body = """
            class A:
                x = 1
                y = x
                def m(self):
                    return x
            f(x)
        """
        assert writes(body, "x", "x") == {"2:x -> 3:x", "0:x -> 5:x | 6:x"}

    def test_definition_of_the_outermost_function(self):
        snippet = Snippet("g(x)\nreturn f", "a=x", before="@d(x)\n")
        assert snippet.lines(snippet.flow.may_read, "x") == ["-1:x -> 0:x", "0:x -> 1:x"]
        assert snippet.lines(snippet.flow.may_write, "f") == ["0:f -> 2:f"]


class TestLastUses:
    def test_branches(self):
        assert last_uses("f(x)\nif c:\n    g(x)", "x", "x") == ["1:x", "3:x"]

    def test_returns(self):
        assert last_uses("if x:\n    return\nf(x)", "x", "x") == ["1:x", "3:x"]

    def test_loop(self):
        assert last_uses("for i in r:\n    f(i)", "i") == ["2:i"]

    def test_raise_leaves_the_function(self):
        assert last_uses("if x:\n    raise E\nf(x)", "x", "x") == ["1:x", "3:x"]

    def test_caught_raise_does_not(self):
        assert last_uses("try:\n    if x:\n        raise E\nexcept:\n    pass\nf(x)", "x", "x") == ["6:x"]

    def test_raise_through_finally(self):
        assert last_uses("try:\n    raise x\nfinally:\n    f()\ng(x)", "x", "x") == ["2:x"]

    def test_unused_parameter(self):
        assert last_uses("pass", "x", "x") == ["0:x"]

    def test_endless_loop_has_none(self):
        assert last_uses("while True:\n    f(x)", "x", "x") == []

    def test_closures_may_be_called_last(self):
        assert last_uses("def g():\n    return x\nf(x)", "x", "x") == ["2:x", "3:x"]

    def test_a_lambda_in_an_annotation_never_runs(self):
        assert last_uses("v: (lambda x: x) = x", "x", "x") == ["1:x''"]
