"""`hyperheat models`: the installed models, and what each was measured to be worth."""

import json as json_module
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hyperheat.alarm_rate import describe_rate
from hyperheat.cli.outputs import put
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.check.installed_models import InstalledModel

__all__ = ["models"]

_NOTHING_WRONG, _DAMAGED = 0, 2


def models(*, json: bool = False) -> None:
    """List the installed models: version, checksum, card and tiers.

    A model comes with the package, from another installed package (entry points of the group hyperheat.models), or from
    a folder of yours. All files are compared with their checksums. The exit code is 2 if one of them is damaged.

    Parameters
    ----------
    json
        Print the list as JSON.
    """
    from hyperheat.check.installed_models import installed_models

    try:
        described = [_describe(model) for model in installed_models()]
    except (ValueError, OSError) as error:
        fail(error)
    if json:
        put(json_module.dumps(described, indent=1) + "\n", sys.stdout)
    else:
        put("\n".join(line for values in described for line in _lines(values)), sys.stdout)
    raise SystemExit(_DAMAGED if any(values["problem"] for values in described) else _NOTHING_WRONG)


def _describe(model: "InstalledModel") -> dict[str, Any]:
    """What there is to know about a model, or what is wrong with it."""
    from hyperheat.detector.alarms import RATES
    from hyperheat.detector.manifest import read_folder

    known: dict[str, Any] = {"name": model.name, "version": model.version, "source": model.source}
    try:
        detector = model.load()
        read_folder(detector.folder)
    except (ValueError, OSError) as error:
        return known | {"problem": str(error)}
    card = detector.folder / "MODEL_CARD.md"
    calibration, alarms = detector.calibration, detector.calibration.alarms
    return known | {
        "problem": None,
        "sha256": detector.sha256,
        "folder": str(detector.folder),
        "card": str(card) if card.is_file() else None,
        "packages": alarms.packages if alarms else 0,
        "functions": alarms.functions if alarms else 0,
        "tiers": {
            tier: {
                "most_alarms": rate,
                "confidence": calibration.tiers.get(tier),
                "empty": calibration.why_empty(tier),
            }
            for tier, rate in RATES.items()
        },
    }


def _lines(values: dict[str, Any]) -> Iterator[str]:
    from hyperheat.visible_text import visible

    yield visible(f"{values['name']} {values['version']}".rstrip())
    if values["problem"]:
        yield f"  cannot be used: {visible(values['problem'])}"
        yield ""
        return
    yield f"  from      {visible(values['source'])}"
    yield f"  sha256    {values['sha256']}"
    yield f"  card      {visible(values['card'] or 'none')}"
    if values["functions"]:
        yield f"  measured  on {values['functions']:,} functions of {values['packages']:,} packages, as they were released"
    for tier, row in values["tiers"].items():
        name = "safe" if tier == "safe" else f"tier {tier}"
        what = f"empty: {row['empty']}" if row["empty"] else f"at most {describe_rate(row['most_alarms'])}"
        yield f"  {name:<9} {what}"
    yield ""
