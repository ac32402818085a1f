"""Write what the checker prints with the present model into the README and the manual.

    python tools/update_examples.py

Run it after the model or its calibration has changed; tests compare the pages with what the commands print.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration

ROOT = Path(__file__).parents[1]

SHOP = (
    "def first_or(items, default=None):\n    for item in items:\n        return items\n    return default\n"
)
_PER_1000 = 3
_SENTENCE = re.compile(r"at a level that raises \d+ alarms.*?real ones\.", re.DOTALL)
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def worth(content: dict) -> str:
    """What findings are worth, from check.json, as the README says it."""
    calibration = Calibration.from_plain(content["calibration"]["calibration"])
    curves = {curve.data: curve for curve in calibration.curves}
    sure = calibration.at_rate(_PER_1000 / 1000)
    real = curves[REAL_FIXES]
    return (
        f"at a level that raises {_PER_1000} alarms per 1,000 functions of popular packages, it finds "
        f"{100 * curves[HELD_OUT].recall(sure):.0f} % of planted bugs and {real.found(sure)} of {real.bugs} real ones."
    )


def main() -> None:
    """Update all pages."""
    demo = _run(["demo"], ROOT)
    _change("README.md", lambda text: _replace(r"\$ make demo\n.*?```", f"$ make demo\n{demo}```", text))
    content = json.loads((ROOT / "docs/results/check.json").read_text(encoding="utf-8"))
    _change("README.md", lambda text: _SENTENCE.sub(_wrapped(worth(content)), text))
    (finding,) = (block for block in demo.split("\n\n") if " in first_or" in block)
    _change("docs/index.md", lambda text: _replace(r"```text\n.*?```", f"```text\n{finding}\n```", text))
    with TemporaryDirectory() as folder:
        (Path(folder) / "src").mkdir()
        (Path(folder) / "src" / "shop.py").write_text(SHOP, encoding="utf-8")
        shown = _run(["check", "--tier", "C", "src/", "--no-cache"], Path(folder))
    _change("docs/check.md", lambda text: _replace(r"```text\n.*?```", f"```text\n{shown}```", text))
    _change("docs/tutorials/checker-in-ci.md", _run_tutorial)


def _run_tutorial(page: str) -> str:
    """The page with the output of each command that shows one, run in order in an empty folder."""
    with TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()

        def block(match: re.Match[str]) -> str:
            language, title, text = match.groups()
            if title:
                (work / title).parent.mkdir(parents=True, exist_ok=True)
                (work / title).write_text(text, encoding="utf-8")
            if language != "console":
                return match[0]
            parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
            return (
                "```console\n"
                + "".join(_session(part, work, Path(folder) / "cache") for part in parts)
                + "```"
            )

        return _BLOCK.sub(block, page)


def _session(part: str, work: Path, cache: Path) -> str:
    line, _, shown = part.partition("\n")
    command = line.partition("  #")[0].strip()
    if command.startswith("pip "):
        return f"$ {part}"
    person = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = os.environ | person | {"HYPERHEAT_CACHE": str(cache), "PYTHONPATH": str(ROOT / "src")}
    words = re.sub(r"^hyperheat\b", f"'{sys.executable}' -m hyperheat", command)
    done = subprocess.run(
        ["sh", "-c", words],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: exit code {done.returncode}: {done.stdout}")
    return f"$ {line}\n{done.stdout if shown else ''}"


def _run(words: list[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "hyperheat", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    ).stdout


def _replace(pattern: str, new: str, text: str) -> str:
    changed, count = re.subn(pattern, lambda _: new, text, count=1, flags=re.DOTALL)
    if not count:
        raise SystemExit(f"expected {pattern!r}, got a page without it")
    return changed


def _wrapped(sentence: str) -> str:
    return sentence.replace(", it finds", ",\nit finds")


def _change(name: str, change: Callable[[str], str]) -> None:
    path = ROOT / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
