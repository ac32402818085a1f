"""`tools/released_page.py`: what a detector and the one before it do on released bugs."""

import json
import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "released_page.py"))
collect, released_section = TOOL["collect"], TOOL["released_section"]

FIGURES = {"samples": 50, "joint": 0.5, "loc": 0.625, "repair": 0.75}
TIERS = {"A": {"right": 5, "wrong": 1, "bugs": 50, "alarms": 2, "clean": 40}}
MINING = {"packages": 9, "releases": 80, "changed_functions": 700, "fixes": 6, "seconds_per_package": 1.5}


def write(path: Path, **content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def evaluation(path: Path, weights: str = "abcdefgh1") -> Path:
    figures = {"all": FIGURES, "by_kind": {"literal": FIGURES}, "parameters": 1_000, "tiers": TIERS}
    return write(path, **figures, weights_sha256=weights, model="a/folder", data="another", curve=[1, 2])


def confirmation(path: Path, fixed: int, names: tuple[str, ...] = ("attrs", "click")) -> Path:
    verdicts = {"B": {"mended": fixed, "changed": 1, "still there": 6}}
    counts = {"packages": 2, "functions": 300, "later_releases": 12}
    return write(path, before="2024-11-01", names=names, verdicts=verdicts, **counts)


def test_both_detectors_are_followed_through_later_releases(tmp_path):
    files = [evaluation(tmp_path / "eval.json"), evaluation(tmp_path / "tiers.json")]
    files += [confirmation(tmp_path / "new.json", 3), confirmation(tmp_path / "old.json", 1)]
    mining, out = write(tmp_path / "mine.json", **MINING), tmp_path / "released.json"
    collect(*files, mining, out)
    collect(*files, None, out)  # the speed of mining is kept
    content = json.loads(out.read_text())
    assert content["mining"] == MINING
    assert not {"model", "data", "curve"} & {*content["evaluation"], *content["tiers"]}
    lines = released_section(content)
    assert "| this detector | B | 10 | 3 of 10 (30.0 %) | 1 of 10 (10.0 %) | 6 of 10 (60.0 %) |" in lines
    assert "| the one before | B | 8 | 1 of 8 (12.5 %) | 1 of 8 (12.5 %) | 6 of 8 (75.0 %) |" in lines


def test_figures_that_do_not_belong_together_are_refused(tmp_path):
    files = [evaluation(tmp_path / "eval.json"), evaluation(tmp_path / "tiers.json")]
    new, old = confirmation(tmp_path / "new.json", 3), confirmation(tmp_path / "old.json", 1, ("attrs",))
    mining, out = write(tmp_path / "mine.json", **MINING), tmp_path / "released.json"
    with pytest.raises(ValueError, match=r"old.json: expected what .*new.json has for 'names'"):
        collect(*files, new, old, mining, out)
    files[1] = evaluation(tmp_path / "tiers.json", weights="other")
    with pytest.raises(ValueError, match=r"tiers.json: expected figures of the weights of .*eval.json"):
        collect(*files, new, new, mining, out)
