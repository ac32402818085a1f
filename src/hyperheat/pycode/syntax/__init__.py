"""The text of a function and its syntax: tokens, nodes and the fields between them."""
