"""Make the table of signatures of the builtins and the standard library of the running Python.

    python tools/make_signatures.py

Modules written in Python are read from their source. Modules written in C are imported and inspected. What
neither says comes from `signatures_overlay.pyi`. Return types of Python functions are inferred by the resolver
itself, which reads the table: so it is made from inspection and overlay alone, then twice with inference on top.
"""

import ast
import contextlib
import gzip
import importlib
import inspect
import io
import keyword
import re
import sys
import sysconfig
import warnings
from pathlib import Path
from types import ModuleType

from hyperheat.pycode.calls import standard_library
from hyperheat.pycode.calls.abstract_values import Instance, Values
from hyperheat.pycode.calls.definitions import (
    Annotated,
    Assigned,
    Class,
    Function,
    Imported,
    ModuleDefinitions,
)
from hyperheat.pycode.calls.inference import Resolver
from hyperheat.pycode.calls.project import ProjectIndex

STDLIB = Path(sysconfig.get_paths()["stdlib"])
OVERLAY = Path(__file__).with_name("signatures_overlay.pyi")
LEFT_OUT = {
    "antigravity",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "test",
    "tests",
    "this",
    "turtledemo",
}
KEPT_DECORATORS = {
    *("staticmethod", "classmethod", "property", "cached_property", "abstractproperty"),
    *("contextmanager", "asynccontextmanager", "DynamicClassAttribute"),
}
FOUND = "__found__"  # stands for a parameter list that the overlay leaves to introspection

# A stub is the text of one definition; a class is a dict of stubs, its bases under the key "".
Stubs = dict[str, "str | Stubs"]


def main() -> None:
    names = _module_names()
    overlay = _overlay()
    compiled = {name: _inspected(name) for name in names if _source(name) is None}
    size = _write(_with_overlay(compiled, overlay))
    for _ in range(2):
        project = ProjectIndex.build(STDLIB)
        written = {name: _from_source(name, project) for name in names if name not in compiled}
        size = _write(_with_overlay({**compiled, **written}, overlay))
    print(f"{len(names)} modules, {size} bytes")


# Which modules there are


def _module_names() -> list[str]:
    names = {name for name in sys.stdlib_module_names if name not in LEFT_OUT}
    for path in STDLIB.rglob("*.py"):
        parts = path.relative_to(STDLIB).with_suffix("").parts
        if parts[0] in sys.stdlib_module_names and not LEFT_OUT & set(parts) and "idle_test" not in parts:
            names.add(".".join(part for part in parts if part != "__init__"))
    return sorted(name for name in names if not name.endswith("__main__"))


def _source(name: str) -> Path | None:
    base = STDLIB.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.exists():
            return path
    return None


# Modules in C, by introspection


def _imported(name: str) -> ModuleType | None:
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return None


def _inspected(name: str) -> Stubs:
    module = _imported(name)
    stubs: Stubs = {}
    for key, value in sorted(vars(module).items()) if module is not None else ():
        if not key.isidentifier() or keyword.iskeyword(key) or inspect.ismodule(value):
            continue
        if isinstance(value, type):
            stubs[key] = _inspected_class(value, name)
        elif callable(value):
            text = _inspected_function(key, value)
            if text:
                stubs[key] = text
        elif type(value).__module__ == "builtins" and value is not None:
            stubs[key] = f"{key}: {type(value).__name__}"
    return stubs


def _inspected_class(cls: type, module: str) -> Stubs | str:
    if cls.__module__ not in (module, "builtins") and cls.__module__ in sys.modules:
        home = vars(sys.modules[cls.__module__])
        if home.get(cls.__name__) is cls:
            return f"from {cls.__module__} import {cls.__name__}"
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    stubs: Stubs = {"": ", ".join(bases)}
    constructor = _inspected_function("__init__", cls, receiver=True)
    for key, value in sorted(vars(cls).items()):
        if isinstance(value, (staticmethod, classmethod)) or type(value).__name__ == "classmethod_descriptor":
            decorator = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
            text = _inspected_function(key, getattr(cls, key), receiver=decorator == "classmethod")
            if text:
                stubs[key] = f"@{decorator}\n{text}"
        elif callable(value) and not isinstance(value, type) and key not in ("__init__", "__new__"):
            text = _inspected_function(key, value)
            if text:
                stubs[key] = text
    if constructor:
        stubs["__init__"] = constructor
    return stubs


def _inspected_function(name: str, function: object, *, receiver: bool = False) -> str:
    try:
        signature = inspect.signature(function)  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError, AttributeError):
        return ""
    parts: list[str] = ["self"] if receiver else []
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    for i, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(part[0] for part in parts):
            parts.append("*")
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else "=..."
        parts.append(f"{star}{parameter.name.lstrip('$')}{default}")
        if parameter.kind is parameter.POSITIONAL_ONLY and kinds[i + 1 : i + 2] != [
            parameter.POSITIONAL_ONLY
        ]:
            parts.append("/")
    return _checked(f"def {name}({', '.join(parts)}): ...")


