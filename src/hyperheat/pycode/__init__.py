"""Python source as typed and qualified hypergraphs."""
