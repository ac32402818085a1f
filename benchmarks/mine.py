"""How fast the releases of packages are compared, in search of bugs that shipped."""

import json as json_module
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.command import fail, run
from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.bugs.mining.registry import Registry
from hyperheat.bugs.mining.releases import mine_package

__all__ = ["PACKAGES", "RELEASES", "main", "measure_mining"]

PACKAGES = (
    *("autopep8", "aws-sam-cli", "cfn-lint", "construct", "csvkit", "datashader", "discord-py"),
    *("django-haystack", "django-oauth-toolkit", "faust-streaming", "fire", "flask-appbuilder"),
    *("flask-security-too", "graphql-core", "isort", "kubernetes", "mkdocs", "mlflow", "motor", "nornir"),
    *("paho-mqtt", "pdfminer-six", "pyexcel", "pymatgen", "skorch", "slixmpp", "snowballstemmer"),
    *("sortedcontainers", "sqlparse", "sunpy", "tabulate", "toga-core", "torchmetrics", "tortoise-orm"),
    *("trimesh", "twine", "vulture", "waitress", "weasyprint", "websocket-client"),
)
"""Drawn at random from the packages of the training corpus, once."""
RELEASES = 40
"""The newest of each package are compared."""


def measure_mining(
    packages: tuple[str, ...] = PACKAGES, *, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """Mine some packages one after the other; seconds are those of the processor, downloads and unpacking included."""
    registry = Registry.configured()
    counts: Counter[str] = Counter()
    done, releases, seconds, begun = 0, 0, 0.0, time.perf_counter()
    for name in packages:
        try:
            history = mine_package(name, registry, most=RELEASES)
        except CorpusError as error:
            tell(f"{name}: {error}")
            continue
        done += 1
        releases += len(history.releases)
        seconds += history.seconds
        counts.update(history.counts)
        tell(f"{name}: {len(history.releases)} releases, {history.seconds:.1f} s, {len(history.fixes)} fixes")
    if not done:
        raise ValueError("no package could be mined")
    return {
        "packages": done,
        "releases": releases,
        "seconds_per_package": round(seconds / done, 3),
        "waiting_per_package": round((time.perf_counter() - begun) / done, 3),
        "changed_functions": counts["changed functions"],
        "fixes": counts["fixes"],
    }


def main(packages: tuple[str, ...] = (), /, *, json: bool = False) -> None:
    """Compare the 40 newest releases of 40 packages, which are downloaded, and look for bugs that shipped.

    Parameters
    ----------
    packages
        Other packages to measure with.
    json
        Print a JSON object.
    """
    try:
        record = measure_mining(packages or PACKAGES, tell=lambda line: sys.stderr.write(f"{line}\n"))
    except (ValueError, OSError) as error:
        fail(error)
    if json:
        sys.stdout.write(json_module.dumps(record) + "\n")
        return
    sys.stdout.write(
        f"{record['packages']} packages, {record['releases']:,} releases, {record['changed_functions']:,} changed "
        f"functions, {record['fixes']} fixes\n"
        f"per package: {record['seconds_per_package']:.2f} s of one core, {record['waiting_per_package']:.1f} s of "
        "waiting with downloads\n"
    )


if __name__ == "__main__":
    run(main)
