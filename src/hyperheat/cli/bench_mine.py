"""`hyperheat bench mine`: how fast the releases of packages are compared."""

import json as json_module
import sys

__all__ = ["bench_mine"]


def bench_mine(packages: tuple[str, ...] = (), /, *, json: bool = False) -> None:
    """Compare the 40 newest releases of 40 packages, which are downloaded, and look for bugs that shipped.

    Parameters
    ----------
    packages
        Other packages to measure with.
    json
        Print a JSON object.
    """
    from hyperheat.bench.mine import PACKAGES, measure_mining

    try:
        record = measure_mining(packages or PACKAGES, tell=lambda line: sys.stderr.write(f"{line}\n"))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    if json:
        sys.stdout.write(json_module.dumps(record) + "\n")
        return
    sys.stdout.write(
        f"{record['packages']} packages, {record['releases']:,} releases, {record['changed_functions']:,} changed "
        f"functions, {record['fixes']} fixes\n"
        f"per package: {record['seconds_per_package']:.2f} s of one core, {record['waiting_per_package']:.1f} s of "
        "waiting with downloads\n"
    )
