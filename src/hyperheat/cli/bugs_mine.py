"""`hyperheat bugs mine|realise`: real fixes as samples, from git histories."""

import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import Parameter

from hyperheat.bugs.mining import Mined, Mining, Reference, Repository, read_references, select
from hyperheat.bugs.mining import mine as mine_history
from hyperheat.bugs.mining import realise as realise_references
from hyperheat.bugs.mining.sieve import distinct
from hyperheat.bugs.mining.tally import FOUND, Tally
from hyperheat.bugs.mining.writing import FixFolder
from hyperheat.cli.refusal import fail
from hyperheat.hypergraph.files import whole_file

__all__ = ["mine", "realise"]


def mine(
    repos: list[Path],
    /,
    *,
    out: Path | None = None,
    refs_only: Path | None = None,
    since: str | None = None,
    max_commits: int | None = None,
    all_refs: bool = False,
    tests: bool = False,
    any_message: bool = False,
    with_clean: bool = False,
) -> None:
    """Find commits that mended one function by one small rewrite, and write the functions with their bugs as samples.

    Parameters
    ----------
    repos
        Local git repositories, bare or with a work tree.
    out
        The folder that gets manifest.json and one shard a repository under test/.
    refs_only
        Write references to this file instead, one JSON object a line, for bugs realise.
    since
        Only commits after a date, as git log understands it.
    max_commits
        At most so many commits of each repository, the newest.
    all_refs
        Also commits that only other branches, tags or pull requests hold.
    tests
        Also files of tests, where most changes are new expectations.
    any_message
        Also commits whose subject speaks of no fix.
    with_clean
        Add the repaired function of each fix as a sample without a bug, with the tag repaired.
    """
    if (out is None) == (refs_only is None):
        fail("expected either --out DIR or --refs-only FILE, got " + ("neither" if out is None else "both"))
    mining = Mining(
        since=since,
        max_commits=max_commits,
        all_refs=all_refs,
        tests=tests,
        any_message=any_message,
        with_clean=with_clean,
    )
    counts: Counter[str] = Counter()
    try:
        folder = None if out is None else FixFolder(out)
        found, failed = _mine_all(repos, mining, counts, folder)
        if len(failed) == len(repos) and not found:
            fail("no history could be read")
        if refs_only is not None:
            _write_references(found, refs_only)
        if folder is not None:
            folder.finish(asdict(mining), {"counts": dict(counts), "failed": failed})
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        _end_early(out)
    tally = Tally()
    for reference in found:
        tally.add(FOUND, "", reference.kind)
    rows = [f"{count:>9,}  {what}" for what, count in counts.most_common()]
    sys.stdout.write("\n".join([tally.table() if found else "no fixes found", "", *rows, ""]))


def realise(
    refs: Path,
    /,
    *,
    repos: Path,
    out: Path,
    clone: bool = False,
    where: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    with_clean: bool = False,
) -> None:
    """Turn references to fixes into samples: read both versions of each file and find the rewrite between them.

    Parameters
    ----------
    refs
        References, one JSON object a line, gzipped or not: as bugs mine writes them, or as PyPIBugs is published.
    repos
        The folder with the repositories, each in owner+name, owner/name, owner__name or name.
    out
        The folder that gets manifest.json, left_out.jsonl and one shard a repository under test/.
    clone
        Clone repositories that are missing from the addresses in the references.
    where
        Only references with a value in a field, such as fix_like=true; all of them must hold.
    with_clean
        Add the repaired function of each fix as a sample without a bug, with the tag repaired.
    """
    settings = {"refs": refs.name, "where": list(where), "with_clean": with_clean}
    try:
        references = select(read_references(refs), where)
        if not references:
            fail(f"{refs}: expected references, got none" + (" that fit --where" if where else ""))
        done = realise_references(
            references, repos, out, clone=clone, with_clean=with_clean, settings=settings, tell=_tell
        )
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        _end_early(out)
    each = done.seconds / len(references)
    sys.stdout.write(f"{done.tally.table()}\n{done.seconds:.1f} s, {each:.2f} s a reference\n")


def _mine_all(
    repos: list[Path], mining: Mining, counts: Counter[str], out: FixFolder | None
) -> tuple[list[Reference], dict[str, str]]:
    """The distinct fixes of all repositories, and why some could not be read; each one's samples are written at once."""
    found: list[Reference] = []
    failed: dict[str, str] = {}
    earlier: set[tuple[str, str]] = set()
    for folder in repos:
        start = time.perf_counter()
        group: list[Mined] = []
        try:
            group += mine_history(Repository.open(folder), mining, counts)
        except (ValueError, OSError) as error:
            failed[str(folder)] = str(error)
            _tell(str(error))
        kept = distinct(group, counts, earlier)
        earlier |= {(mined.before, mined.after) for mined in kept}
        found += [mined.reference for mined in kept]
        if out is not None and kept:
            out.add(kept[0].reference.repo, [sample for mined in kept for sample in mined.samples])
        _tell(f"{folder}: {len(kept)} fixes, {time.perf_counter() - start:.1f} s")
    return found, failed


def _write_references(found: list[Reference], path: Path) -> None:
    with whole_file(path) as temporary:
        lines = (json.dumps(dict(reference.record)) + "\n" for reference in found)
        temporary.write_text("".join(lines), encoding="utf-8")


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _end_early(out: Path | None) -> NoReturn:
    kept = "nothing was written" if out is None else f"shards that were finished are in {out / 'test'}"
    sys.stderr.write(f"interrupted: {kept}; the same command starts over\n")
    raise SystemExit(130)
