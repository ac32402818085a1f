"""The command line. Commands are loaded when called, so that `hyperheat --help` answers at once."""

import sys
import traceback
from contextlib import suppress

from cyclopts import App, CycloptsError

import hyperheat
from hyperheat.cli.examples import examples_of
from hyperheat.cli.outputs import flush_output
from hyperheat.cli.refusal import fail
from hyperheat.extras import EXTRAS

__all__ = ["app", "main", "order_words"]

app = App(
    name="hyperheat",
    help="Find bugs in Python code, complete knowledge graphs, and train the models for both.",
    version=hyperheat.__version__,
    help_format="plaintext",  # rich's renderer of markup would double the time of --help
    help_epilogue=examples_of(""),
)
bugs = App(
    name="bugs",
    help="Bugs in Python functions: make data, train detectors, measure them.",
    help_epilogue=examples_of("bugs"),
)
app.command(bugs)
kg = App(
    name="kg",
    help="Knowledge graphs of statements with qualifiers: import, train, evaluate, complete.",
    help_epilogue=examples_of("kg"),
)
app.command(kg)

_NEEDS = "hyperheat: this command needs the package {name!r}: pip install 'hyperheat[{extra}]'"
_EXTRAS = {"lsprotocol": "lsp"} | {
    package.replace("-", "_"): extra for extra, packages in reversed(EXTRAS.items()) for package in packages
}

app.command(
    "hyperheat.cli.check:check",
    help=(
        "Find bugs in Python code.\n\n"
        "Runs on this machine, sends nothing anywhere, and never imports or runs the code that it reads.\n\n"
        "Findings go to standard output, progress and summary to standard error. The exit code is 0 if nothing was "
        "found, 1 if there are findings, 2 on an error, 3 with --strict if a file could not be checked, 130 if "
        "interrupted. Settings are read from [tool.hyperheat] in pyproject.toml."
    ),
    help_epilogue=examples_of("check"),
)
app.command(
    "hyperheat.cli.fix:fix",
    help=(
        "Show or apply repairs of what check finds.\n\n"
        "Only safe repairs, unless you pass --unsafe-fixes: those of a level that raises at most 1 alarm in 30,000 "
        "functions of real code. A model may have none. Even a safe repair is a guess: review it before you keep it. Each "
        "run makes at most one repair per function.\n\n"
        "The exit code is 0 if there was nothing to repair or all repairs were written, 1 if a patch is shown, 2 if "
        "anything could not be repaired, 130 if interrupted."
    ),
    help_epilogue=examples_of("fix"),
)
app.command(
    "hyperheat.cli.explain:explain",
    help="Explain a rule, or why a line is suspicious.",
    help_epilogue=examples_of("explain"),
)
app.command(
    "hyperheat.cli.explore:explore",
    help=(
        "Look at findings, heat maps and hypergraphs in a browser.\n\n"
        "The page is served to this machine only, under a secret address, and loads nothing from elsewhere."
    ),
    help_epilogue=examples_of("explore"),
)
app.command(
    "hyperheat.cli.calibrate:calibrate",
    help="Plant bugs in your own functions and measure how many are found.",
    help_epilogue=examples_of("calibrate"),
)
app.command(
    "hyperheat.cli.lsp:lsp",
    help=(
        "Show findings in an editor, as a language server on standard input and output.\n\n"
        "Editors start it; docs/editors.md says how to configure them. Settings are read from [tool.hyperheat] in "
        "pyproject.toml. It writes no files, and never imports or runs the code that it is sent."
    ),
    help_epilogue=examples_of("lsp"),
)
app.command(
    "hyperheat.cli.demo:demo",
    help="Check a small example that comes with the package.",
    help_epilogue=examples_of("demo"),
)
app.command(
    "hyperheat.cli.doctor:doctor",
    help=(
        "Say what is installed, which model is used and what does not work.\n\n"
        "The exit code is 0 if all is well, 1 if there is a problem, 2 on an error."
    ),
    help_epilogue=examples_of("doctor"),
)
app.command(
    "hyperheat.cli.shell_completion:completion",
    help="Print a script that makes bash, zsh or fish complete commands and options.",
    help_epilogue=examples_of("completion"),
)
app.command(
    "hyperheat.cli.graph:graph",
    help="Show the hypergraph of Python functions.",
    help_epilogue=examples_of("graph"),
)
app.command(
    "hyperheat.cli.reproduce:reproduce",
    help=(
        "Train and measure rows of the paper's tables.\n\n"
        "Rows are made from nothing, data included, and end with their figures beside the paper's. Finished rows are not "
        "run again, and a run that was stopped is continued by the same command."
    ),
    help_epilogue=examples_of("reproduce"),
)
bugs.command(
    "hyperheat.cli.bug_data:corpus",
    help="Make functions with and without a bug from packages.",
    help_epilogue=examples_of("bugs corpus"),
)
app.command(
    "hyperheat.cli.models:models",
    help="List the installed models.",
    help_epilogue=examples_of("models"),
)
bugs.command(
    "hyperheat.cli.bug_data:mine",
    help="Find bugs that were fixed, in releases of packages and in git histories.",
    help_epilogue=examples_of("bugs mine"),
)
bugs.command(
    "hyperheat.cli.bug_data:realise",
    help="Turn references to fixes into samples.",
    help_epilogue=examples_of("bugs realise"),
)
bugs.command(
    "hyperheat.cli.bugs:confirm",
    help="Count the findings in old releases of packages that later releases fixed.",
    help_epilogue=examples_of("bugs confirm"),
)
bugs.command(
    "hyperheat.cli.bugs:train",
    help="Train a detector.",
    help_epilogue=examples_of("bugs train"),
)
bugs.command(
    "hyperheat.cli.bugs:average",
    help="Average the weights of detectors.",
    help_epilogue=examples_of("bugs average"),
)
bugs.command(
    "hyperheat.cli.bugs:export",
    help="Export a detector to run without torch.",
    help_epilogue=examples_of("bugs export"),
)
bugs.command(
    "hyperheat.cli.calibrate_detector:calibrate_detector",
    name="calibrate",
    help="Measure a detector and write calibration.json, from which its tiers follow.",
    help_epilogue=examples_of("bugs calibrate"),
)
bugs.command(
    "hyperheat.cli.bugs:evaluate",
    name="eval",
    help="Measure a detector on held-out or real bugs.",
    help_epilogue=examples_of("bugs eval"),
)
kg.command(
    "hyperheat.cli.kg:import_statements",
    name="import",
    help="Convert statements to JSON lines, and report what was kept, dropped and leaked.",
    help_epilogue=examples_of("kg import"),
)
kg.command(
    "hyperheat.cli.kg:train",
    help="Train a model of statements.",
    help_epilogue=examples_of("kg train"),
)
kg.command(
    "hyperheat.cli.kg_tune:tune",
    help="Search for better settings of a recipe.",
    help_epilogue=examples_of("kg tune"),
)
kg.command(
    "hyperheat.cli.kg:calibrate",
    help="Calibrate the probabilities of a model on held-out statements.",
    help_epilogue=examples_of("kg calibrate"),
)
kg.command(
    "hyperheat.cli.kg:complete",
    help="Fill in the blank of a statement.",
    help_epilogue=examples_of("kg complete"),
)
kg.command(
    "hyperheat.cli.kg_lint:lint",
    help="List the statements that look wrong.",
    help_epilogue=examples_of("kg lint"),
)
kg.command(
    "hyperheat.cli.kg:demo",
    help="Ask the small model that comes with the package.",
    help_epilogue=examples_of("kg demo"),
)
kg.command(
    "hyperheat.cli.kg:evaluate",
    name="eval",
    help="Evaluate a model by filtered ranking of subjects and objects.",
    help_epilogue=examples_of("kg eval"),
)


