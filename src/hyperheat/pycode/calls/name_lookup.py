"""Where names lead: from a name of a module or an attribute of a value to definitions, across files and bases.

Every answer is a function of the question and of `fuel`, the number of further steps of inference that it may
take, so that answers do not depend on the order of questions.
"""

import ast
from abc import ABC, abstractmethod
from typing import Any

from hyperheat.pycode.calls.abstract_values import Bound, Instance, ModuleValue, Super, Value, Values, union
from hyperheat.pycode.calls.definitions import (
    Annotated,
    Assigned,
    Binding,
    Class,
    Function,
    Imported,
    ModuleDefinitions,
)
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.pycode.calls.standard_library import stdlib_module

__all__ = ["NameLookup"]

# The real `typing` is made by metaprogramming; the table says what its names mean.
_ALWAYS_FROM_TABLE = ("builtins", "typing")


class NameLookup(ABC):
    """Answers about names in one project (or in no project: then only in the module itself and the table)."""

    def __init__(self, project: ProjectIndex | None) -> None:
        self.project = project
        self._open: set[Any] = set()  # questions being answered, to notice cycles of imports and of bases
        self._cycles = 0
        self._instances: dict[str, Values] = {}

    @abstractmethod
    def expression(
        self, node: ast.expr, module: ModuleDefinitions, around: Class | None, fuel: int
    ) -> Values:
        """The values of an expression that stands at the top level of a module or class."""

    @abstractmethod
    def base(self, node: ast.expr, of: Class, fuel: int) -> Values:
        """The values of an expression in the list of a class's bases."""

    @abstractmethod
    def annotation(
        self, node: ast.expr, module: ModuleDefinitions, around: Class | None, fuel: int
    ) -> Values:
        """The values that an annotation allows."""

    @abstractmethod
    def in_method(self, binding: Binding, method: Function, fuel: int) -> Values:
        """The values that a function assigns to a global name or to an attribute of `self`."""

    @abstractmethod
    def returned(self, function: Function, receiver: Value | None, given: Values, fuel: int) -> Values:
        """The values that a call may return; `given` are those of its first argument."""

    @abstractmethod
    def given(self, function: Function, fuel: int) -> dict[str, Values]:
        """The values that calls in the same module pass for each parameter."""

    # Modules

    def module(self, name: str, importer: ModuleDefinitions | None = None) -> ModuleDefinitions | None:
        """The module of a dotted name: of the project, else of the standard library."""
        table = stdlib_module(name)
        if self.project is None or (importer is not None and importer.is_library):
            return table
        if table is not None and self._prefers_table(name):
            return table
        return self.project.module(name, importer) or table

    def _prefers_table(self, name: str) -> bool:
        """Whether the table says more about a module than its source in the project."""
        project = self.project
        return name in _ALWAYS_FROM_TABLE or (project is not None and project.is_standard_library)

    def names(self, module: ModuleDefinitions, name: str, fuel: int) -> Values:
        """The values of a name at the top level of a module, builtins included."""
        found = self.exported(module, name, fuel)
        if found or name in module.bindings or name in module.global_assignments:
            return found
        builtins = stdlib_module("builtins")
        return () if builtins is None else self.exported(builtins, name, fuel)

    def exported(self, module: ModuleDefinitions, name: str, fuel: int) -> Values:
        """The values of a name that a module itself binds, star imports included."""
        memo = self._memo(module)
        key = (name, fuel)
        if key in memo:
            return memo[key]
        question = (module, name, fuel)
        if question in self._open:
            self._cycles += 1
            return ()
        cycles = self._cycles
        self._open.add(question)
        found = self._bound_names(module.bindings.get(name, ()), module, fuel)
        if not found and fuel > 0:
            assigned = module.global_assignments.get(name, ())
            found = union([self.in_method(binding, function, fuel - 1) for binding, function in assigned])
        if not found and name not in module.bindings:
            found = self._through_stars(module, name, fuel)
        self._open.discard(question)
        if cycles == self._cycles:  # answers from inside a cycle are partial
            memo[key] = found
        return found

    def _bound_names(self, bindings: tuple[Binding, ...], module: ModuleDefinitions, fuel: int) -> Values:
        for binding in reversed(bindings):
            if type(binding) is Imported and binding.tried:
                found = self.imported(binding, module, fuel)
                if found:
                    return found
        return union([self.bound(binding, module, None, fuel) for binding in bindings])

    def imported(self, imported: Imported, module: ModuleDefinitions, fuel: int) -> Values:
        """The values that an import statement binds to a name."""
        source = self._absolute(imported, module)
        target = None if source is None else self._imported_module(source, module, fuel)
        if target is None:
            return ()
        if imported.name is None:
            return (ModuleValue(target),)
        return self.exported(target, imported.name, fuel) or self._submodule(target, imported.name)

    def _imported_module(self, name: str, module: ModuleDefinitions, fuel: int) -> ModuleDefinitions | None:
        """The module of a dotted name, also where a package only passes it on, as `os` does with `os.path`."""
        found = self.module(name, module)
        parent, _, last = name.rpartition(".")
        if found is None and parent:
            package = self.module(parent, module)
            values = () if package is None else self.exported(package, last, fuel)
            return next((value.module for value in values if type(value) is ModuleValue), None)
        return found

    def _through_stars(self, module: ModuleDefinitions, name: str, fuel: int) -> Values:
        if not module.star_imports:
            return ()
        memo = self._memo(module)
        if "stars" not in memo:
            memo["stars"] = self._starred(module, {module})
        source = memo["stars"].get(name)
        return () if source is None else self.exported(source, name, fuel)

    def _starred(
        self, module: ModuleDefinitions, seen: set[ModuleDefinitions]
    ) -> dict[str, ModuleDefinitions]:
        """The names that a module's star imports bind, each with the module that defines it."""
        found: dict[str, ModuleDefinitions] = {}
        for star in module.star_imports:
            name = self._absolute(star, module)
            target = None if name is None else self.module(name, module)
            if target is not None and target not in seen:
                seen.add(target)
                names = {**self._starred(target, seen), **dict.fromkeys(target.bindings, target)}
                found.update((name, source) for name, source in names.items() if target.offers(name))
        return found

    def _submodule(self, package: ModuleDefinitions, name: str) -> Values:
        if not package.name:
            return ()
        found = self.module(f"{package.name}.{name}", package)
        return () if found is None else (ModuleValue(found),)

    @staticmethod
    def _absolute(imported: Imported, module: ModuleDefinitions) -> str | None:
        """The absolute dotted name of an import's module."""
        if not imported.level:
            return imported.module
        if not module.name:
            return None
        parts = module.name.split(".")
        drop = imported.level - 1 if module.is_package else imported.level
        if drop >= len(parts):
            return None
        base = parts[: len(parts) - drop]
        return ".".join([*base, imported.module] if imported.module else base)

    def bound(self, binding: Binding, module: ModuleDefinitions, around: Class | None, fuel: int) -> Values:
        """The values of one binding at the top level of a module or class."""
        kind = type(binding)
        if kind is Function or kind is Class:
            return (binding,)  # pyright: ignore[reportReturnType]
        if isinstance(binding, Imported):
            return self.imported(binding, module, fuel)
        if fuel <= 0:
            return ()
        if isinstance(binding, Assigned):
            return self.expression(binding.value, module, around, fuel - 1)
        if isinstance(binding, Annotated):
            found = self.annotation(binding.annotation, module, around, fuel - 1)
            if not found and binding.value is not None:
                found = self.expression(binding.value, module, around, fuel - 1)
            return found
        return ()

    # Classes

    def instance(self, name: str) -> Values:
        """An object of a class of the builtins."""
        found = self._instances.get(name)
        if found is None:
            found = self._instances[name] = (Instance(self.builtin(name)),)
        return found

    def metaclass(self, of: Class, fuel: int) -> Class | None:
        """The metaclass that a class or one of its bases names."""
        for cls in self.mro(of, fuel)[0]:
            for keyword in cls.node.keywords if cls.node is not None else ():
                if keyword.arg == "metaclass":
                    found = [value for value in self.base(keyword.value, cls, fuel) if type(value) is Class]
                    return found[0] if found else None
        return None

    def builtin(self, name: str) -> Class:
        """A class of the builtins, `str` for example."""
        module = stdlib_module("builtins")
        found = () if module is None else module.bindings.get(name, ())
        if not found or type(found[0]) is not Class:
            raise KeyError(f"builtins: expected a class named {name!r} in the signature table, got {found!r}")
        return found[0]

    def bases(self, of: Class, fuel: int) -> tuple[tuple[Class, ...], bool]:
        """The base classes that can be found, and whether these are all."""
        if of.node is None:
            return (self.builtin("tuple"),), True
        memo = self._memo(of.module)
        key = (of, "bases", fuel)
        if key not in memo:
            memo[key] = ((), False)  # what a class sees that is its own base
            found: list[Class] = []
            complete = True
            for node in of.node.bases:
                values = self.base(node, of, fuel)
                classes = [value for value in values if type(value) is Class and value is not of]
                complete = complete and bool(classes)
                found += classes[:1]
            memo[key] = (tuple(found), complete)
        return memo[key]

    def mro(self, of: Class, fuel: int) -> tuple[tuple[Class, ...], bool]:
        """The class and its bases in lookup order, without `object`, and whether all bases are known."""
        memo = self._memo(of.module)
        key = (of, "mro", fuel)
        if key not in memo:
            try:
                memo[key] = self._linearise(of, fuel, ())
            except RecursionError:  # hundreds of classes, each the base of the next
                memo[key] = ((of,), False)
        return memo[key]

    def _linearise(self, of: Class, fuel: int, below: tuple[Class, ...]) -> tuple[tuple[Class, ...], bool]:
        bases, complete = self.bases(of, fuel)
        order: list[Class] = [of]
        for base in bases:
            if base in below or base is of:
                continue
            above, known = self._linearise(base, fuel, (*below, of))
            complete = complete and known
            # A base shared by two parents comes after both.
            order = [cls for cls in order if cls not in above] + list(above)
        return tuple(order), complete

    def member(self, of: Class, name: str, fuel: int) -> tuple[tuple[Binding, ...], Class] | None:
        """The bindings of a name in the first class of the lookup order that has it, and that class."""
        for cls in self.mro(of, fuel)[0]:
            found = cls.members.get(name)
            if found is not None:
                return found, cls
        return None

    # Attributes

    def attribute(self, value: Value, name: str, fuel: int) -> Values:
        """The values of `value.name`."""
        if type(value) is Instance:
            return self._of_instance(value.of, name, value, fuel)
        if type(value) is Class:
            return self._of_class(value, name, fuel)
        if type(value) is ModuleValue:
            found = self.exported(value.module, name, fuel)
            if len(found) > 1 and all(type(v) is ModuleValue for v in found):
                found = found[:1]  # variants of one module for several platforms
            return found or self._submodule(value.module, name)
        if type(value) is Super:
            return self._of_super(value, name, fuel)
        return ()

    def _of_instance(self, of: Class, name: str, receiver: Instance, fuel: int) -> Values:
        if name == "__class__":
            return (of,)
        found = self.member(of, name, fuel)
        values: Values = ()
        if found is not None:
            bindings, cls = found
            values = union([self._taken(b, cls, receiver, fuel) for b in bindings])
        return values or self._assigned_in_methods(of, name, fuel) or self._of_object(name, receiver, fuel)

    def _of_object(self, name: str, receiver: Instance | Class, fuel: int) -> Values:
        root = self.builtin("object")
        return union([self._taken(b, root, receiver, fuel) for b in root.members.get(name, ())])

    def _assigned_in_methods(self, of: Class, name: str, fuel: int) -> Values:
        if fuel <= 0:
            return ()
        memo = self._memo(of.module)
        key = (of, "attribute", name, fuel)
        if key not in memo:
            memo[key] = ()
            for cls in self.mro(of, fuel)[0]:
                pairs = cls.attributes.get(name, ())
                found = union([self.in_method(binding, method, fuel - 1) for binding, method in pairs])
                if found:
                    memo[key] = found
                    break
        return memo[key]

    def _of_class(self, of: Class, name: str, fuel: int) -> Values:
        found = self.member(of, name, fuel)
        if found is None:
            return self._of_instance(self.builtin("type"), name, Instance(self.builtin("type")), fuel)
        bindings, cls = found
        return union([self._taken(b, cls, of, fuel) for b in bindings])

    def _of_super(self, value: Super, name: str, fuel: int) -> Values:
        order, complete = self.mro(value.of, fuel)
        for cls in order[1:]:
            bindings = cls.members.get(name)
            if bindings is not None:
                return union([self._taken(b, cls, value.receiver, fuel) for b in bindings])
        return self._of_object(name, value.receiver, fuel) if complete else ()

    def _taken(self, binding: Binding, cls: Class, receiver: Instance | Class, fuel: int) -> Values:
        """A class member as it is seen through an object or a class."""
        if type(binding) is Function:
            return self._method(binding, receiver, fuel)
        values = self.bound(binding, cls.module, cls, fuel)
        return union([self._method(v, receiver, fuel) if type(v) is Function else (v,) for v in values])

    def _method(self, function: Function, receiver: Instance | Class, fuel: int) -> Values:
        kind = function.kind
        if kind == "property":
            return self.returned(function, receiver, (), fuel) if type(receiver) is Instance else ()
        if kind == "staticmethod":
            return (function,)
        if kind == "classmethod":
            return (Bound(function, receiver.of if type(receiver) is Instance else receiver),)
        return (Bound(function, receiver),) if type(receiver) is Instance else (function,)

    def _memo(self, module: ModuleDefinitions) -> dict[Any, Any]:
        project = None if module.is_library else self.project  # no project changes what the library means
        memo = module.memo.get(project)
        if memo is None:
            memo = module.memo[project] = {}
        return memo
