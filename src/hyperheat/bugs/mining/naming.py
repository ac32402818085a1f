"""Under which name the package of a repository is released, so that both are put in the same split."""

import re
import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigError

from hyperheat.bugs.corpus.packages import normalise
from hyperheat.bugs.mining.git import Objects, Repository

__all__ = ["package_of"]

_MAX_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,100}[A-Za-z0-9])?")
_SETUP_NAME = re.compile(r"""\bname\s*=\s*["']([^"'\n]+)["']|^NAME\s*=\s*["']([^"'\n]+)["']""", re.MULTILINE)


def package_of(repository: Repository) -> str:
    """The name that the newest commit declares in `pyproject.toml`, `setup.cfg` or `setup.py`, or that of the repository."""
    head = repository.head()
    if head is not None:
        with Objects(repository) as objects:
            for file, read in (
                ("pyproject.toml", _from_pyproject),
                ("setup.cfg", _from_setup_cfg),
                ("setup.py", _from_setup),
            ):
                contents = objects.read(f"{head}:{file}")
                name = (
                    read(contents.decode(errors="replace")) if contents and len(contents) < _MAX_BYTES else ""
                )
                if _NAME.fullmatch(name):
                    return normalise(name)
    return normalise(repository.name.partition("/")[2])


def _from_pyproject(text: str) -> str:
    try:
        settings = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""
    tools = _table(settings, "tool")
    for table in (
        _table(settings, "project"),
        _table(tools, "poetry"),
        _table(_table(tools, "flit"), "metadata"),
    ):
        if isinstance(name := table.get("name", table.get("dist-name")), str):
            return name
    return ""


def _table(settings: dict[str, object], name: str) -> dict[str, object]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def _from_setup_cfg(text: str) -> str:
    settings = ConfigParser(interpolation=None, strict=False)
    try:
        settings.read_string(text)
        return settings.get("metadata", "name", fallback="").strip()
    except ConfigError:
        return ""


def _from_setup(text: str) -> str:
    found = _SETUP_NAME.search(text)
    return (found[1] or found[2]).strip() if found else ""
