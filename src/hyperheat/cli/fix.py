"""`hyperheat fix`: the repairs that check suggests, as a patch or in place."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from hyperheat.cli.inputs import parse_input
from hyperheat.cli.interactive import choose_repairs, refuse_without_terminal
from hyperheat.cli.options import DEFAULTS, OUTPUT, ScanOptions, flag, make_checker, read_settings
from hyperheat.cli.outputs import colourful, put, put_bytes
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.check.repairs import Repair
    from hyperheat.check.scanned_files import ScannedFile
    from hyperheat.report import Finding
    from hyperheat.workers.limits import Limits

__all__ = ["fix"]

_NOTHING_LEFT, _SHOWN, _REFUSED, _INTERRUPTED = 0, 1, 2, 130


def fix(
    *paths: str,
    options: ScanOptions = DEFAULTS,
    write: Annotated[bool, flag(OUTPUT)] = False,
    unsafe_fixes: Annotated[bool, flag(OUTPUT)] = False,
    interactive: Annotated[bool, flag(OUTPUT)] = False,
    allow_dirty: Annotated[bool, flag(OUTPUT)] = False,
    stdin_filename: Annotated[str | None, flag(OUTPUT)] = None,
) -> None:
    """Show the safe repairs of what `check` finds as a patch, or apply them.

    Parameters
    ----------
    paths
        Files and folders to repair, or - for standard input. Default: the current folder.
    write
        Apply the repairs to files that git tracks and that have no uncommitted changes. With standard input, print the
        whole repaired code instead of a patch.
    unsafe_fixes
        Include repairs that are not safe: those of all findings that check would show.
    interactive
        Ask for each repair on the terminal, and apply those that are accepted.
    allow_dirty
        With --write or --interactive, also change files that have uncommitted changes or are not tracked by git.
    stdin_filename
        Read the code from standard input and call it by this name.
    """
    from hyperheat.detector.alarms import SAFE
    from hyperheat.report.text import summarise
    from hyperheat.visible_text import visible_line
    from hyperheat.workers.outcomes import WorkersError

    try:
        given = parse_input(paths, stdin_filename)
        if interactive:
            if given.stdin is not None:
                raise ValueError("--interactive cannot be used together with code on standard input")
            refuse_without_terminal()
        write = write or interactive
        if allow_dirty and not write:
            raise ValueError("--allow-dirty requires --write or --interactive")
        settings = read_settings(given.paths, options)
        checker = make_checker(options, settings)
        baseline = checker.read_baseline()
        scan = given.scan(checker)
        if scan.interrupted:
            put("Interrupted: no files were changed.\n", sys.stderr)
            raise SystemExit(_INTERRUPTED)
        report = scan.report(baseline=baseline)
        if not options.quiet:
            put(summarise(report, colour=colourful(sys.stderr), hints=False), sys.stderr)
        refused: dict[str, str] = {}
        chosen = [finding for finding in report.findings if finding.safe or unsafe_fixes]
        unsafe = len(report.findings) - len(chosen)
        why_unsafe = checker.detector.calibration.why_empty(SAFE)
        if interactive:
            chosen = list(choose_repairs(chosen, scan.sources))
        repairs = _plan(scan.files, chosen, refused, checker.limits)
        if write and given.stdin is not None:
            done = _print_repaired(repairs, scan.files)
        else:
            done = _write(repairs, refused, allow_dirty=allow_dirty) if write else _show(repairs)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    put(
        "".join(visible_line(f"{path}: not repaired: {why}") + "\n" for path, why in refused.items()),
        sys.stderr,
    )
    if not options.quiet:
        put(_summary(done, written=write) + _unsafe_note(unsafe, why_unsafe), sys.stderr)
    if refused:
        raise SystemExit(_REFUSED)
    raise SystemExit(_SHOWN if done.files and not write else _NOTHING_LEFT)


class _Done(NamedTuple):
    """How many files and findings were repaired, and how many findings wait for the next run."""

    files: int = 0
    repairs: int = 0
    left: int = 0

    def plus(self, repair: "Repair") -> "_Done":
        return _Done(self.files + 1, self.repairs + len(repair.done), self.left + len(repair.left))


def _plan(
    files: "Sequence[ScannedFile]", findings: "Sequence[Finding]", refused: dict[str, str], limits: "Limits"
) -> "Iterator[Repair]":
    """The repairs of files, one at a time; findings must be sorted by path.

    Why others cannot be made goes to `refused`.
    """
    from hyperheat.check.repairs import FixError, find_problems, plan_repair

    by_path = {file.path: file for file in files}

    def planned() -> "Iterator[Repair]":
        for path, group in groupby(findings, key=lambda finding: finding.path):
            data = by_path[path].data()
            try:
                if not isinstance(data, bytes):
                    raise FixError("the file has changed since it was scanned")
                yield plan_repair(by_path[path].file, data, group)
            except FixError as error:
                refused[path] = str(error)

    for repair, problem in find_problems(planned(), limits=limits):
        if problem:
            refused[repair.file.shown] = problem
        else:
            yield repair


def _show(repairs: "Iterable[Repair]") -> _Done:
    from hyperheat.check.patch import render_patch

    done = _Done()
    for repair in repairs:
        put(render_patch(repair, colour=colourful(sys.stdout)), sys.stdout)
        done = done.plus(repair)
    return done


def _print_repaired(repairs: "Iterable[Repair]", files: "Sequence[ScannedFile]") -> _Done:
    """Print the repaired code of standard input, or the same code if there is nothing to repair."""
    done = _Done()
    data = files[0].data() if files else None
    for repair in repairs:
        data, done = repair.repaired, done.plus(repair)
    if not isinstance(data, bytes):
        raise ValueError("standard input: cannot be repaired because it was not checked")
    put_bytes(data, sys.stdout)
    return done


def _write(repairs: "Iterable[Repair]", refused: dict[str, str], *, allow_dirty: bool) -> _Done:
    """Write what can be written, and say why the rest cannot."""
    from hyperheat.check.repairs import FixError, write_repair

    done = _Done()
    for repair in repairs:
        try:
            write_repair(repair, root=Path.cwd(), allow_dirty=allow_dirty)
            done = done.plus(repair)
        except FixError as error:
            refused[repair.file.shown] = str(error)
    return done


def _unsafe_note(unsafe: int, reason: str | None) -> str:
    """How many repairs are left out because they are not safe, and why none is if that is so."""
    if not unsafe:
        return ""
    why = f" No repair is safe with this model: {reason}." if reason else ""
    repairs = "1 unsafe repair is" if unsafe == 1 else f"{unsafe} unsafe repairs are"
    return f"{repairs} left out (--unsafe-fixes).{why}\n"


def _summary(done: _Done, *, written: bool) -> str:
    if not done.repairs:
        return "No repairs.\n"
    repairs = f"{done.repairs} {'repair' if done.repairs == 1 else 'repairs'}"
    files = f"{done.files} {'file' if done.files == 1 else 'files'}"
    more = f" {done.left} more in the same functions: run again after these." if done.left else ""
    how = "written" if written else "shown (--write to apply)"
    return f"{repairs} in {files} {how}.{more}\n"
