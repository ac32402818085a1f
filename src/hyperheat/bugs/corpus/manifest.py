"""The manifest of a corpus, made from the records of its packages, and the table that sums it up."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hyperheat.bugs.corpus.index import PackageIndex
from hyperheat.bugs.corpus.records import read_record
from hyperheat.bugs.corpus.settings import Workspace
from hyperheat.bugs.dataset import HEAD, SPLITS
from hyperheat.detector.sample import DENSE
from hyperheat.rewrites import KINDS

__all__ = ["make_manifest", "summarise"]

_FACTS = ("archive", "version", "sha256")


def make_manifest(
    space: Workspace, names: Iterable[str], begun: dict[str, Any], failed: dict[str, str]
) -> dict[str, Any]:
    """All that is known about a finished corpus; the same for every build of it."""
    packages, shards = [], []
    for name in sorted(names):
        index = PackageIndex.read(space.indexes, name).record
        plan, made = read_record(space.plans / f"{name}.json"), read_record(space.made / f"{name}.json")
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
        if made["shard"]:
            place = {"split": made["split"], "project": name, "version": index["version"]}
            shards.append({**made["shard"], **place})
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
        "packages": {split: sum(package["split"] == split for package in packages) for split in SPLITS},
        "files": sum(package["files"] for package in packages),
        "functions": sum(package["functions"] for package in packages),
        "samples": {split: kinds[split].total() for split in SPLITS},
        "kinds": kinds,
        "candidates": sum((Counter(package["candidates"]) for package in packages), Counter()),
        "dropped": sum((Counter(package["dropped"]) for package in packages), Counter()),
    }


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
        f"{sum(counts['packages'].values()):,} packages, {counts['files']:,} files, "
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
    if counts["dropped"]:
        rows.extend(["", "left out"])
        rows.extend(f"{count:>10,}  {reason}" for reason, count in sorted(counts["dropped"].items()))
    if manifest["failed"]:
        rows.extend(
            ["", f"{len(manifest['failed']):,} packages failed; to try them again, build in another folder"]
        )
        rows.extend(f"  {package['name']}: {package['reason']}" for package in manifest["failed"])
    return "\n".join(rows)


def _share(counts: dict[str, int], kind: str) -> float:
    return counts.get(kind, 0) / max(sum(counts.values()), 1)
