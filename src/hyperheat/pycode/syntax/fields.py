"""The names of syntax: which libCST class and which libCST fields stand for each `ast` type and its fields.

One `ast` node is one graph node. Levels of libCST that `ast` does not have are left out, and the fields
around them are joined: blocks (IndentedBlock, SimpleStatementSuite, SimpleStatementLine, Else, Finally,
From), wrappers of one value (Parameters, Arg of a positional argument, Element, SubscriptElement, Index,
Decorator, Annotation, AsName, AssignTarget, CompIf, NameItem, TypeParameters, TypeParam,
MatchSequenceElement, MatchOrElement), and pairs (ComparisonTarget, DictElement, MatchMappingElement,
MatchKeywordElement), whose two fields then stand in the edge of the parent.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

__all__ = ["FORMS", "Form", "numbered"]


@dataclass(frozen=True, slots=True)
class Form:
    """How an `ast` type appears: the label of its node, and (`ast` field, qualifier) of its children."""

    label: str
    fields: tuple[tuple[str, str], ...] = ()


def _form(label: str, *fields: str) -> Form:
    """Fields are written `name` where libCST has the same name, else `name>libcst_name`."""
    pairs = (field.partition(">") for field in fields)
    return Form(label, tuple((name, qualifier or name) for name, _, qualifier in pairs))


_COMPREHENSION = "generators>for_in"
_NAMED = {
    # Statements
    "FunctionDef": _form(
        "FunctionDef",
        "decorator_list>decorators",
        "name",
        "type_params>type_parameters",
        "args>params",
        "returns",
        "body",
    ),
    "AsyncFunctionDef": _form(
        "FunctionDef",
        "decorator_list>decorators",
        "async>asynchronous",
        "name",
        "type_params>type_parameters",
        "args>params",
        "returns",
        "body",
    ),
    "ClassDef": _form(
        "ClassDef",
        "decorator_list>decorators",
        "name",
        "type_params>type_parameters",
        "bases",
        "keywords",
        "body",
    ),
    "Return": _form("Return", "value"),
    "Delete": _form("Del", "targets>target"),
    "Assign": _form("Assign", "targets>target", "value"),
    "TypeAlias": _form("TypeAlias", "name", "type_params>type_parameters", "value"),
    "AugAssign": _form("AugAssign", "target", "op>operator", "value"),
    "AnnAssign": _form("AnnAssign", "target", "annotation", "value"),
    "For": _form("For", "target", "iter", "body", "orelse"),
    "AsyncFor": _form("For", "async>asynchronous", "target", "iter", "body", "orelse"),
    "While": _form("While", "test", "body", "orelse"),
    "If": _form("If", "test", "body", "orelse"),
    "With": _form("With", "items", "body"),
    "AsyncWith": _form("With", "async>asynchronous", "items", "body"),
    "Match": _form("Match", "subject", "cases"),
    "Raise": _form("Raise", "exc", "cause"),
    "Try": _form("Try", "body", "handlers", "orelse", "finalbody"),
    "TryStar": _form("TryStar", "body", "handlers", "orelse", "finalbody"),
    "Assert": _form("Assert", "test", "msg"),
    "Import": _form("Import", "names"),
    "ImportFrom": _form("ImportFrom", "level>relative", "module", "names"),
    "Global": _form("Global", "names"),
    "Nonlocal": _form("Nonlocal", "names"),
    "Expr": _form("Expr", "value"),
    "Pass": _form("Pass"),
    "Break": _form("Break"),
    "Continue": _form("Continue"),
    # Parts of statements
    "arg": _form("Param", "arg>name", "annotation"),
    "keyword": _form("Arg", "star", "arg>keyword", "value"),
    "alias": _form("ImportAlias", "name", "asname"),
    "withitem": _form("WithItem", "context_expr>item", "optional_vars>asname"),
    "ExceptHandler": _form("ExceptHandler", "type", "name", "body"),
    "comprehension": _form("CompFor", "is_async>asynchronous", "target", "iter", "ifs"),
    "TypeVar": _form("TypeVar", "name", "bound", "default_value>default"),
    "ParamSpec": _form("ParamSpec", "name", "default_value>default"),
    "TypeVarTuple": _form("TypeVarTuple", "name", "default_value>default"),
    # Expressions
    "BoolOp": _form("BooleanOperation", "values>left", "op>operator", "values>right"),
    "NamedExpr": _form("NamedExpr", "target", "value"),
    "BinOp": _form("BinaryOperation", "left", "op>operator", "right"),
    "UnaryOp": _form("UnaryOperation", "op>operator", "operand>expression"),
    "Lambda": _form("Lambda", "args>params", "body"),
    "IfExp": _form("IfExp", "body", "test", "orelse"),
    "Dict": _form("Dict", "keys>key", "values>value"),
    "Set": _form("Set", "elts>elements"),
    "ListComp": _form("ListComp", "elt", _COMPREHENSION),
    "SetComp": _form("SetComp", "elt", _COMPREHENSION),
    "DictComp": _form("DictComp", "key", "value", _COMPREHENSION),
    "GeneratorExp": _form("GeneratorExp", "elt", _COMPREHENSION),
    "Await": _form("Await", "value>expression"),
    "Yield": _form("Yield", "value"),
    "YieldFrom": _form("Yield", "value>item"),
    "Compare": _form("Comparison", "left", "ops>operator", "comparators>comparator"),
    "Call": _form("Call", "func", "args", "keywords>args"),
    "FormattedValue": _form("FormattedStringExpression", "value>expression", "conversion", "format_spec"),
    "JoinedStr": _form("FormattedString", "values>parts"),
    "Interpolation": _form("TemplatedStringExpression", "value>expression", "conversion", "format_spec"),
    "TemplateStr": _form("TemplatedString", "values>parts"),
    "Constant": _form("ConcatenatedString"),
    "Attribute": _form("Attribute", "value", "attr"),
    "Subscript": _form("Subscript", "value", "slice"),
    "Starred": _form("StarredElement", "value"),
    "Name": _form("Name"),
    "List": _form("List", "elts>elements"),
    "Tuple": _form("Tuple", "elts>elements"),
    "Slice": _form("Slice", "lower", "upper", "step"),
    # Patterns
    "match_case": _form("MatchCase", "pattern", "guard", "body"),
    "MatchValue": _form("MatchValue", "value"),
    "MatchSingleton": _form("MatchSingleton"),
    "MatchSequence": _form("MatchList", "patterns"),
    "MatchMapping": _form("MatchMapping", "keys>key", "patterns>pattern", "rest"),
    "MatchClass": _form("MatchClass", "cls", "patterns", "kwd_attrs>key", "kwd_patterns>pattern"),
    "MatchStar": _form("MatchStar", "name"),
    "MatchAs": _form("MatchAs", "pattern", "name"),
    "MatchOr": _form("MatchOr", "patterns"),
}

FORMS: Mapping[type[ast.AST], Form] = {
    getattr(ast, name): form for name, form in _NAMED.items() if hasattr(ast, name)
}
"""The form of every `ast` type that the running Python has."""


@cache
def numbered(qualifier: str, number: int) -> str:
    """The qualifier of one of several ordered children: `body1`, `body2`, ..."""
    return f"{qualifier}{number}"
