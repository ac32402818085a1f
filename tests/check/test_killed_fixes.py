"""A repair that is killed at any moment leaves the old file or the new one.

A process that has everything loaded forks children that repair files, and each of them kills itself: before and after
every call to the system, then at random ones of all calls. HYPERHEAT_KILLS sets how many of the latter.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # where there is no disk to wait for
KILLS = int(os.environ.get("HYPERHEAT_KILLS", "400"))

SCRIPT = '''
import io, json, os, random, signal, sys, types
from pathlib import Path
from tests.check.made_repairs import FIXED, SOURCE, make_repair
from hyperheat.check.repairs import write_repair

os.fsync = os.fstat  # the disk may take its time; what was written survives a kill without it
PADDING = "# " + "x" * 20_000 + "\\n"
OLD, NEW = (SOURCE + PADDING).encode(), (FIXED + PADDING).encode()
folder, kills = Path(sys.argv[1]), int(sys.argv[2])
files = [folder / name for name in ("a.py", "b.py")]
repairs = [make_repair(file, OLD) for file in files]
counts = {"killed": 0, "old": 0, "new": 0, "torn": 0, "most_leftovers": 0}

def repair_all(watch):
    sys.setprofile(watch)
    for repair in repairs:
        write_repair(repair, root=folder, allow_dirty=True)
    sys.setprofile(None)

def to_system(argument):
    builtin = isinstance(argument, types.BuiltinFunctionType) and argument.__name__ not in ("fspath", "lstat")
    return builtin and (argument.__module__ in ("posix", "io") or isinstance(argument.__self__, io.IOBase))

def count_calls():
    """For each beginning and end of a call in a repair, whether it is one to the system."""
    calls = []
    repair_all(lambda frame, what, argument: calls.append(to_system(argument)))
    return calls

def kill_at(call):
    """Repair in a child that kills itself at the call of that number, and look at what it left."""
    def watch(frame, what, argument):
        nonlocal call
        call -= 1
        if call < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    reset()
    child = os.fork()
    if child == 0:
        repair_all(watch)
        os._exit(0)
    counts["killed"] += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    for file in files:
        data = file.read_bytes()
        counts["old" if data == OLD else "new" if data == NEW else "torn"] += 1
    counts["most_leftovers"] = max(counts["most_leftovers"], len(os.listdir(folder)) - len(files))

def reset():
    for file in files:
        file.write_bytes(OLD)

reset()
calls = count_calls()
counts["to_system"] = sum(calls)
chooser = random.Random(0)
chosen = [call for call, system in enumerate(calls) if system] + chooser.choices(range(len(calls)), k=kills)
for call in chosen:
    kill_at(call)
reset()
repair_all(None)
counts["left_at_the_end"] = sorted(os.listdir(folder))
sys.stdout.write(json.dumps(counts))
'''


def test_no_kill_tears_a_file_and_leftovers_do_not_pile_up():
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, folder, str(KILLS)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
            timeout=60 + KILLS,
        )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["torn"] == 0
    assert counts["to_system"] > 30
    assert counts["killed"] > 0.97 * (counts["to_system"] + KILLS)  # calls vary by a few
    assert min(counts["old"], counts["new"]) > counts["killed"] // 10
    assert counts["most_leftovers"] <= 2  # one beside each file
    assert counts["left_at_the_end"] == ["a.py", "b.py"]
