"""Python source as typed and qualified hypergraphs, one per outermost function.

`extraction.py` is the way in; each folder is one stage of it, with the module to read first:

    syntax/    source -> tokens and syntax nodes                      function_syntax.py
    names/     which symbol each name refers to                       function_names.py
    flow/      control flow and data flow                             function_flow.py
    calls/     what calls and operators call, with which parameters   function_calls.py

`anchors.py` is how the stages speak about places in the syntax; `pairs.py` turns the finished hypergraph into a graph
of two-ended edges, for models that read no others.
"""

from hyperheat.pycode.extraction import (
    FunctionGraph,
    ModuleGraphs,
    ModuleOutline,
    UnreadFunction,
    extract,
    extract_function,
    outline,
)
from hyperheat.pycode.syntax.python_source import SourceError, TooMuchSource

__all__ = [
    "FunctionGraph",
    "ModuleGraphs",
    "ModuleOutline",
    "SourceError",
    "TooMuchSource",
    "UnreadFunction",
    "extract",
    "extract_function",
    "outline",
]
