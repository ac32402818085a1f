"""`hyperheat fix`: the repairs that check suggests, as a patch or in place."""

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hyperheat.cli.options import DEFAULTS, OUTPUT, ScanOptions, flag, read_settings
from hyperheat.cli.outputs import colourful, put
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.check.fixing import Repair
    from hyperheat.check.records import ScannedFile
    from hyperheat.report import Finding

__all__ = ["fix"]

_NOTHING_LEFT, _SHOWN, _REFUSED, _INTERRUPTED = 0, 1, 2, 130


def fix(
    *paths: str,
    options: ScanOptions = DEFAULTS,
    write: Annotated[bool, flag(OUTPUT)] = False,
    allow_dirty: Annotated[bool, flag(OUTPUT)] = False,
) -> None:
    """Show the repairs that check suggests as a patch, or apply them.

    Parameters
    ----------
    paths
        Files and folders; the current folder if there are none.
    write
        Apply the repairs, to files that git tracks and that have no changes.
    allow_dirty
        With --write: also to files with changes, and to those that git does not have.
    """
    from hyperheat.cli.scanning import known_findings, scan_paths
    from hyperheat.report.safe import visible_line
    from hyperheat.report.text import summarise
    from hyperheat.workers.serve import WorkersError

    names = paths or (".",)
    try:
        if allow_dirty and not write:
            raise ValueError("--allow-dirty: expected --write beside it, got none")
        settings = read_settings(names, options)
        baseline = known_findings(settings)
        scan = scan_paths(names, options, settings)
        if scan.interrupted:
            put("Interrupted: nothing was repaired.\n", sys.stderr)
            raise SystemExit(_INTERRUPTED)
        report = scan.report(baseline=baseline)
        if not options.quiet:
            put(summarise(report, colour=colourful(sys.stderr), hints=False), sys.stderr)
        repairs, refused = _plan(scan.files, report.findings)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    done = _write(repairs, refused, allow_dirty=allow_dirty) if write else _show(repairs)
    put(
        "".join(visible_line(f"{path}: not repaired: {why}") + "\n" for path, why in refused.items()),
        sys.stderr,
    )
    if not options.quiet:
        put(_summary(done, written=write), sys.stderr)
    if refused:
        raise SystemExit(_REFUSED)
    raise SystemExit(_SHOWN if done and not write else _NOTHING_LEFT)


def _plan(
    files: "Sequence[ScannedFile]", findings: "Sequence[Finding]"
) -> "tuple[list[Repair], dict[str, str]]":
    """The repairs of files by their findings, which are in order of their paths, and why others cannot be made."""
    from hyperheat.check.fixing import FixError, find_problems, plan_repair

    by_path = {file.path: file for file in files}
    repairs, refused = [], {}
    for path, group in groupby(findings, key=lambda finding: finding.path):
        file = by_path[path]
        assert isinstance(file.source, bytes)
        try:
            repairs.append(plan_repair(file.file, file.source, group))
        except FixError as error:
            refused[path] = str(error)
    problems = find_problems(repairs)
    refused |= {r.file.shown: problem for r, problem in zip(repairs, problems, strict=True) if problem}
    return [repair for repair in repairs if repair.file.shown not in refused], refused


def _show(repairs: "list[Repair]") -> "list[Repair]":
    from hyperheat.check.patch import render_patch

    put("".join(render_patch(repair, colour=colourful(sys.stdout)) for repair in repairs), sys.stdout)
    return repairs


def _write(repairs: "list[Repair]", refused: dict[str, str], *, allow_dirty: bool) -> "list[Repair]":
    """Write what can be written, and say why the rest cannot."""
    from hyperheat.check.fixing import FixError, write_repair

    done = []
    for repair in repairs:
        try:
            write_repair(repair, root=Path.cwd(), allow_dirty=allow_dirty)
            done.append(repair)
        except FixError as error:
            refused[repair.file.shown] = str(error)
    return done


def _summary(done: "list[Repair]", *, written: bool) -> str:
    count, left = sum(len(repair.done) for repair in done), sum(len(repair.left) for repair in done)
    if not count:
        return "No repairs.\n"
    repairs = f"{count} {'repair' if count == 1 else 'repairs'}"
    files = f"{len(done)} {'file' if len(done) == 1 else 'files'}"
    more = f" {left} more in the same functions wait for the next run." if left else ""
    how = "written" if written else "shown (--write to apply)"
    return f"{repairs} in {files} {how}.{more}\n"
