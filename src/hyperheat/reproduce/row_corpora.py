"""The corpora of Tables 1 and 2: one list of packages in fixed versions, all of it or the first of each split.

All rows learn from the same corpus. The full one takes about half an hour of one core; with a short budget a row is made
with the quick one, which takes two minutes, and says so.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus import CorpusError, CorpusSettings, Package, build_corpus
from hyperheat.bugs.corpus.packages import PassingError, split_of
from hyperheat.bugs.dataset import read_manifest
from hyperheat.bugs.mining.registry import Registry

__all__ = ["CORPORA", "PACKAGES", "CorpusPlan", "choose_corpus", "describe_corpus", "make_corpus"]

PACKAGES = Path(__file__).with_name("packages.txt")


@dataclass(frozen=True, kw_only=True)
class CorpusPlan:
    """How much of the list a corpus takes, and what that costs."""

    name: str
    packages: dict[str, int]
    """By split."""
    functions_per_package: int
    minutes: float
    """Of one core, roughly."""

    @property
    def settings(self) -> CorpusSettings:
        """How samples are made."""
        return CorpusSettings(functions_per_package=self.functions_per_package)


CORPORA = {
    plan.name: plan
    for plan in (
        CorpusPlan(
            name="full",
            packages={"train": 120, "valid": 15, "test": 15},
            functions_per_package=200,
            minutes=30.0,
        ),
        CorpusPlan(
            name="quick", packages={"train": 10, "valid": 2, "test": 2}, functions_per_package=40, minutes=1.5
        ),
    )
}
_SHARE = 0.5
"""The largest share of a budget that making the full corpus may take."""


def choose_corpus(work: Path, budget: float | None) -> CorpusPlan:
    """The full corpus if it is there, or if there is time for it; the quick one otherwise."""
    full = CORPORA["full"]
    if budget is None or (work / "corpus" / full.name / "manifest.json").exists():
        return full
    return full if full.minutes <= _SHARE * budget else CORPORA["quick"]


def make_corpus(plan: CorpusPlan, work: Path, *, workers: int, listed: Path = PACKAGES) -> Path:
    """The folder of a corpus; it is made if it is not there, and a build that was stopped is continued."""
    folder = work / "corpus" / plan.name
    if not (folder / "manifest.json").exists():
        packages = _choose_packages(plan, listed)
        if not (folder / ".work" / "plan.json").exists():  # until then, packages are downloaded
            _expect_network(packages[0].name)
        build_corpus(packages, folder, plan.settings, workers=workers)
    return folder


def _expect_network(name: str) -> None:
    """Say at once if there is no network, rather than after every package."""
    try:
        Registry.configured().releases(name)
    except PassingError as error:
        raise CorpusError(
            f"{error}; a corpus is made of packages of PyPI, so try again with a network, or give one with --data"
        ) from None
    except CorpusError:
        pass  # pip may still know where to find it


def describe_corpus(folder: Path) -> dict[str, Any]:
    """What a row says of the samples that it learned from; the hash is that of the training and validation samples."""
    manifest = read_manifest(folder)
    used = [shard for shard in manifest["shards"] if shard["split"] in ("train", "valid")]
    digest = hashlib.sha256("".join(shard["sha256"] for shard in used).encode()).hexdigest()
    samples, packages = Counter[str](), {}
    for shard in manifest["shards"]:
        samples[shard["split"]] += shard["samples"]
        packages.setdefault(shard["split"], set()).add(shard.get("project", shard["path"]))
    return {
        "name": _name_of(manifest),
        "sha256": digest,
        "packages": {split: len(found) for split, found in packages.items()},
        "samples": dict(samples),
    }


def _name_of(manifest: dict[str, Any]) -> str:
    """Which of the corpora a manifest is of, by its settings and the packages that were asked for."""
    settings = manifest.get("settings", {})
    for plan in CORPORA.values():
        names = [f"{package.name}=={package.version}" for package in _choose_packages(plan, PACKAGES)]
        if settings == {**plan.settings.to_plain(), "names": names}:
            return plan.name
    return "given"


def _choose_packages(plan: CorpusPlan, listed: Path) -> list[Package]:
    """The first packages of each split, sorted by name as `bugs corpus` has them."""
    left = dict(plan.packages)
    chosen = []
    for line in listed.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        package = Package.named(text)
        split = split_of(package.name, plan.settings.seed)
        if left[split] > 0:
            left[split] -= 1
            chosen.append(package)
    return sorted(chosen, key=lambda package: package.name)
