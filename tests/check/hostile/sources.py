"""Contents of Python files that were made to do harm: too deep, too long, too many, or not text at all.

`SOURCES` has for each the bytes and what a scan says of the file: the rule of its error, or None if it is read. All of
them hold a function, so that a file that is read has something to score.
"""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["SOURCES", "Hostile"]


@dataclass(frozen=True, slots=True)
class Hostile:
    """The content of a file, and the rule of the error that it gives; None if it is read without one."""

    content: bytes
    rule: str | None


def _body(line: str) -> str:
    return f"def f(a, b):\n    return {line}\n"


def _lines(*lines: str) -> str:
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines) + "    return a\n"


def _blocks(head: str, depth: int, end: str = "") -> str:
    """Blocks inside of blocks."""
    opened = "".join(f"{' ' * (level + 1)}{head}\n" for level in range(depth))
    closed = "".join(f"{' ' * (level + 1)}{end}\n" for level in reversed(range(depth))) if end else ""
    return f"def f(a, b):\n{opened}{' ' * (depth + 1)}a = b\n{closed}"


def _nesting() -> Iterator[tuple[str, str, str | None]]:
    for name, start, end in (
        ("parentheses", "(", ")"),
        ("brackets", "[", "]"),
        ("braces", "{", "}"),
        ("calls", "g(", ")"),
        ("subscripts", "a[", "]"),
        ("dictionaries", "{1: ", "}"),
        ("lambdas", "(lambda x: ", ")"),
        ("comprehensions", "[x for x in ", "]"),
        ("conditions", "(a if b else ", ")"),
        ("assignments", "(c := ", ")"),
        ("yields", "(yield ", ")"),
    ):
        yield f"deep {name}", _body(f"{start}\n" * 20_000 + "a" + f"{end}\n" * 20_000), "HH901"
        yield f"{name} within the limit", _body(start * 30 + "a" + end * 30), None
    yield "deep indentation", _blocks("if a:", 120), "HH901"
    yield "deep loops", _blocks("for a in b:", 40), "HH901"
    yield "deep loops within the limit", _blocks("while a:", 18), None
    yield "deep with", _blocks("with a:", 19), None
    yield "deep try", _blocks("try:", 15, "finally: b()"), None
    yield "deep functions", _blocks("def g(a):", 90), None
    yield (
        "deep classes",
        "".join(f"{' ' * i}class A{i}:\n" for i in range(90)) + " " * 90 + "def f(self): 1",
        None,
    )
    yield "deep patterns", _blocks_of_match("[" * 150 + "c" + "]" * 150), None
    yield "too deep patterns", _blocks_of_match("[" * 5_000 + "c" + "]" * 5_000), "HH901"
    yield "deep f-strings", _body("""f"{f'{a!r:{b}}'}" """), None
    yield "deep annotations", f"def f(a: {'X[' * 100}a{']' * 100}):\n    return a\n", None


def _blocks_of_match(pattern: str) -> str:
    return f"def f(a, b):\n    match a:\n        case {pattern}:\n            return b\n"


_OPERATORS = (
    *("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"),
    *("and", "or", "<", "==", "in", "is not"),
)


def _chains() -> Iterator[tuple[str, str, str | None]]:
    for operator in _OPERATORS:
        flat = operator in ("and", "or", "<", "==", "in", "is not")
        yield f"30,000 x {operator}", _body(f" {operator}\\\n".join(["a"] * 30_000)), "HH901"
        yield f"100 x {operator}", _body(f" {operator} ".join(["a", "b"] * 50)), None
        if flat:
            yield f"2,000 x {operator}", _body(f" {operator}\\\n".join(["a", "b"] * 1_000)), "HH901"
            yield f"300 x {operator}", _body(f" {operator}\\\n".join(["a", "b"] * 150)), None
    for name, link in (("attributes", ".b"), ("calls", "(b)"), ("subscripts", "[b]")):
        yield f"a chain of {name}", _body("a" + f"{link}\\\n" * 20_000), "HH901"
        yield f"a short chain of {name}", _body("a" + link * 100), None
    for operator in ("-", "not ", "~", "await "):
        yield f"{operator.strip()} many times", f"async {_body(operator * 9_000 + 'a')}", "HH901"
    yield "many elif", _lines("if a: b()", *(f"elif a == {i}: b()" for i in range(3_000))), "HH901"
    yield "some elif", _lines("if a: b()", *(f"elif a == {i}: b()" for i in range(150))), None
    yield "conditions in a row", _body("a if b else\\\n" * 9_000 + "a"), "HH901"
    yield "line continuations", f"def f(a, b):\n    return a{chr(92)}\n" + "\\\n" * 200_000 + "\n", "HH901"
    yield "strings in a row", _body("'a'\\\n" * 60_000 + "'b'"), "HH901"