def _checked(text: str) -> str:
    """The text if it is Python; some introspected signatures are not."""
    try:
        ast.parse(text)
    except SyntaxError:
        return ""
    return text


# Modules in Python, by reading their source


class Writer:
    """Writes the definitions of one module as stubs, with the types that the resolver infers."""

    def __init__(self, module: ModuleDefinitions, resolver: Resolver) -> None:
        self.module = module
        self.resolver = resolver
        self.imports: dict[str, str] = {}

    def stubs(self) -> Stubs:
        stubs: Stubs = {}
        for name, bindings in self.module.bindings.items():
            for binding in bindings:
                stub = self._stub(name, binding, None)
                if stub:
                    stubs[name] = stub
                    break
        for star in self.module.star_imports:
            stubs[f"*{star.module}"] = f"from {'.' * star.level}{star.module} import *"
        return {**{f"import {alias}": text for alias, text in self.imports.items()}, **stubs}

    def _stub(self, name: str, binding: object, owner: Class | None) -> "str | Stubs":
        if isinstance(binding, Function):
            return self._function(binding)
        if isinstance(binding, Class):
            return self._class(binding)
        if isinstance(binding, Imported):
            return _import(name, binding)
        if isinstance(binding, Assigned):
            if isinstance(binding.value, (ast.Name, ast.Attribute)):
                return f"{name} = {ast.unparse(binding.value)}"
            made = binding.value
            if isinstance(made, ast.Call) and ast.unparse(made.func).endswith(("namedtuple", "NamedTuple")):
                return f"{name} = {ast.unparse(made)}"
            values = self.resolver.expression(made, self.module, owner, 3)
            annotation = self._annotation(values, owner)
            return f"{name}: {annotation}" if annotation else ""
        if isinstance(binding, Annotated):
            text = f"{name}: {ast.unparse(binding.annotation)}"
            return text if binding.value is None else f"{text} = ..."
        return ""

    def _function(self, function: Function) -> str:
        node = function.node
        if isinstance(node, ast.Lambda):
            return ""
        arguments = re.sub(r"\s+", " ", ast.unparse(_plain(node.args)))
        returns = ast.unparse(node.returns) if node.returns is not None else self._returns(function)
        decorators = "".join(f"@{name}\n" for name in function.decorators if name in KEPT_DECORATORS)
        prefix = "async " if isinstance(node, ast.AsyncFunctionDef) and node.returns is not None else ""
        arrow = f" -> {returns}" if returns else ""
        return f"{decorators}{prefix}def {function.name}({arguments}){arrow}: ..."

    def _returns(self, function: Function) -> str:
        receiver = None if function.owner is None else Instance(function.owner)
        values = self.resolver.returned(function, receiver, (), 3)
        if receiver is not None and values == (receiver,):
            return "Self"
        return self._annotation(values, None)

    def _class(self, cls: Class) -> Stubs:
        if cls.node is None:
            return {"": ""}
        keywords = [f"{k.arg}={ast.unparse(k.value)}" for k in cls.node.keywords if k.arg]
        stubs: Stubs = {"": ", ".join([*(ast.unparse(base) for base in cls.node.bases), *keywords])}
        decorators = [ast.unparse(node) for name, node in cls.decorators if name == "dataclass"]
        if decorators:
            stubs["@"] = decorators[0]
        for name, bindings in cls.members.items():
            for binding in bindings:
                stub = self._stub(name, binding, cls)
                if stub:
                    stubs[name] = stub
                    break
        for name in cls.attributes:
            if name not in stubs:
                values = self.resolver.attribute(Instance(cls), name, 3)
                annotation = self._annotation(values, cls)
                if annotation:
                    stubs[name] = f"{name}: {annotation}"
        return stubs

    def _annotation(self, values: Values, owner: Class | None) -> str:
        """The annotation for an object of one known class; nothing for several."""
        if len(values) != 1:
            return ""
        value = values[0]
        if isinstance(value, Class):
            name = self._reference(value)
            return f"type[{name}]" if name else ""
        if not isinstance(value, Instance):
            return ""
        name = self._reference(value.of)
        args = [self._annotation(arg, owner) for arg in value.args]
        return f"{name}[{', '.join(args)}]" if name and args and all(args) else name

    def _reference(self, cls: Class) -> str:
        """A name for a class in this module's stubs, imported if it is another module's."""
        module = cls.module
        if not any(binding is cls for binding in module.bindings.get(cls.name, ())):
            return ""
        if module is self.module:
            return cls.name
        if module.name == "builtins" and cls.name not in self.module.bindings:
            return cls.name
        alias = f"_{module.name}_{cls.name}".replace(".", "_")
        self.imports[alias] = f"from {module.name} import {cls.name} as {alias}"
        return alias


