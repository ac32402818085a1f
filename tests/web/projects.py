"""A project to look at: planted bugs, and names and code that mean harm."""

import json
import os
from pathlib import Path

import hyperheat.check

HARM = '</textarea></code></svg><script>window.harmed = 1</script><img src=x onerror="window.harmed = 2">'
HOSTILE = (
    "def first_of(items, default):\n"
    f"    '''{HARM} \u202e \u2066'''\n"
    "    for item in items:\n"
    f"        print({HARM!r}, '\u202etxet')\n"
    "        return items\n"
    "    return default\n"
)
HOSTILE_NAME = "<img src=x onerror=window.harmed=3>\"'&\u202e.py"
LONG = """\
def merge(left, right, key=None, reverse=False):
    \"\"\"Merge two sorted lists.\"\"\"
    result = []
    i = 0
    j = 0
    if key is None:
        key = lambda x: x
    while i < len(left) and j < len(right):
        first_key = key(left[i])
        other_key = key(right[j])
        if reverse:
            before = first_key >= other_key
        else:
            before = first_key <= other_key
        if before:
            result.append(left[i])
            i += 1
        else:
            result.append(right[i])
            j += 1
    while i < len(left):
        result.append(left[i])
        i += 1
    while j < len(right):
        result.append(right[j])
        j += 1
    total = 0
    for item in result:
        try:
            total += int(item)
        except (TypeError, ValueError) as error:
            print(error, item)
            continue
        finally:
            total += 0
    if total > len(left) + len(right):
        return None
    return result
"""


def write_project(folder: Path) -> None:
    """Write the files; one has a name that is not text where the system allows that."""
    for path in Path(hyperheat.check.__path__[0], "example").glob("*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "merge.py").write_text(LONG, encoding="utf-8")
    (folder / HOSTILE_NAME).write_text(HOSTILE, encoding="utf-8")
    (folder / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (folder / "dos.py").write_bytes(
        b"def pick(items, default):\r\n    for item in items:\r\n        return items\r\n    return default\r\n"
    )
    cells = ["%matplotlib inline\nlimit = 3\n", "!ls\n", "\n\n" + HOSTILE]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "book.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    if os.name == "posix":
        name = os.fsencode(folder) + b"/odd\xff.py"
        Path(os.fsdecode(name)).write_text(HOSTILE, encoding="utf-8")
