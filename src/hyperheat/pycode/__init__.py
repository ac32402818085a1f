"""Python source as typed and qualified hypergraphs."""

from hyperheat.pycode.extract import FunctionGraph, ModuleGraphs, extract, extract_function
from hyperheat.pycode.syntax.source import SourceError, TooMuchSource

__all__ = ["FunctionGraph", "ModuleGraphs", "SourceError", "TooMuchSource", "extract", "extract_function"]