def _plain(arguments: ast.arguments) -> ast.arguments:
    """Parameters without annotations, their defaults as `...`."""

    def bare(argument: ast.arg) -> ast.arg:
        return ast.arg(argument.arg, None)

    dots = ast.Constant(...)
    return ast.arguments(
        posonlyargs=[bare(a) for a in arguments.posonlyargs],
        args=[bare(a) for a in arguments.args],
        vararg=arguments.vararg and bare(arguments.vararg),
        kwonlyargs=[bare(a) for a in arguments.kwonlyargs],
        kw_defaults=[default and dots for default in arguments.kw_defaults],
        kwarg=arguments.kwarg and bare(arguments.kwarg),
        defaults=[dots for _ in arguments.defaults],
    )


def _import(name: str, imported: Imported) -> str:
    source = "." * imported.level + imported.module
    if imported.name is not None:
        renamed = "" if name == imported.name else f" as {name}"
        return f"from {source} import {imported.name}{renamed}"
    return f"import {source}" if name == source else f"import {source} as {name}"


def _from_source(name: str, project: ProjectIndex) -> Stubs:
    module = project.module(name)
    return {} if module is None else Writer(module, Resolver(project)).stubs()


# The overlay, and writing


def _overlay() -> dict[str, Stubs]:
    text = re.sub(r"(def \w+)\(\.\.\.\)", rf"\1({FOUND})", OVERLAY.read_text())
    sections = (section.partition("\n") for section in text.split("#: ")[1:])
    return {name: _stubs_of(ast.parse(body).body) for name, _, body in sections}


def _stubs_of(body: list[ast.stmt]) -> Stubs:
    stubs: Stubs = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in statement.bases)
            stubs[statement.name] = {"": bases, **_stubs_of(statement.body)}
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            before = stubs.get(statement.name, "")
            text = ast.unparse(statement).replace(":\n    ...", ": ...")
            stubs[statement.name] = f"{before}\n{text}" if before and isinstance(before, str) else text
        elif isinstance(statement, ast.AnnAssign):
            stubs[ast.unparse(statement.target)] = ast.unparse(statement)
        elif isinstance(statement, ast.Assign):
            stubs[ast.unparse(statement.targets[0])] = ast.unparse(statement)
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                stubs[alias.asname or alias.name] = ast.unparse(ast.Import([alias]))
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                key = f"*{statement.module}" if alias.name == "*" else alias.asname or alias.name
                stubs[key] = ast.unparse(ast.ImportFrom(statement.module, [alias], statement.level))
    return stubs


def _with_overlay(table: dict[str, Stubs], overlay: dict[str, Stubs]) -> dict[str, Stubs]:
    merged = dict(table)
    for name, stubs in overlay.items():
        found = dict(table.get(name, {}))
        for key, stub in stubs.items():
            if isinstance(stub, dict) and not isinstance(found.get(key), dict):
                # A class made in C that a module in Python passes on, such as `re.Pattern`.
                live = getattr(_imported(name), key, None)
                found[key] = _inspected_class(live, live.__module__) if isinstance(live, type) else {"": ""}
        merged[name] = _laid_over(found, stubs)
    return merged


def _laid_over(found: Stubs, overlay: Stubs) -> Stubs:
    merged: Stubs = dict(found)
    for name, stub in overlay.items():
        below = merged.get(name)
        if isinstance(stub, dict):
            under = below if isinstance(below, dict) else {}
            merged[name] = _laid_over(under, {**stub, "": under.get("") or stub[""]})
        elif FOUND in stub:
            if isinstance(below, str) and below.startswith(("def", "async", "@")):
                returns = stub.partition(f"({FOUND})")[2].removesuffix(": ...")
                head = re.sub(r"( -> .*)?: \.\.\.$", "", below)
                merged[name] = f"{head}{returns}: ..."
        else:
            merged[name] = stub
    return merged


def _lines(stubs: Stubs, indent: str = "") -> list[str]:
    lines: list[str] = []
    for name, stub in stubs.items():
        if isinstance(stub, dict):
            bases = f"({stub['']})" if stub[""] else ""
            lines += [f"{indent}@{stub['@']}"] if "@" in stub else []
            inner = _lines({key: value for key, value in stub.items() if key not in ("", "@")}, indent + " ")
            lines += [f"{indent}class {name}{bases}:", *(inner or [f"{indent} ..."])]
        else:
            lines += [indent + line for line in stub.split("\n")]
    return lines


def _write(table: dict[str, Stubs]) -> int:
    sections = []
    for name, stubs in sorted(table.items()):
        text = "\n".join(_lines(stubs))
        ast.parse(text)
        sections.append(f"#: {name}\n{text}\n")
    path = Path(standard_library.__file__).with_name(standard_library.TABLE)
    path.write_bytes(gzip.compress("".join(sections).encode(), mtime=0))
    standard_library.stdlib_module.cache_clear()
    standard_library.sections.cache_clear()
    return path.stat().st_size


if __name__ == "__main__":
    main()