def _many() -> Iterator[tuple[str, str, str | None]]:
    yield "many functions", "def f(a, b): return a + b\n" * 38_000, "HH901"
    yield "many classes", "class A: pass\n" * 60_000, "HH901"
    yield "many decorators", "@g\n" * 5_000 + _body("a"), "HH901"
    yield "some decorators", "@g\n" * 500 + _body("a"), None
    yield "many parameters", f"def f({','.join(f'a{i}' for i in range(2_500))}):\n    return a1\n", "HH901"
    yield "many arguments", _body(f"g({','.join(f'a{i}' for i in range(2_000))})"), "HH901"
    yield "many keywords", _body(f"g({','.join(f'a{i}=a' for i in range(2_100))})"), "HH901"
    yield "many variables", _lines(*(f"v{i} = v{i - 1}" for i in range(1, 3_000))), "HH901"
    yield "some variables", _lines(*(f"v{i} = v{i - 1}" for i in range(1, 100))), None
    yield "many statements", _lines(*["a = b"] * 70_000), "HH901"
    yield "many jumps", _lines("while a:", *[" if a: break"] * 3_000), "HH901"
    yield "many handlers", _lines("try: a()", *(f"except E{i}: b()" for i in range(1_500))), "HH901"
    yield "some handlers", _lines("try: a()", *(f"except E{i}: b()" for i in range(100))), None
    yield "many cases", _lines("match a:", *(f" case {i}: b()" for i in range(2_000))), "HH901"
    yield "some cases", _lines("match a:", *(f" case {i}: b()" for i in range(100))), None
    yield "many deletions", _lines(*["del a"] * 5_000), "HH901"
    yield "many returns", _lines(*["if a: return b"] * 1_500), "HH901"
    yield "some returns", _lines(*["if a: return b"] * 200), None
    yield "many clauses", _body(f"[a {'for a in b ' * 300}]"), "HH901"
    yield "many global names", _lines(f"global {','.join(f'g{i}' for i in range(2_500))}"), "HH901"
    yield (
        "a large dictionary",
        "def f(a, b): return a\nd = {\n" + "".join(f"'{i}': {i},\n" for i in range(25_000)) + "}\n",
        None,
    )
    yield "a larger dictionary", "d = {\n" + "".join(f"{i}: {i},\n" for i in range(55_000)) + "}\n", "HH901"
    yield "a large f-string", _body("f'''" + "{a}\n" * 20_000 + "'''"), "HH901"
    yield "a large string", _body("'''" + "a b c\n" * 100_000 + "'''"), None
    yield "a large number", _body("9" * 5_000), "HH900"
    yield "a large hexadecimal number", _body("0x" + "f" * 15_000), None
    yield "a large exponent", _body("1e999999 + 10 ** 10 ** 10"), None
    yield "a long name", _body("x" * 19_000), None
    yield "a long line", _body("'" + "x" * 900_000 + "'"), "HH901"
    yield "a long comment", _body("a") + "#" * 990_000, "HH901"
    yield "blank lines", "\n" * 140_000 + _body("a"), None
    yield "more blank lines", "\n" * 900_000 + _body("a"), "HH901"
    yield "semicolons", ";".join(["a = 1"] * 3_000) + "\n" + _body("a"), None
    yield "form feeds", "\f\n" * 50_000 + _body("a"), None
    yield "blanks", " " * 990_000 + "\n" + _body("a"), "HH901"
    yield (
        "a class that is its own base",
        "class A(A):\n    def f(self, a):\n        return self.g(a, A)\n",
        None,
    )
    yield (
        "classes around in a ring",
        "class A(B): pass\nclass B(A):\n def f(self, a): return super().g(a)\n",
        None,
    )
    yield "names around in a ring", "a = b\nb = a\ndef f(c): return a.x(c) + b(c)\n", None
    yield "functions that return each other", "def f(): return g()()\ndef g(): return f()()\n", None
    yield (
        "imports of itself",
        "from . import a\nfrom .a import *\nimport a.a\ndef f(c): return a.f(c)\n",
        None,
    )


