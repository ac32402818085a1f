"""The texts of scanned files that formats ask for, read again when they are needed."""

from collections.abc import Iterable, Iterator, Mapping

from hyperheat.check.records import ScannedFile
from hyperheat.report.source import SourceText

__all__ = ["Sources"]

_KEPT = 4  # findings come in the order of their files


class Sources(Mapping[str, SourceText]):
    """Texts by path, a few of which are held in memory; a file that has changed since it was scanned has none."""

    def __init__(self, files: Iterable[ScannedFile]) -> None:
        self._files = {file.path: file for file in files if file.functions}
        self._kept: dict[str, SourceText | None] = {}

    def __getitem__(self, path: str) -> SourceText:
        if path not in self._kept:
            text = self._files[path].text()
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = text
        text = self._kept[path]
        if text is None:
            raise KeyError(path)
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
