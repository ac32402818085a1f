"""Repairs made by hand, and folders that git tracks."""

import subprocess
from pathlib import Path

from hyperheat.check.discovery import FoundFile
from hyperheat.check.repairs import Repair, plan_repair
from hyperheat.report import FileEdit, Finding, Fix

SOURCE = "def area(width, height):\n    return width * width\n\n\ndef scale(factor, by):\n    return factor * factor\n"
FIXED = "def area(width, height):\n    return width * height\n\n\ndef scale(factor, by):\n    return factor * by\n"
AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def make_finding(
    *edits: tuple[int, int, int, int, str], function: str = "area", confidence: float = 0.9
) -> Finding:
    """A finding whose repair are edits: line, column, end line, end column, text."""
    done = tuple(
        FileEdit(line=a, column=b, end_line=c, end_column=d, text=text) for a, b, c, d, text in edits
    )
    return Finding(
        path="a.py",
        rule="HH101",
        kind="variable-misuse",
        line=done[0].line,
        column=done[0].column,
        end_line=done[0].end_line,
        end_column=done[0].end_column,
        function=function,
        message="",
        confidence=confidence,
        tier="A",
        fix=Fix(done),
    )


AREA = make_finding((2, 20, 2, 25, "height"))
SCALE = make_finding((6, 21, 6, 27, "by"), function="scale", confidence=0.8)


def make_repair(
    path: Path, text: str | bytes = SOURCE, findings: tuple[Finding, ...] = (AREA, SCALE)
) -> Repair:
    return plan_repair(FoundFile(path.name, path), text.encode() if isinstance(text, str) else text, findings)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *AUTHOR, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def commit_all(folder: Path) -> None:
    """Make a folder a git repository in which everything is committed."""
    git(folder, "init", "-qb", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x", "--allow-empty")
