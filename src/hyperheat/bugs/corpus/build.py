"""A corpus from packages: index them all, drop duplicates, and make samples of the rest.

Each step leaves its result in the corpus folder, complete or not at all. A build that was stopped continues where it
left off; the result depends neither on that nor on the number of workers.
"""

import platform
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hyperheat
from hyperheat.bugs.corpus.corpus_settings import CorpusSettings
from hyperheat.bugs.corpus.duplicates import PackageIndex, index_package, plan_packages
from hyperheat.bugs.corpus.jobs import run_each
from hyperheat.bugs.corpus.package_sources import (
    PARTIAL,
    PackageSources,
    fetch_wheel,
    read_folder,
    read_wheel,
)
from hyperheat.bugs.corpus.packages import CorpusError, Package, split_of
from hyperheat.bugs.corpus.random_bugs import make_shard
from hyperheat.bugs.corpus.workspace import Workspace, hold_lock, load_record, save_record
from hyperheat.bugs.dataset import HEAD, SPLITS
from hyperheat.bugs.shards import check_parquet
from hyperheat.detector.sample import DENSE
from hyperheat.files import file_sha256
from hyperheat.rewrites import KINDS
from hyperheat.rewrites.planting import MIN_CANDIDATES

__all__ = ["Built", "build_corpus", "summarise"]


@dataclass(frozen=True, kw_only=True)
class Built:
    """The manifest of a corpus; how many of its samples this run made, and in how many seconds."""

    manifest: dict[str, Any]
    samples_made: int
    seconds: float


@dataclass(frozen=True)
class _Where:
    """The number of processes on this machine, or the address of a cluster."""

    workers: int
    ray: str | None


@dataclass(frozen=True, kw_only=True)
class PackageJob:
    """One package of one corpus."""

    package: Package
    out: Path
    settings: CorpusSettings

    @property
    def name(self) -> str:
        """The name of the package."""
        return self.package.name


def build_corpus(
    packages: list[Package],
    out: Path,
    settings: CorpusSettings,
    *,
    beside: Sequence[Path] = (),
    workers: int = 2,
    ray: str | None = None,
) -> Built:
    """Build a corpus in a folder, or finish the one begun there with the same settings.

    Packages are split as a whole; if that leaves a split empty because they are few, their files are split instead.
    What the corpora `beside` it hold already counts as a duplicate.
    """
    check_parquet()
    out = out.resolve()
    if {split_of(package.name, settings.seed) for package in packages} != {*SPLITS}:
        settings = replace(settings, split_files=True)
    space = Workspace(out)
    where = _Where(workers, ray)
    with _alone(space):
        begun = _begin(space, packages, settings, beside)
        jobs = [PackageJob(package=package, out=out, settings=settings) for package in packages]
        planned = _plan(space, jobs, beside, where)
        jobs = [job for job in jobs if job.name in planned["packages"]]
        left = [job for job in jobs if not is_made(space, job.name)]
        start = time.monotonic()
        made, failed = _run_all(make_job, left, where, "making", "samples")
        seconds = time.monotonic() - start
        names = [job.name for job in jobs if job.name not in failed]
        manifest = make_manifest(space, names, begun, {**planned["failed"], **failed})
        if not manifest["shards"]:
            files = manifest["counts"]["files"]
            raise CorpusError(
                f"none of the functions in {files} files has {MIN_CANDIDATES} or more places to plant a bug"
            )
        save_record(out / "manifest.json", manifest)
    return Built(manifest=manifest, samples_made=made, seconds=seconds)


def _begin(
    space: Workspace, packages: list[Package], settings: CorpusSettings, beside: Sequence[Path]
) -> dict[str, Any]:
    """Record what is being built, or check that it is the same as before."""
    others = {"beside": [_manifest_sha256(folder) for folder in beside]} if beside else {}
    record = {
        "settings": {
            **settings.to_plain(),
            "names": [_requirement(package) for package in packages],
            **others,
        },
        "hyperheat": hyperheat.__version__,
        "python": platform.python_version(),
    }
    if space.settings.exists():
        before = load_record(space.settings)
        if not space.planned.exists():  # until then, packages do not depend on each other
            before["settings"]["names"] = record["settings"]["names"]
        flat, flat_before = ({**r, **r["settings"]} for r in (record, before))
        for key in sorted((flat.keys() | flat_before.keys()) - {"settings"}):
            if flat.get(key) != flat_before.get(key):
                before_value, value = (_brief(key, r.get(key)) for r in (flat_before, flat))
                raise CorpusError(
                    f"{space.out}: this corpus was started with {key} = {before_value}, not {value}; choose another folder"
                )
    save_record(space.settings, record)
    space.make_folders()
    return record


