"""A current folder that holds modules with the names of those that are run."""

from pathlib import Path

import pytest

from hyperheat.bugs.corpus import package_sources
from hyperheat.bugs.corpus.packages import CorpusError, Package, PassingError


def test_pip_is_not_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("pip", "logging", "subprocess"):
        (tmp_path / f"{name}.py").write_text(f"open('ran-{name}', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(package_sources, "_ATTEMPTS", 1)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises((CorpusError, PassingError), match="No matching distribution"):
        package_sources.fetch_wheel(Package(name="nothing-of-this-name"), tmp_path)
    assert list(tmp_path.glob("ran-*")) == []
