"""The two passes over one package, as functions that any process on any machine can call.

All they share is the folder of the corpus. Each leaves a record when it is done, and does nothing if there is one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.download import fetch_wheel
from hyperheat.bugs.corpus.index import index_package
from hyperheat.bugs.corpus.packages import CorpusError, Package
from hyperheat.bugs.corpus.random_bugs import make_shard
from hyperheat.bugs.corpus.records import read_record, write_record
from hyperheat.bugs.corpus.settings import Settings, Workspace
from hyperheat.bugs.corpus.sources import Sources, read_folder, read_wheel
from hyperheat.files import file_sha256

__all__ = ["Job", "index", "is_made", "make", "samples_in"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One package of one corpus."""

    package: Package
    out: Path
    settings: Settings

    @property
    def name(self) -> str:
        """The name of the package."""
        return self.package.name


def index(job: Job) -> int:
    """Pass one: get the package, if it has to be downloaded, and index it; the number of its files."""
    space = Workspace(job.out)
    record = space.indexes / f"{job.name}.json"
    if not record.exists():
        sources, facts = _read(job, space)
        index_package(job.name, sources, facts, space.indexes)
    return len(read_record(record)["files"])


def make(job: Job) -> int:
    """Pass two: make the samples that the plan asks for; the number of samples."""
    space = Workspace(job.out)
    record = space.made / f"{job.name}.json"
    if not is_made(space, job.name):
        sources, facts = _read(job, space)
        if sources.sha256 != read_record(space.indexes / f"{job.name}.json")["sources_sha256"]:
            raise CorpusError("expected the files of pass one, got files that have changed since")
        plan = read_record(space.plans / f"{job.name}.json")["files"]
        made = make_shard(job.name, sources, facts["version"], plan, job.settings, space.out, space.unpacked)
        write_record(record, made)
    return samples_in(read_record(record))


def is_made(space: Workspace, name: str) -> bool:
    """Whether the samples of a package are there, as they were made."""
    record = space.made / f"{name}.json"
    if not record.exists():
        return False
    shard = read_record(record)["shard"]
    if shard is None:
        return True
    path = space.out / shard["path"]
    return path.exists() and file_sha256(path) == shard["sha256"]


def samples_in(made: dict[str, Any]) -> int:
    """The number of samples in the record of a package."""
    return made["shard"]["samples"] if made["shard"] else 0


def _read(job: Job, space: Workspace) -> tuple[Sources, dict[str, Any]]:
    """The files of a package, and where they are from."""
    if job.package.folder:
        sources = read_folder(Path(job.package.folder), with_tests=job.settings.with_tests)
        return sources, {"archive": "", "version": "", "sha256": sources.sha256}
    wheel, facts = fetch_wheel(job.package, space.archives)
    return read_wheel(wheel, with_tests=job.settings.with_tests), facts