def _manifest_sha256(folder: Path) -> str:
    """Which corpus is in a folder, if it still has what finding duplicates needs."""
    if not (folder / "manifest.json").exists() or not Workspace(folder).planned.exists():
        raise CorpusError(
            f"{folder}: expected a finished corpus with its folder .work, which duplicates are looked up in"
        )
    return file_sha256(folder / "manifest.json")


def _plan(space: Workspace, jobs: list[PackageJob], beside: Sequence[Path], where: _Where) -> dict[str, Any]:
    """Index the packages and plan what each contributes; from then on the list of packages is fixed."""
    if not space.planned.exists():
        left = [job for job in jobs if not (space.indexes / f"{job.name}.json").exists()]
        _, failed = _run_all(index_job, left, where, "reading", "files")
        indexes = {
            job.name: PackageIndex.read(space.indexes, job.name) for job in jobs if job.name not in failed
        }
        if not indexes:
            name, reason = next(iter(failed.items()))
            raise CorpusError(f"none of the packages can be read; {name}: {reason}")
        others = [
            PackageIndex.read(other.indexes, name)
            for other in map(Workspace, beside)
            for name in load_record(other.planned)["packages"]
        ]
        for name, plan in plan_packages(indexes, others).items():
            save_record(space.plans / f"{name}.json", plan)
        save_record(space.planned, {"packages": sorted(indexes), "failed": failed})
    return load_record(space.planned)


def _run_all(
    stage: Callable[[PackageJob], int], jobs: list[PackageJob], where: _Where, title: str, unit: str
) -> tuple[int, dict[str, str]]:
    """Run all jobs; return the sum of their counts and why some failed.

    A failure that says nothing about the package ends the build, or the corpus would depend on it.
    """
    total, failed = run_each(stage, jobs, title=title, unit=unit, workers=where.workers, ray=where.ray)
    passing = [name for name, result in failed.items() if result.passing]
    if passing:
        raise CorpusError(
            f"{len(passing)} packages failed, the first is {passing[0]}: {failed[passing[0]].problem}; run the same "
            "command again to retry them, all others are kept"
        )
    return total, {name: result.problem for name, result in failed.items()}


@contextmanager
def _alone(space: Workspace) -> Iterator[None]:
    """Lock the folder, and remove what an interrupted build left behind."""
    if space.out.exists():
        others = [path for path in space.out.iterdir() if path != space.work]
        if others and not space.settings.exists():
            raise CorpusError(
                f"{space.out} holds other files; choose a new or empty folder, or a corpus to continue"
            )
    with hold_lock(space.work, f"another build is running in {space.out}"):
        _tidy(space)
        try:
            yield
        finally:
            _tidy(space)


def _tidy(space: Workspace) -> None:
    for path in space.out.rglob(".*.tmp"):
        path.unlink(missing_ok=True)
    for folder in (*space.unpacked.glob("*"), *space.archives.glob(f".*{PARTIAL}")):
        shutil.rmtree(folder, ignore_errors=True)


def _requirement(package: Package) -> str:
    return f"{package.name}=={package.version}" if package.version else package.name


