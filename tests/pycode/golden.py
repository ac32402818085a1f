"""Golden files of code hypergraphs, and the page of documentation that is made from them.

A golden file holds a title, a sentence or two, the relations it shows (or `all`), a source, and the lines
that `str(graph)` has for those relations in the graph of the source's last function.
"""

from dataclasses import dataclass
from pathlib import Path

from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.draw import to_svg, to_text
from hyperheat.hypergraph.transforms import drop_relations
from hyperheat.pycode import extract

__all__ = ["PAGE", "PICTURE", "Golden", "golden_files", "make_page", "make_picture"]

FOLDER = Path(__file__).parent.parent / "golden" / "pycode"
PAGE = Path(__file__).parent.parent.parent / "docs" / "code-hypergraph.md"

PICTURE = PAGE.with_suffix(".svg")

_PICTURED = """\
def scale(image, factor): ...

def half(picture):
    return scale(picture, 0.5)
"""
_SHOWN = ("scale", "MayWrite", "CtrlF", "Returns")

_INTRODUCTION = f"""\
# Python code as a hypergraph

Every outermost function or method of a file becomes one hypergraph. This is a part of the graph of `half`:

```python
{_PICTURED}```

![The function half as a hypergraph](code-hypergraph.svg)

Boxes are edges, ovals are nodes, and the word on each line is the part that the node has in the edge. From left to
right: the value of `picture` may have been written by the parameter; the call passes it to `scale` as `image`, with
`0.5` as `factor`; the call runs right before `return`, which is where the function returns from. To draw a picture
like this one:

```
hyperheat graph FILE:half --format svg {" ".join(f"--relation {name}" for name in _SHOWN)}
```

In Python, `hyperheat.pycode.extract(source).functions[-1].graph` is the whole graph. The rest of this page lists all
relations, each with a snippet and what is drawn from it, and ends with two complete graphs. It is made from the
golden files that the tests compare with (`pytest tests/pycode --update-golden`).

**Nodes.** Every token is a node; comments are left out unless you ask for them. Every node of the syntax tree is a
node, too, but one that covers exactly one token *is* that token's node. Every symbol is one more node. Names, numbers,
strings and operators are labelled with their text, other syntax with its libCST class name. Labels over 200
characters are shortened to their beginning, their length and their end. In a drawing, `(a #3)` is node 3; the first
nodes are the tokens in order, counted from 0.

**Spans.** Each node knows its place: line, column, end line, end column. Lines count from 1, columns from 0, in
characters.

**Pairs.** `hyperheat.pycode.pairs.pairwise` gives the same function as a graph of two-ended edges, for models that
read no others.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """One golden file."""

    name: str
    title: str
    about: str
    relations: tuple[str, ...]
    source: str
    lines: str

    @classmethod
    def read(cls, path: Path) -> "Golden":
        head, source, lines = path.read_text(encoding="utf-8").split("\n---\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        return cls(
            name=path.stem,
            title=fields["title"],
            about=fields["about"],
            relations=tuple(fields["relations"].split()),
            source=source + "\n",
            lines=lines.strip("\n"),
        )

    def write(self) -> None:
        head = f"title: {self.title}\nabout: {self.about}\nrelations: {' '.join(self.relations)}"
        text = "\n---\n".join((head, self.source.rstrip("\n"), self.actual_lines() + "\n"))
        (FOLDER / f"{self.name}.txt").write_text(text, encoding="utf-8")

    def graph(self) -> Hypergraph:
        return extract(self.source).functions[-1].graph

    def actual_lines(self) -> str:
        graph = self.graph()
        lines = zip(graph.relations, str(graph).splitlines(), strict=False)
        return "\n".join(line for relation, line in lines if self._shows(relation))

    def drawing(self) -> str:
        graph = self.graph()
        shown = drop_relations(graph, sorted({name for name in graph.relations if not self._shows(name)}))
        return to_text(shown, most=40, isolated=False)

    def section(self) -> str:
        drawn = f"```python\n{self.source}```\n\n```\n{self.drawing()}\n```\n"
        return f"## {self.title}\n\n{self.about}\n\n{drawn}"

    def _shows(self, relation: str) -> bool:
        return "all" in self.relations or relation in self.relations


def golden_files() -> list[Golden]:
    """All golden files, in the order of the page."""
    return [Golden.read(path) for path in sorted(FOLDER.glob("*.txt"))]


def make_picture() -> str:
    """The picture at the top of the page, as `hyperheat graph` draws it."""
    graph = extract(_PICTURED).functions[-1].graph
    graph = drop_relations(graph, sorted(set(graph.relations) - set(_SHOWN)))
    return to_svg(graph, isolated=False)


def make_page() -> str:
    """The text of the page of relations."""
    return "\n".join([_INTRODUCTION, *(golden.section() for golden in golden_files())])
