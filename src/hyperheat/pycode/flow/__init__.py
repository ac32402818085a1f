"""Control flow and data flow of a function.

In reading order:

    blocks              basic blocks, and the builder that fills them
    evaluation_order    what expressions, targets and patterns do, in order
    control_flow        what statements do: the blocks of a function
    block_runs          the data flow inside one block
    data_flow           the data flow between blocks, solved on bit sets
    function_flow       `analyse_flow`: all flow facts of one function
"""