def _brief(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return "those of other bugs"
    unit = "corpora" if key == "beside" else "names"
    return f"{len(value)} {unit}" if isinstance(value, list) else str(value)


# The two passes over one package, which any process on any machine can run: all they share is the folder.


def index_job(job: PackageJob) -> int:
    """Pass one: download the package if needed, index it, and return the number of its files."""
    space = Workspace(job.out)
    record = space.indexes / f"{job.name}.json"
    if not record.exists():
        sources, facts = _read_package(job, space)
        index_package(job.name, sources, facts, space.indexes)
    return len(load_record(record)["files"])


def make_job(job: PackageJob) -> int:
    """Pass two: make the samples in the plan and return their number."""
    space = Workspace(job.out)
    record = space.made / f"{job.name}.json"
    if not is_made(space, job.name):
        sources, facts = _read_package(job, space)
        if sources.sha256 != load_record(space.indexes / f"{job.name}.json")["sources_sha256"]:
            raise CorpusError("its files have changed since pass one")
        plan = load_record(space.plans / f"{job.name}.json")["files"]
        made = make_shard(job.name, sources, facts["version"], plan, job.settings, space.out, space.unpacked)
        save_record(record, made)
    return samples_in(load_record(record))


def is_made(space: Workspace, name: str) -> bool:
    """Whether the samples of a package are there and unchanged."""
    record = space.made / f"{name}.json"
    if not record.exists():
        return False
    shards = ((space.out / shard["path"], shard["sha256"]) for shard in load_record(record)["shards"])
    return all(path.exists() and file_sha256(path) == sha256 for path, sha256 in shards)


def samples_in(made: dict[str, Any]) -> int:
    """The number of samples in the record of a package."""
    return sum(shard["samples"] for shard in made["shards"])


def _read_package(job: PackageJob, space: Workspace) -> tuple[PackageSources, dict[str, Any]]:
    """The files of a package, and which archive they come from."""
    if job.package.folder:
        sources = read_folder(Path(job.package.folder), with_tests=job.settings.with_tests)
        return sources, {"archive": "", "version": "", "sha256": sources.sha256}
    wheel, facts = fetch_wheel(job.package, space.archives)
    return read_wheel(wheel, with_tests=job.settings.with_tests), facts


# The manifest.

_FACTS = ("archive", "version", "sha256")


def make_manifest(
    space: Workspace, names: Iterable[str], begun: dict[str, Any], failed: dict[str, str]
) -> dict[str, Any]:
    """Everything about a finished corpus; the same for every build of it."""
    packages, shards = [], []
    for name in sorted(names):
        index = PackageIndex.read(space.indexes, name).record
        plan, made = load_record(space.plans / f"{name}.json"), load_record(space.made / f"{name}.json")
        dropped = sum((Counter(part["dropped"]) for part in (index, plan, made)), Counter())
        packages.append(
            {
                "name": name,
                **{fact: index[fact] for fact in _FACTS},
                "split": made["split"],
                "files": len(plan["files"]),
                "functions": made["functions"],
                "candidates": made["candidates"],
                "dropped": dropped,
                "refused": index["refused"] + made["refused"],
            }
        )
        shards += [{**shard, "project": name, "version": index["version"]} for shard in made["shards"]]
    return {
        **HEAD,
        **begun,
        "shards": shards,
        "packages": packages,
        "failed": [{"name": name, "reason": failed[name]} for name in sorted(failed)],
        "counts": _counts(packages, shards),
    }


def _counts(packages: list[dict[str, Any]], shards: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = {split: Counter[str]() for split in SPLITS}
    for shard in shards:
        kinds[shard["split"]].update(shard["kinds"])
    return {
        "packages": {split: len(_packages_in(split, packages, shards)) for split in SPLITS},
        "files": sum(package["files"] for package in packages),
        "functions": sum(package["functions"] for package in packages),
        "samples": {split: kinds[split].total() for split in SPLITS},
        "kinds": kinds,
        "candidates": sum((Counter(package["candidates"]) for package in packages), Counter()),
        "dropped": sum((Counter(package["dropped"]) for package in packages), Counter()),
    }


def _packages_in(split: str, packages: list[dict[str, Any]], shards: list[dict[str, Any]]) -> set[str]:
    """The packages that belong to a split, or have files in it."""
    whole = {package["name"] for package in packages if package["split"] == split}
    return whole | {shard["project"] for shard in shards if shard["split"] == split}


def summarise(manifest: dict[str, Any]) -> str:
    """The counts of a manifest as a table."""
    counts = manifest["counts"]
    kinds, candidates = counts["kinds"], counts["candidates"]
    bugs = sum((Counter(kinds[split]) for split in SPLITS), Counter())
    others = [kind for kind in ("clean", DENSE) if bugs[kind]]
    total = bugs.total()
    for kind in others:
        del bugs[kind]
    rows = [
        f"{len(manifest['packages']):,} packages, {counts['files']:,} files, "
        f"{counts['functions']:,} functions, {total:,} samples",
        "",
        f"{'samples':<24}"
        + "".join(f"{split:>10}" for split in SPLITS)
        + f"{'of bugs':>10}{'of candidates':>15}",
    ]
    for kind in (*KINDS, *others):
        shares = "" if kind in others else f"{_share(bugs, kind):>10.1%}{_share(candidates, kind):>15.1%}"
        rows.append(f"{kind:<24}" + "".join(f"{kinds[split].get(kind, 0):>10,}" for split in SPLITS) + shares)
    rows.append(f"{'all':<24}" + "".join(f"{counts['samples'][split]:>10,}" for split in SPLITS))
    rows.append(f"{'packages':<24}" + "".join(f"{counts['packages'][split]:>10,}" for split in SPLITS))
    if manifest["settings"].get("split_files"):
        rows.extend(["", "split by file: there are too few packages to split them as a whole"])
    if counts["dropped"]:
        rows.extend(["", "left out"])
        rows.extend(f"{count:>10,}  {reason}" for reason, count in sorted(counts["dropped"].items()))
    if manifest["failed"]:
        rows.extend(
            ["", f"{len(manifest['failed']):,} packages failed; to retry them, build in another folder"]
        )
        rows.extend(f"  {package['name']}: {package['reason']}" for package in manifest["failed"])
    return "\n".join(rows)


def _share(counts: dict[str, int], kind: str) -> float:
    return counts.get(kind, 0) / max(sum(counts.values()), 1)
