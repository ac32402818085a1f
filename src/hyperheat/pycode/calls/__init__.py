"""What calls and operators call, and which parameter each argument reaches.

In reading order:

    function_calls      `analyse_calls`: the relations of all calls and operators of one function
    operators           operators and other syntax, as the special methods that they stand for
    signatures          formal parameters, and the arguments that reach them
    definitions         what a module defines: functions, classes, imports, assignments
    project             the modules of a project, found by import name
    standard_library    the signatures of builtins and the standard library

The callee of a call is inferred from the syntax alone; nothing is imported or run:

    abstract_values     what an expression may stand for
    name_lookup         from names and attributes to definitions, across files and base classes
    environment         the names in reach at a place, and what annotations mean there
    builtin_calls       builtins whose result depends on their arguments, such as `zip`
    constructors        the parameters of a class
    expressions         the values of expressions
    execution           the values of names through the statements of a body
    inference           `Resolver`: what each call calls
"""
