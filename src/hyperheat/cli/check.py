"""`hyperheat check`: find bugs in Python code."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn, get_args

from hyperheat.cli.inputs import ScanInput, parse_input
from hyperheat.cli.options import DEFAULTS, OUTPUT, ScanOptions, Tier, flag, make_checker, read_settings
from hyperheat.cli.outputs import Format, Output, check_output, colourful, parse_outputs, put, write_output
from hyperheat.cli.refusal import fail
from hyperheat.visible_text import visible_line

if TYPE_CHECKING:
    from hyperheat.check.baseline import Baseline
    from hyperheat.check.checker import Checker, Scan
    from hyperheat.check.settings import Settings
    from hyperheat.report import Report, SourceText

__all__ = ["check"]

Order = Literal["path", "confidence"]
_TABLES = ("text", "json")

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
    sort: Annotated[Order, flag(OUTPUT)] = "path",
    top: Annotated[int | None, flag(OUTPUT)] = None,
    statistics: Annotated[bool, flag(OUTPUT)] = False,
    list_rules: Annotated[bool, flag(OUTPUT)] = False,
    watch: Annotated[bool, flag(OUTPUT)] = False,
) -> None:
    """Find bugs in Python code.

    Parameters
    ----------
    paths
        Files and folders to check, or - for standard input. Default: the current folder.
    show_all
        Show all findings, also those below tier C: the most suspicious place of nearly every function.
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
    sort
        Order of the findings: path, or confidence with the highest first. Default: path.
    top
        Only show this many findings, those with the highest confidence.
    statistics
        Print the number of findings of each rule instead of the findings.
    list_rules
        Print all rules and exit.
    watch
        Check again whenever a file changes, until interrupted.
    """
    from hyperheat.workers.outcomes import WorkersError

    try:
        if list_rules:
            _print_rules(output_format)
        outputs = parse_outputs(output, get_args(Format))
        for file in outputs:
            check_output(file.path)
        view = _View(
            format=output_format,
            outputs=tuple(outputs),
            show_all=show_all,
            why=why,
            by_confidence=sort == "confidence",
            top=top,
            statistics=statistics,
            quiet=options.quiet,
        )
        given = parse_input(paths, stdin_filename)
        more = {"fail-on": fail_on, "strict": True if strict else None}
        if write_baseline:
            _refuse_part(options, given)
            check_output(options.baseline or Path())

        def prepare() -> "Checker":
            return make_checker(options, _show_what_fails(read_settings(given.paths, options, more)))

        if watch:
            _watch(prepare, given, view, write_baseline=write_baseline)
        code = _check(prepare(), given, view, write_baseline=write_baseline, exit_zero=exit_zero)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    raise SystemExit(code)


@dataclass(frozen=True, kw_only=True)
class _View:
    """How a report is shown, and where."""

    format: Format
    outputs: tuple[Output, ...]
    show_all: bool
    why: bool
    by_confidence: bool
    top: int | None
    statistics: bool
    quiet: bool

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ValueError(f"--top: expected at least 1, got {self.top}")
        if self.statistics and self.format not in _TABLES:
            raise ValueError(f"--statistics requires the format {' or '.join(_TABLES)}, got {self.format}")


def _check(
    checker: "Checker",
    given: ScanInput,
    view: _View,
    *,
    write_baseline: bool = False,
    exit_zero: bool = False,
) -> int:
    """Scan and report; gives the exit code."""
    from hyperheat.report.finding_order import arrange
    from hyperheat.report.text import summarise

    baseline = None if write_baseline else checker.read_baseline()
    scan = given.scan(checker)
    if write_baseline:
        baseline = _write_baseline(scan, quiet=view.quiet)
    report = scan.report(baseline=baseline, show_all=view.show_all)
    report = arrange(report, by_confidence=view.by_confidence, top=view.top)
    if view.why and not scan.interrupted:
        report = checker.explain(report, scan)
    _tell(report, scan, view)
    if not view.quiet:
        put(summarise(report, colour=colourful(sys.stderr)), sys.stderr)
    return _exit_code(report, scan, exit_zero=exit_zero)


def _watch(
    prepare: Callable[[], "Checker"], given: ScanInput, view: _View, *, write_baseline: bool
) -> NoReturn:
    """Check again and again, with the settings of that time; an interrupt ends it, also one during a scan."""
    from hyperheat.cli.watch import watch

    for name, is_given in (("standard input", given.stdin is not None), ("--write-baseline", write_baseline)):
        if is_given:
            raise ValueError(f"--watch cannot be used together with {name}")

    checker = prepare()

    def run() -> None:
        nonlocal checker
        try:
            checker = prepare()
            code = _check(checker, given, view)
        except (ValueError, OSError) as error:  # a path that is gone, a baseline that cannot be read
            put(f"{visible_line(str(error))}\n", sys.stderr)
        else:
            if code == _INTERRUPTED:
                raise SystemExit(code)

    def look() -> list[Path]:
        settings = checker.settings.source or Path.cwd() / "pyproject.toml"
        return [*(file.path for file in checker.find_files(given.paths)), settings]

    try:
        watch(look, run, quiet=view.quiet)
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None


def _print_rules(format: Format) -> NoReturn:
    from hyperheat.cli.rule_tables import render_rules

    if format not in _TABLES:
        raise ValueError(f"--list-rules requires the format {' or '.join(_TABLES)}, got {format}")
    put(render_rules(as_json=format == "json"), sys.stdout)
    raise SystemExit(_DONE)


def _show_what_fails(settings: "Settings") -> "Settings":
    """The settings with a tier that is at least as low as the one that makes the exit code 1."""
    return replace(settings, tier=max(settings.tier, settings.fail_on))


def _refuse_part(options: ScanOptions, given: ScanInput) -> None:
    """A baseline lists all findings, so it is not made from a part of them; and settings do not decide what is written."""
    if options.baseline is None:
        raise ValueError("--write-baseline requires --baseline FILE")
    for name, value in (("--since", options.since), ("standard input", given.stdin)):
        if value is not None:
            raise ValueError(f"--write-baseline cannot be used together with {name}")


def _write_baseline(scan: "Scan", *, quiet: bool) -> "Baseline":
    from hyperheat.check.baseline import make_baseline, write_baseline
    from hyperheat.visible_text import visible

    path = scan.settings.baseline
    if scan.interrupted:
        raise ValueError(f"{path}: not written because the scan was interrupted")
    assert path is not None
    baseline = make_baseline(scan.with_every_tier().report().findings, scan.sources)
    write_baseline(path, baseline)
    if not quiet:
        put(f"Wrote {len(baseline)} findings of tiers A, B and C to {visible(str(path))}.\n", sys.stderr)
    return baseline


def _tell(report: "Report", scan: "Scan", view: _View) -> None:
    """Write the report, or a table of it, to standard output, then the report to all files."""
    sources = scan.sources
    if view.statistics:
        from hyperheat.cli.rule_tables import render_statistics

        put(render_statistics(report, as_json=view.format == "json"), sys.stdout)
    elif view.format == "text":
        from hyperheat.report import text

        put(text.render(report, sources, colour=colourful(sys.stdout)), sys.stdout)
    else:
        put(_render(view.format, report, sources), sys.stdout)
    for output in view.outputs:
        write_output(output.path, _render(output.format, report, sources))


def _render(format: str, report: "Report", sources: "Mapping[str, SourceText]") -> str:
    """The report in a format; all formats together take a while to load."""
    from hyperheat.report.formats import FORMATS

    return FORMATS[format](report, sources)


def _exit_code(report: "Report", scan: "Scan", *, exit_zero: bool) -> int:
    if scan.interrupted:
        return _INTERRUPTED
    if scan.settings.strict and report.errors:
        return _INCOMPLETE
    fails = any(finding.tier <= scan.settings.fail_on for finding in report.findings)
    return _FOUND if fails and not exit_zero else _DONE
