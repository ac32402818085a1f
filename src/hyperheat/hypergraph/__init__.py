"""Typed and qualified hypergraphs: the data type, its transforms, its files and its pictures."""

from hyperheat.hypergraph.builder import HypergraphBuilder
from hyperheat.hypergraph.graph import Edge, Hypergraph, Position

__all__ = ["Edge", "Hypergraph", "HypergraphBuilder", "Position"]
