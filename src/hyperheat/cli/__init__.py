"""The command line. Commands are loaded when called, so that `hyperheat --help` answers at once."""

import sys
import traceback
from contextlib import suppress

from cyclopts import App, CycloptsError

import hyperheat
from hyperheat.cli.outputs import flush_output
from hyperheat.cli.refusal import fail

__all__ = ["app", "main"]

app = App(
    name="hyperheat",
    help="Hyperedge attention networks for typed and qualified hypergraphs.",
    version=hyperheat.__version__,
    help_format="plaintext",  # rich's renderer of markup would double the time of --help
)
bugs = App(name="bugs", help="Bugs in Python functions: make data, train detectors, measure them.")
app.command(bugs)
kg = App(name="kg", help="Knowledge graphs of statements with qualifiers: import, train, evaluate, complete.")
app.command(kg)

_NEEDS = "hyperheat: this command needs the package {name!r}: pip install 'hyperheat[{extra}]'"
_TRAIN = ("torch", "packaging", "safetensors", "pyarrow", "pyoxigraph", "matplotlib", "tokenizers")
_EXTRAS = {**dict.fromkeys(_TRAIN, "train"), "ray": "ray"}

app.command(
    "hyperheat.cli.check:check",
    help=(
        "Look for bugs in Python code.\n\n"
        "Runs here, sends nothing anywhere, and never imports or runs the code that it reads.\n\n"
        "Findings go to standard output, progress and summary to standard error. Ends with 0 if there is nothing to "
        "report, 1 if there are findings, 2 if it could not run, 3 with --strict if a file could not be checked, "
        "130 if it was interrupted. Settings stand in pyproject.toml, under [tool.hyperheat]."
    ),
)
app.command(
    "hyperheat.cli.fix:fix",
    help=(
        "Show or apply the repairs that check suggests.\n\n"
        "A repair is a guess: read it before you keep it. In each function one is made at a time.\n\n"
        "Ends with 0 if there was nothing to repair or all was written, 1 if a patch is shown, 2 if anything could "
        "not be repaired, 130 if it was interrupted."
    ),
)
app.command("hyperheat.cli.explain:explain", help="Tell about a rule, or why a line is suspicious.")
app.command(
    "hyperheat.cli.calibrate:calibrate", help="Plant bugs in your own functions and tell how many are found."
)
app.command("hyperheat.cli.demo:demo", help="Check a small example that comes with the package.")
app.command("hyperheat.cli.graph:graph", help="Show the hypergraph of Python functions.")
bugs.command("hyperheat.cli.bugs_corpus:corpus", help="Make functions with and without a bug from packages.")
bugs.command(
    "hyperheat.cli.bugs_mine:mine",
    help="Find bugs that were mended, in releases of packages and in git histories.",
)
bugs.command("hyperheat.cli.bugs_mine:realise", help="Turn references to fixes into samples.")
bugs.command(
    "hyperheat.cli.bugs_confirm:confirm",
    help="Count the findings in old releases of packages that later ones mended.",
)
bugs.command("hyperheat.cli.bugs:train", help="Train a detector.")
bugs.command("hyperheat.cli.bugs_export:export", help="Write a detector for a scanner without torch.")
bugs.command(
    "hyperheat.cli.calibrate:calibrate_detector",
    name="calibrate",
    help="Measure how far its findings can be trusted.",
)
bugs.command("hyperheat.cli.bugs:evaluate", name="eval", help="Measure a detector on held-out or real bugs.")
kg.command(
    "hyperheat.cli.kg:import_statements",
    name="import",
    help="Convert statements to JSON lines, and report what was kept, dropped and leaked.",
)
kg.command("hyperheat.cli.kg:train", help="Train a model of statements.")
kg.command("hyperheat.cli.kg:calibrate", help="Calibrate the probabilities of a model on held-out statements.")
kg.command("hyperheat.cli.kg:complete", help="Fill in the blank of a statement.")
kg.command("hyperheat.cli.kg:demo", help="Ask the small model that comes with the package.")
kg.command("hyperheat.cli.kg:evaluate", name="eval", help="Evaluate a model by filtered ranking of subjects and objects.")


def main() -> None:
    """Run the command line; whatever goes wrong ends with 2, so that 1 can mean findings."""
    try:
        _run()
    except CycloptsError as error:
        fail(str(error))
    except ImportError as error:
        extra = _EXTRAS.get(error.name or "")
        if extra is None:
            raise
        fail(_NEEDS.format(name=error.name, extra=extra))
    except BrokenPipeError:  # the reader, `head` for example, has seen enough
        flush_output()
        sys.exit(0)
    except MemoryError:
        fail("out of memory")
    except OSError as error:
        with suppress(OSError):
            flush_output()  # or nothing more is said about it
        fail(error)
    except Exception as error:
        with suppress(OSError):
            traceback.print_tb(error.__traceback__)
        fail(f"{type(error).__name__}: {error}")


def _run() -> None:
    """Run a command; its exit code counts only if all that it said was written."""
    code: str | int | None = 0
    try:
        app(sys.argv[1:], exit_on_error=False, print_error=False)
    except SystemExit as end:
        code = end.code
    try:
        flush_output()
    except OSError as error:
        fail(error)
    sys.exit(code)
