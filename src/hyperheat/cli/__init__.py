"""The command line. Commands are loaded when called, so that `hyperheat --help` answers at once."""

import sys
import traceback
from contextlib import suppress

from cyclopts import App, CycloptsError

import hyperheat
from hyperheat.cli.outputs import flush_output
from hyperheat.cli.refusal import fail

__all__ = ["app", "main", "order_words"]

app = App(
    name="hyperheat",
    help="Find bugs in Python code, complete knowledge graphs, and train the models for both.",
    version=hyperheat.__version__,
    help_format="plaintext",  # rich's renderer of markup would double the time of --help
)
bugs = App(name="bugs", help="Bugs in Python functions: make data, train detectors, measure them.")
app.command(bugs)
kg = App(name="kg", help="Knowledge graphs of statements with qualifiers: import, train, evaluate, complete.")
app.command(kg)

_NEEDS = "hyperheat: this command needs the package {name!r}: pip install 'hyperheat[{extra}]'"
_TRAIN = ("torch", "packaging", "safetensors", "pyarrow", "pyoxigraph", "matplotlib", "tokenizers")
_WEB = ("starlette", "uvicorn")
_LSP = ("pygls", "lsprotocol")
_EXTRAS = {
    **dict.fromkeys(_TRAIN, "train"),
    **dict.fromkeys(_WEB, "web"),
    **dict.fromkeys(_LSP, "lsp"),
    "ray": "ray",
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
)
app.command(
    "hyperheat.cli.fix:fix",
    help=(
        "Show or apply the repairs that check suggests.\n\n"
        "A repair is a guess: review it before you keep it. Each run makes at most one repair per function.\n\n"
        "The exit code is 0 if there was nothing to repair or all repairs were written, 1 if a patch is shown, 2 if "
        "anything could not be repaired, 130 if interrupted."
    ),
)
app.command("hyperheat.cli.explain:explain", help="Explain a rule, or why a line is suspicious.")
app.command(
    "hyperheat.cli.explore:explore",
    help=(
        "Look at findings, heat maps and hypergraphs in a browser.\n\n"
        "The page is served to this machine only, under a secret address, and loads nothing from elsewhere."
    ),
)
app.command(
    "hyperheat.cli.calibrate:calibrate",
    help="Plant bugs in your own functions and measure how many are found.",
)
app.command(
    "hyperheat.cli.lsp:lsp",
    help=(
        "Show findings in an editor, as a language server on standard input and output.\n\n"
        "Editors start it; docs/editors.md says how to configure them. Settings are read from [tool.hyperheat] in "
        "pyproject.toml. It writes no files, and never imports or runs the code that it is sent."
    ),
)
app.command("hyperheat.cli.demo:demo", help="Check a small example that comes with the package.")
app.command("hyperheat.cli.graph:graph", help="Show the hypergraph of Python functions.")
bugs.command("hyperheat.cli.bug_data:corpus", help="Make functions with and without a bug from packages.")
bugs.command(
    "hyperheat.cli.bug_data:mine",
    help="Find bugs that were fixed, in releases of packages and in git histories.",
)
bugs.command("hyperheat.cli.bug_data:realise", help="Turn references to fixes into samples.")
bugs.command(
    "hyperheat.cli.bugs:confirm",
    help="Count the findings in old releases of packages that later releases fixed.",
)
bugs.command("hyperheat.cli.bugs:train", help="Train a detector.")
bugs.command("hyperheat.cli.bugs:export", help="Export a detector to run without torch.")
bugs.command(
    "hyperheat.cli.calibrate:calibrate_detector",
    name="calibrate",
    help="Fit a detector's confidence on held-out packages and write calibration.json.",
)
bugs.command("hyperheat.cli.bugs:evaluate", name="eval", help="Measure a detector on held-out or real bugs.")
kg.command(
    "hyperheat.cli.kg:import_statements",
    name="import",
    help="Convert statements to JSON lines, and report what was kept, dropped and leaked.",
)
kg.command("hyperheat.cli.kg:train", help="Train a model of statements.")
kg.command(
    "hyperheat.cli.kg:calibrate", help="Calibrate the probabilities of a model on held-out statements."
)
kg.command("hyperheat.cli.kg:complete", help="Fill in the blank of a statement.")
kg.command("hyperheat.cli.kg:demo", help="Ask the small model that comes with the package.")
kg.command(
    "hyperheat.cli.kg:evaluate",
    name="eval",
    help="Evaluate a model by filtered ranking of subjects and objects.",
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
