"""Models by name: the one in the package, those of installed packages, and those in a folder of the user.

    load_model("strict")        # a name that `hyperheat models` lists
    load_model("./mine")        # a folder: only the command line and programs can give one
    load_model(None)            # the model in the package

A package offers models through entry points; the value is the folder of the model, as a dotted name, inside the
distribution. No code of it is imported:

    [project.entry-points."hyperheat.models"]
    strict = "acme_models.strict"

The folder of the user has a sub-folder for each model, and must not be writable by others:

    Linux      $XDG_DATA_HOME/hyperheat/models, or ~/.local/share/hyperheat/models
    macOS      ~/Library/Application Support/hyperheat/models
    Windows    %LOCALAPPDATA%\\hyperheat\\Models
    anywhere   $HYPERHEAT_MODELS
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

import hyperheat
from hyperheat.check.cache import refuse_shared
from hyperheat.check.settings import MODEL_NAME
from hyperheat.detector.detector import BUILT_IN, Detector, load_detector
from hyperheat.spelling import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "MODELS_VARIABLE", "InstalledModel", "find_model", "installed_models", "load_model"]

GROUP = "hyperheat.models"
"""The group of entry points."""
MODELS_VARIABLE = "HYPERHEAT_MODELS"
"""The environment variable that names the folder of the user."""


@dataclass(frozen=True, kw_only=True)
class InstalledModel:
    """A model that has a name; its folder may turn out not to hold one."""

    name: str
    folder: Path | None
    """None for the model in the package."""
    version: str
    """That of the distribution it comes from; empty in the folder of the user."""
    source: str
    """Where it comes from, for a reader."""

    def load(self) -> Detector:
        """The detector. Raises ValueError in one sentence if its files are not what they should be."""
        return load_detector(self.folder, name=self.name)


def load_model(text: str | None, *, setting: str | None = None) -> Detector:
    """The detector of a name or in a folder; else that of the name in a setting; else the one in the package.

    A setting comes with a project, which may come from anyone: it is a name and never a folder. Raises ValueError in one
    sentence.
    """
    if text is None:
        return load_detector() if setting is None else _named(setting, "").load()
    folder = Path(text)
    if find_model(text) is None:
        if folder.is_dir():
            return load_detector(folder)
        if os.path.lexists(folder):
            raise ValueError(f"{text}: expected the name of an installed model or a folder, got a file")
        if not MODEL_NAME.fullmatch(text):
            raise ValueError(f"{text}: there is no such folder")
    return _named(text, ", and there is no such folder").load()


def _named(name: str, more: str) -> InstalledModel:
    model = find_model(name)
    if model is None:
        names = [model.name for model in installed_models()]
        hint = did_you_mean(name, names, otherwise="`hyperheat models` lists those that are installed")
        raise ValueError(f"{name}: no model of this name is installed{more}; {hint}")
    return model


def find_model(name: str) -> InstalledModel | None:
    """The installed model of a name. Raises ValueError if there are two of them."""
    if not MODEL_NAME.fullmatch(name):
        return None
    found = [model for model in installed_models() if model.name == name]
    if len(found) > 1:
        sources = " and ".join(model.source for model in found)
        raise ValueError(f"{name}: two models of this name are installed: {sources}")
    return found[0] if found else None


def installed_models() -> list[InstalledModel]:
    """All models that have a name: the one in the package first, the others by name."""
    others = sorted((*_of_packages(), *_of_user()), key=lambda model: (model.name, model.source))
    own = InstalledModel(
        name=BUILT_IN, folder=None, version=hyperheat.__version__, source="the hyperheat package"
    )
    return [own, *(model for model in others if model.name != BUILT_IN)]


def _of_packages() -> Iterator[InstalledModel]:
    from importlib.metadata import entry_points  # which takes longer to load than all the rest of this

    for point in entry_points(group=GROUP):
        folder = _folder_of(point)
        if folder is not None and MODEL_NAME.fullmatch(point.name):
            name, version = (point.dist.name, point.dist.version) if point.dist else ("a package", "")
            yield InstalledModel(
                name=point.name,
                folder=folder,
                version=version,
                source=f"the package {name} {version}".rstrip(),
            )


def _folder_of(point: "EntryPoint") -> Path | None:
    """The folder that an entry point names, found without importing anything."""
    top, *rest = point.value.replace(":", ".").split(".")
    spec = PathFinder.find_spec(top)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location, *rest)
        if folder.is_dir():
            return folder
    return None


def _of_user() -> Iterator[InstalledModel]:
    folder = _user_folder()
    if folder is None or not folder.is_dir():
        return
    refuse_shared(folder, what="for models", hint=f"remove it, or name another folder with {MODELS_VARIABLE}")
    for path in sorted(folder.iterdir()):
        if path.is_dir() and MODEL_NAME.fullmatch(path.name):
            yield InstalledModel(name=path.name, folder=path, version="", source=str(path))


def _user_folder() -> Path | None:
    """The user's folder of models, which need not exist; None if the user has no home."""
    named = os.environ.get(MODELS_VARIABLE)
    if named:
        if not os.path.isabs(named):
            raise ValueError(f"{MODELS_VARIABLE}: expected an absolute path, got {named!r}")
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "hyperheat" / "models"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "hyperheat" / "Models"
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if os.path.isabs(base) else home / ".local" / "share") / "hyperheat" / "models"
