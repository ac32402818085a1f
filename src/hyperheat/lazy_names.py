"""Public names that load on first use, so that importing a package is quick and needs no optional dependencies."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str], public: Iterable[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

        if not TYPE_CHECKING:
            __getattr__, __dir__ = lazy_names(__name__, {"Detector": "detector"}, __all__)

    `homes` maps each lazy name to the submodule that defines it; a submodule that is public itself maps to its own name.
    `public` are the names that `dir` shows. Type checkers read imports under `if TYPE_CHECKING` instead, so that they
    report misspelled names.
    """
    shown = sorted(public)

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it offers {', '.join(shown)}",
                name=name,
            )
        home = homes[name]
        try:
            module = import_module(f"{package}.{home}")
        except ModuleNotFoundError as error:
            if error.name == "torch":
                raise ModuleNotFoundError(
                    f"{package}.{name} needs torch: pip install 'hyperheat[train]'", name="torch"
                ) from error
            raise
        return module if home == name else getattr(module, name)

    return load, lambda: list(shown)
