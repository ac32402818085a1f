"""Names, and the symbols they refer to.

In reading order:

    scopes            what binds names: `ModuleScope` around a function, a `Scope` for each namespace inside
    function_names    `resolve_names`: every occurrence of a name in a function, and its symbol
"""
