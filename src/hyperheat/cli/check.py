"""`hyperheat check`: find bugs in Python code."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hyperheat.cli.options import DEFAULTS, OUTPUT, ScanOptions, Tier, flag, make_checker, read_settings
from hyperheat.cli.outputs import Format, Output, check_output, colourful, parse_outputs, put, write_output
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.check.baseline import Baseline
    from hyperheat.check.checker import Checker, Scan
    from hyperheat.check.settings import Settings
    from hyperheat.report import Report

__all__ = ["check"]

_DONE, _FOUND, _INCOMPLETE, _INTERRUPTED = 0, 1, 3, 130


def check(
    *paths: str,
    options: ScanOptions = DEFAULTS,
    show_all: Annotated[bool, flag(OUTPUT)] = False,
    why: Annotated[bool, flag(OUTPUT)] = False,
    output_format: Annotated[Format, flag(OUTPUT)] = "text",
    output: Annotated[tuple[str, ...], flag(OUTPUT, "-o")] = (),
    fail_on: Annotated[Tier | None, flag(OUTPUT)] = None,
    strict: Annotated[bool, flag(OUTPUT)] = False,
    exit_zero: Annotated[bool, flag(OUTPUT)] = False,
    write_baseline: Annotated[bool, flag(OUTPUT)] = False,
    stdin_filename: Annotated[str | None, flag(OUTPUT)] = None,
) -> None:
    """Find bugs in Python code.

    Parameters
    ----------
    paths
        Files and folders to check. Default: the current folder.
    show_all
        Show the findings of every tier.
    why
        Also say what each finding depends on, in text, JSON and HTML; takes up to a second per finding.
    output_format
        Format of the report on standard output. Default: text.
    output
        Also write the report to a file: FORMAT:FILE, or FILE whose extension gives the format. May be repeated.
    fail_on
        Lowest tier that is shown and makes the exit code 1. Default: A.
    strict
        Exit with 3 if any file could not be checked.
    exit_zero
        Exit with 0 even if there are findings.
    write_baseline
        Write all current findings to the --baseline file, so that this and later runs do not report them.
    stdin_filename
        Read the code from standard input and report it under this name.
    """
    from hyperheat.report.formats import FORMATS
    from hyperheat.report.text import summarise
    from hyperheat.workers.worker import WorkersError

    try:
        outputs = parse_outputs(output, FORMATS)
        for file in outputs:
            check_output(file.path)
        names = _names(paths, stdin_filename)
        more = {"fail-on": fail_on, "strict": True if strict else None}
        settings = _show_what_fails(read_settings(names, options, more))
        if write_baseline:
            _refuse_part(options, stdin_filename)
            check_output(settings.baseline or Path())
        checker = make_checker(options, settings)
        baseline = None if write_baseline else checker.read_baseline()
        scan = checker.scan_paths(names) if stdin_filename is None else _scan_stdin(checker, stdin_filename)
        if write_baseline:
            baseline = _write_baseline(scan, quiet=options.quiet)
        report = scan.report(baseline=baseline, show_all=show_all)
        if why:
            report = checker.explain(report, scan)
        _tell(report, scan, output_format, outputs)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    if not options.quiet:
        put(summarise(report, colour=colourful(sys.stderr)), sys.stderr)
    raise SystemExit(_exit_code(report, scan, exit_zero=exit_zero))


def _names(paths: tuple[str, ...], stdin_filename: str | None) -> tuple[str, ...]:
    if stdin_filename is None:
        return paths or (".",)
    if paths:
        raise ValueError(f"--stdin-filename cannot be used together with paths, such as {paths[0]!r}")
    return (stdin_filename,)


def _show_what_fails(settings: "Settings") -> "Settings":
    """The settings with a tier that is at least as low as the one that makes the exit code 1."""
    return replace(settings, tier=max(settings.tier, settings.fail_on))


def _refuse_part(options: ScanOptions, stdin_filename: str | None) -> None:
    """A baseline lists all findings, so it is not made from a part of them; and settings do not decide what is written."""
    if options.baseline is None:
        raise ValueError("--write-baseline requires --baseline FILE")
    for name, value in (("--since", options.since), ("--stdin-filename", stdin_filename)):
        if value is not None:
            raise ValueError(f"--write-baseline cannot be used together with {name}")


def _scan_stdin(checker: "Checker", name: str) -> "Scan":
    return checker.scan_data(sys.stdin.buffer.read(checker.max_bytes + 1), name)


def _write_baseline(scan: "Scan", *, quiet: bool) -> "Baseline":
    from hyperheat.check.baseline import make_baseline, write_baseline
    from hyperheat.visible_text import visible

    path = scan.settings.baseline
    if scan.interrupted:
        raise ValueError(f"{path}: not written because the scan was interrupted")
    assert path is not None
    baseline = make_baseline(scan.report(show_all=True).findings, scan.sources)
    write_baseline(path, baseline)
    if not quiet:
        put(f"Wrote {len(baseline)} findings of all tiers to {visible(str(path))}.\n", sys.stderr)
    return baseline


def _tell(report: "Report", scan: "Scan", format: Format, outputs: list[Output]) -> None:
    """Write the report to standard output, then to all files."""
    from hyperheat.report import text
    from hyperheat.report.formats import FORMATS

    sources = scan.sources
    if format == "text":
        put(text.render(report, sources, colour=colourful(sys.stdout)), sys.stdout)
    else:
        put(FORMATS[format](report, sources), sys.stdout)
    for output in outputs:
        write_output(output.path, FORMATS[output.format](report, sources))


def _exit_code(report: "Report", scan: "Scan", *, exit_zero: bool) -> int:
    if scan.interrupted:
        return _INTERRUPTED
    if scan.settings.strict and report.errors:
        return _INCOMPLETE
    fails = any(finding.tier <= scan.settings.fail_on for finding in report.findings)
    return _FOUND if fails and not exit_zero else _DONE