def _bytes() -> Iterator[tuple[str, bytes, str | None]]:
    good = _body("a + b").encode()
    yield "a NUL", b"def f(a):\n    return '\0'\n", "HH900"
    yield "NULs alone", b"\0\n" * 50_000, "HH900"
    yield "random bytes", bytes(range(256)) * 1_000, "HH900"
    yield "UTF-16", _body("a").encode("utf-16"), "HH900"
    yield "UTF-32", _body("a").encode("utf-32"), "HH900"
    yield "UTF-8 that is cut", good + "# é".encode()[:-1], None
    yield "a surrogate in UTF-8", good + b"# \xed\xa0\x80\n", None
    yield "an overlong sequence", good + b"# \xc0\x80\n", None
    yield "a byte order mark", b"\xef\xbb\xbf" + good, None
    yield "two byte order marks", b"\xef\xbb\xbf" * 2 + good, None
    yield "a byte order mark and another encoding", b"\xef\xbb\xbf# coding: latin-1\n" + good, "HH900"
    yield "Latin-1 that says so", b"# coding: latin-1\n# \xe9\n" + good, None
    yield "Latin-1 that does not", b"# \xe9\n" + good, None
    yield "an unknown encoding", b"# coding: klingon\n" + good, "HH900"
    for name in ("base64", "zlib", "rot13", "bz2", "hex", "undefined"):
        yield f"the encoding {name}", f"# coding: {name}\n".encode() + good, "HH900"
    yield "the encoding punycode", b"# coding: punycode\n" + good * 30_000, "HH901"
    yield "the encoding idna", b"# coding: idna\n" + good * 30_000, "HH901"
    yield "the encoding utf-7", b"# coding: utf-7\n# +2AA-\n" + good, "HH900"
    yield "the encoding unicode_escape", b"# coding: unicode_escape\n" + good, None
    yield "an encoding with a newline", b"# coding: \\nlatin-1\n" + good, None
    yield "mixed indentation", b"def f(a):\n    if a:\n\treturn a\n", "HH900"
    yield "carriage returns", good.replace(b"\n", b"\r"), None
    yield "line ends of Windows", good.replace(b"\n", b"\r\n"), None
    yield "all line ends", b"def f(a, b):\r\n    c = g(a,\r  b)\n    return c\r\n", None
    yield (
        "separators that end no line",
        "def f(a, b):\n    c = '\x0b\x1c\u2028\x85'; return a\n".encode(),
        None,
    )
    yield "escape codes", b"def f(a, b):\n    c = '\x1b[2J\x1b]0;x\x07'; return g(a, b)\n", None
    yield "a workflow command", b"def f(a, b):\n    return g('''\n::error::x''', a, b)\n", None
    yield "text that turns around", "def f(a, b):\n    c = '\u202e\u2066'; return a\n".encode(), None
    yield "letters that look alike", "def f(a, \u0430):\n    return \u0430\n".encode(), None
    yield "names that are the same", "def f(\ufb01, b):\n    return fi\n".encode(), None
    yield "an open string", b"def f(a):\n    return '''\n", "HH900"
    yield "an open bracket", b"def f(a):\n    return (\n", "HH900"
    yield "Python 2", b"def f(a):\n    print a\n", "HH900"
    yield "a break alone", b"def f(a):\n    break\n", "HH900"
    yield "a parameter twice", b"def f(a, a):\n    return a\n", "HH900"
    yield "an archive", b"PK\x03\x04" + bytes(2_000), "HH900"
    yield "a web page", b"<html><script>alert(1)</script></html>\n", "HH900"
    yield "nothing", b"", None
    yield "a byte order mark alone", b"\xef\xbb\xbf", None
    yield "the largest file", good * 1_900 + b"#" * 10_000 + b"\n", None


SOURCES: dict[str, Hostile] = {
    **{name: Hostile(text.encode(), rule) for name, text, rule in (*_nesting(), *_chains(), *_many())},
    **{name: Hostile(data, rule) for name, data, rule in _bytes()},
}
