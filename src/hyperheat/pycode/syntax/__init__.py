"""The text of a function as tokens and syntax nodes.

In reading order:

    python_source      text of a file: decoding, offsets, limits, parsing
    tokens             the token stream of a function
    fields             which libCST names stand for the fields of `ast`
    placement          where a syntax node lies among the tokens
    children           the children of each kind of syntax node
    function_syntax    `FunctionSyntax`: the nodes and the syntax edges of one function
    graph_columns      collects nodes and edges into a `Hypergraph`
    traversal          walks over syntax in source order
"""