def main() -> None:
    """Run the command line; any error exits with 2, so that 1 can mean findings."""
    try:
        _run()
    except CycloptsError as error:
        fail(str(error))
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        fail(_NEEDS.format(name=package, extra=_EXTRAS[package]))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        flush_output()
        sys.exit(0)
    except MemoryError:
        fail("out of memory")
    except OSError as error:
        with suppress(OSError):
            flush_output()  # or the error is not shown
        fail(error)
    except Exception as error:
        with suppress(OSError):
            traceback.print_tb(error.__traceback__)
        fail(f"{type(error).__name__}: {error}")


def order_words(words: list[str]) -> list[str]:
    """The words of a command line with `-`, for standard input, behind `--`, where it is not taken for an option.

    >>> order_words(["check", "-", "--quiet"])
    ['check', '--quiet', '--', '-']
    """
    end = words.index("--") if "--" in words else len(words)
    if words[:1] not in (["check"], ["fix"]) or "-" not in words[:end]:
        return words
    options = [word for word in words[:end] if word != "-"]
    return [*options, "--", "-", *words[end + 1 :]]


def _run() -> None:
    """Run a command; its exit code counts only if all of its output was written."""
    code: str | int | None = 0
    try:
        app(order_words(sys.argv[1:]), exit_on_error=False, print_error=False)
    except SystemExit as end:
        code = end.code
    try:
        flush_output()
    except OSError as error:
        fail(error)
    sys.exit(code)
