"""Whole builds on a small project: what they give, that they can be interrupted, and what they refuse."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from tests.bugs.corpus.wheels import write_wheel

from hyperheat.bugs.corpus import CorpusError, CorpusSettings, Package, build_corpus, source_packages
from hyperheat.bugs.corpus.package_sources import fetch_wheel
from hyperheat.bugs.corpus.random_bugs import _split_files
from hyperheat.bugs.dataset import SPLITS, Dataset, read_manifest
from hyperheat.bugs.shards import read_shard
from hyperheat.cli.bug_data import corpus, realise
from hyperheat.pycode import extract
from hyperheat.rewrites import candidates

PROJECT = Path(__file__).parent / "project"
FRESH = """
def fresh(amount, limit, step):
    total = amount + step
    while total < limit and step > 1:
        total = total * step
    return total - limit
"""
SCRIPT = (
    "import sys; from pathlib import Path; from hyperheat.cli.bug_data import corpus\n"
    "if __name__ == '__main__': corpus(out=Path(sys.argv[1]), source=Path(sys.argv[2]), workers=2)"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of the project, built by one worker."""
    out = tmp_path_factory.mktemp("corpus") / "out"
    build_corpus(source_packages(PROJECT), out, CorpusSettings(), workers=1)
    return out


def visible_files(out: Path) -> dict[str, str]:
    """The hashes of all files that belong to a data set."""
    paths = [path for path in out.rglob("*") if path.is_file() and ".work" not in path.parts]
    return {str(path.relative_to(out)): sha256(path.read_bytes()).hexdigest() for path in paths}


def test_the_manifest_describes_the_shards(built: Path):
    manifest = json.loads((built / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"]) == ("hyperheat-bugs", 2)
    assert manifest["settings"]["names"] == ["inventory", "payroll", "tournament"]
    paths = [shard["path"] for shard in manifest["shards"]]
    assert paths == ["train/inventory.parquet", "test/payroll.parquet", "valid/tournament.parquet"]
    for shard in manifest["shards"]:
        samples = list(read_shard(built / shard["path"]))
        assert visible_files(built)[shard["path"]] == shard["sha256"]
        assert len(samples) == shard["samples"] == sum(shard["kinds"].values())
        for kind, count in shard["kinds"].items():
            assert sum(sample.kind == kind for sample in samples) == count
    counts = manifest["counts"]
    assert counts["functions"] * 4 == sum(counts["samples"].values())
    assert manifest["failed"] == []
    assert set(visible_files(built)) == {*paths, "manifest.json"}


def test_every_function_is_there_clean_and_with_three_bugs_that_its_repair_mends(built: Path):
    samples = list(read_shard(built / "test" / "payroll.parquet"))
    originals = {}
    for path in ("hours.py", "taxes.py"):
        functions = extract((PROJECT / "payroll" / path).read_bytes()).functions
        originals.update({(path, f.name, f.span[0]): f for f in functions if len(candidates(f)) >= 6})
    assert len(samples) == 4 * len(originals) == 24
    for place, function in originals.items():
        own = [s for s in samples if (s.origin.path, s.origin.function, s.origin.line) == place]
        assert [sample.kind == "clean" for sample in own] == [True, False, False, False]
        assert own[0].source == function.source
        assert len({sample.source for sample in own}) == 4
        for sample in own[1:]:
            broken = extract(sample.source).functions[0]
            repaired = {rewrite.apply(broken.source) for rewrite in candidates(broken)}
            assert function.source in repaired


def test_killed_at_any_step_and_started_again_it_gives_the_same(built: Path, tmp_path: Path):
    out = tmp_path / "out"
    steps = [".work/index/*.npz", ".work/plan/*.json", "*/.*.parquet.*.tmp", ".work/made/*.json"]
    for step in steps:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, out, PROJECT], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not any(out.glob(step)) and process.poll() is None:
            time.sleep(0.002)
        assert process.poll() is None, f"it ended before {step}"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (out / "manifest.json").exists()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, out, PROJECT], capture_output=True, text=True, check=True
    )
    assert "3 packages, 10 files, 26 functions, 104 samples" in done.stdout
    assert visible_files(out) == visible_files(built)
    assert not any((out / ".work" / "unpacked").iterdir())


def test_a_finished_corpus_is_left_as_it_is(built: Path):
    before = visible_files(built)
    again = build_corpus(source_packages(PROJECT), built, CorpusSettings(), workers=1)
    assert again.samples_made == 0
    assert visible_files(built) == before


@pytest.mark.parametrize("damage", [b"", b"PAR1"])
def test_a_damaged_shard_is_made_again(built: Path, tmp_path: Path, damage: bytes):
    out = shutil.copytree(built, tmp_path / "out")
    (out / "test" / "payroll.parquet").write_bytes(damage)
    again = build_corpus(source_packages(PROJECT), out, CorpusSettings(), workers=1)
    assert again.samples_made == 24
    assert visible_files(out) == visible_files(built)


@pytest.mark.parametrize(
    ("settings", "packages", "message"),
    [
        (CorpusSettings(seed=1), ["inventory", "payroll", "tournament"], "started with seed = 0, not 1;"),
        (
            CorpusSettings(clean=0.5),
            ["inventory", "payroll", "tournament"],
            "started with clean = 0.25, not 0.5;",
        ),
        (CorpusSettings(), ["inventory"], "started with names = 3 names, not 1 names;"),
    ],
)
def test_other_settings_are_refused(built: Path, settings, packages, message):
    found = [package for package in source_packages(PROJECT) if package.name in packages]
    with pytest.raises(CorpusError, match=message):
        build_corpus(found, built, settings)


def test_bugs_are_planted_like_real_ones(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    train = {"kind": "comparison-operator", "after_text": "<=", "before_text": "<", "split": "train"}
    more = {"package": "a", "before": "1", "after": "2", "archive": "a-1.tar.gz", "sha256": "0" * 64}
    more |= {
        "path": "a.py",
        "function": "f",
        "start_line": 1,
        "end_line": 2,
        "span": [1, 0, 1, 1],
        "weight": 1.0,
    }
    references = tmp_path / "bugs.jsonl"
    references.write_text((json.dumps({**more, **train}) + "\n") * 50)
    out = tmp_path / "out"
    corpus(out=out, source=PROJECT, workers=1, like=(references,))
    assert "samples" in capsys.readouterr().out
    like, evenly = (read_manifest(folder) for folder in (out, built))
    assert like["settings"]["habits"]["confusions"] == {"comparison-operator": {"<= -> <": 50}}
    counts = [sum(n["comparison-operator"] for n in m["counts"]["kinds"].values()) for m in (like, evenly)]
    assert counts[0] > 1.5 * counts[1] > 0
    assert "habits" not in evenly["settings"]
    with pytest.raises(CorpusError, match="started with habits = those of other bugs, not None"):
        build_corpus(source_packages(PROJECT), out, CorpusSettings(), workers=1)
    references.write_text(json.dumps({**more, **train, "split": "test"}) + "\n")
    with pytest.raises(SystemExit):
        corpus(out=tmp_path / "other", source=PROJECT, workers=1, like=(references,))
    assert "expected references to bugs of the split 'train', got none" in capsys.readouterr().err


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(CorpusError, match="holds other files; choose a new or empty folder"):
        build_corpus(source_packages(PROJECT), tmp_path, CorpusSettings())


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which pip takes wheels, instead of from any registry."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_wheels_copies_broken_files_and_missing_packages(wheels: Path, tmp_path: Path, capsys):
    hours = (PROJECT / "payroll" / "hours.py").read_text()
    taxes = (PROJECT / "payroll" / "taxes.py").read_text()
    renamed = taxes.replace("cheapest_bracket", "best_bracket").replace("allowance", "free")
    write_wheel(
        wheels, "alpha", "2.1", {"alpha/hours.py": hours, "alpha/taxes.py": taxes, "alpha/bad.py": "def ("}
    )
    first = hours[hours.index("def minutes_between") : hours.index("def split_overtime")]
    some = f"# The same function in a file that is not the same.\n{first}\n\ndef other(words, start):\n    return words\n"
    write_wheel(wheels, "beta", "1", {"beta/copy.py": renamed, "beta/some.py": some})
    shutil.copy(__file__, wheels / "broken-1-py3-none-any.whl")
    names = tmp_path / "names.txt"
    names.write_text("alpha==2.1\nbeta\nbroken\nabsent\nleft-out\n")
    (tmp_path / "exclude.txt").write_text("left_out\n")
    corpus(out=tmp_path / "out", packages=names, exclude=tmp_path / "exclude.txt", workers=2)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    alpha, beta = manifest["packages"]
    assert (alpha["archive"], alpha["version"]) == ("alpha-2.1-py3-none-any.whl", "2.1")
    assert alpha["sha256"] == sha256((wheels / alpha["archive"]).read_bytes()).hexdigest()
    assert alpha["dropped"] == {"files: not readable": 1}
    assert alpha["refused"] == ["alpha/bad.py:1: not valid Python 3: invalid syntax"]
    assert beta["dropped"] == {
        "files: near-duplicate": 1,
        "functions: duplicate": 1,
        "functions: fewer than 6 candidates": 1,
    }
    assert [package["name"] for package in manifest["failed"]] == ["absent", "broken"]
    assert "no wheel found" in manifest["failed"][0]["reason"]
    printed = capsys.readouterr()
    assert "2 packages failed" in printed.out
    assert "absent: no wheel found" in printed.err


def test_without_a_network_nothing_is_settled(wheels: Path, tmp_path: Path, monkeypatch, capsys):
    """Port 9 of this machine answers nobody, as any address does in an outage."""
    files = {f"alpha/{path.name}": path.read_text() for path in (PROJECT / "payroll").glob("*.py")}
    write_wheel(wheels, "alpha", "1", files)
    names = tmp_path / "names.txt"
    names.write_text("alpha\nbeta\n")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(SystemExit) as ended:
        corpus(out=tmp_path / "out", packages=names, workers=2)
    assert ended.value.code == 2
    assert "1 packages failed, the first is beta: the download failed" in capsys.readouterr().err
    assert not (tmp_path / "out" / ".work" / "plan.json").exists()
    names.write_text("alpha\n")
    corpus(out=tmp_path / "out", packages=names, workers=1)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["settings"]["names"], manifest["failed"]) == (["alpha"], [])


def test_the_pip_of_a_killed_worker_meets_no_other(wheels: Path, tmp_path: Path):
    write_wheel(wheels, "alpha", "1", {"alpha.py": "x = 1\n"})
    old = tmp_path / ".alpha.part"
    old.mkdir()
    (old / "alpha-0-py3-none-any.whl").write_text("half")
    wheel, facts = fetch_wheel(Package(name="alpha"), tmp_path)
    assert (wheel.name, facts["version"]) == ("alpha-1-py3-none-any.whl", "1")
    assert list(old.iterdir())
    assert [path.name for path in tmp_path.glob(".*")] == [".alpha.part"]


def test_no_candidates_anywhere_is_an_error(tmp_path: Path, capsys):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a.py").write_text("def f():\n    return 'nothing'\n")
    with pytest.raises(SystemExit) as ended:
        corpus(out=tmp_path / "out", source=tmp_path / "pack", workers=1)
    assert ended.value.code == 2
    assert "none of the functions in 1 files has 6 or more places to plant a bug" in capsys.readouterr().err


def test_the_files_of_few_packages_are_split(tmp_path: Path, capsys):
    out = tmp_path / "out"
    corpus(out=out, source=PROJECT / "inventory", workers=1)
    shown = capsys.readouterr().out
    assert shown.startswith("1 packages, ")
    assert "split by file: there are too few packages to split them as a whole" in shown
    files = {split: {sample.origin.path for sample in Dataset(out, split)} for split in SPLITS}
    assert all(files.values())
    assert sum(map(len, files.values())) == len(set[str]().union(*files.values())), "a file is in one split"
    before = visible_files(out)
    corpus(out=out, source=PROJECT / "inventory", workers=2)
    assert visible_files(out) == before
    assert "all samples already exist" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("count", "splits"), [(1, [1, 0, 0]), (2, [1, 1, 0]), (3, [1, 1, 1]), (40, [32, 4, 4])]
)
def test_every_number_of_files_is_split(built: Path, count: int, splits: list[int]):
    sample = Dataset(built, "train")[0]
    files = [replace(sample, origin=replace(sample.origin, path=f"{n}.py")) for n in range(count)]
    parts = _split_files(sample for file in files for sample in [file] * 5)
    assert [len(part) // 5 for part in parts.values()] == splits


@pytest.mark.parametrize("command", ["corpus", "realise"])
def test_without_pyarrow_nothing_is_begun(tmp_path: Path, capsys, monkeypatch, command):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    reference = {"repo": "owner/name", "sha": "0" * 40, "parent": "1" * 40, "path": "a.py"}
    (tmp_path / "refs.jsonl").write_text(json.dumps(reference) + "\n")
    run = {
        "corpus": partial(corpus, source=PROJECT, workers=1),
        "realise": partial(realise, tmp_path / "refs.jsonl", repos=tmp_path),
    }[command]
    with pytest.raises(SystemExit) as ended:
        run(out=tmp_path / "out")
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("pyarrow is needed here and could not be imported")
    assert err.endswith("pip install 'hyperheat[train]'\n")
    assert not (tmp_path / "out").exists()


def test_what_to_read_must_be_said_once(tmp_path: Path, capsys):
    with pytest.raises(SystemExit) as ended:
        corpus(out=tmp_path / "out")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "give either --packages or --source\n"


def test_workers_and_a_cluster_are_one_too_many(tmp_path: Path, capsys):
    with pytest.raises(SystemExit) as ended:
        corpus(out=tmp_path / "out", source=PROJECT, workers=2, ray="local")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("give either --workers or --ray, ")
    assert not (tmp_path / "out").exists()


def test_large_packages_are_limited(tmp_path: Path):
    settings = CorpusSettings(functions_per_package=4, clean=1.0)
    packages = [Package(name="tournament", folder=str(PROJECT / "tournament"))]
    manifest = build_corpus(packages, tmp_path / "out", settings, workers=1).manifest
    assert sum(manifest["counts"]["samples"].values()) == 4
    assert manifest["counts"]["dropped"] == {"functions: over the limit of a package": 3}


def test_what_another_corpus_holds_is_left_out(built: Path, tmp_path: Path):
    project = shutil.copytree(PROJECT, tmp_path / "project")
    (known,) = (
        f for f in extract((PROJECT / "payroll" / "hours.py").read_bytes()).functions if f.name == "round_to"
    )
    (project / "inventory" / "fresh.py").write_text(f"{FRESH}\n\n{known.source}\n")
    settings = CorpusSettings(split_files=True)
    manifest = build_corpus(
        source_packages(project), tmp_path / "out", settings, beside=[built], workers=1
    ).manifest
    assert manifest["counts"]["functions"] == 1
    assert [shard["project"] for shard in manifest["shards"]] == ["inventory"]
    assert manifest["counts"]["dropped"]["functions: duplicate"] == 1
    assert manifest["counts"]["dropped"]["files: near-duplicate"] == 7
    assert manifest["settings"]["beside"] == [sha256((built / "manifest.json").read_bytes()).hexdigest()]
    with pytest.raises(CorpusError, match="this corpus was started with beside = 1 corpora, not None"):
        build_corpus(source_packages(project), tmp_path / "out", settings, workers=1)


def test_a_corpus_without_its_indexes_finds_no_duplicates(built: Path, tmp_path: Path):
    bare = shutil.copytree(built, tmp_path / "bare", ignore=shutil.ignore_patterns(".work"))
    with pytest.raises(CorpusError, match=r"bare: expected a finished corpus with its folder \.work"):
        build_corpus(source_packages(PROJECT), tmp_path / "out", CorpusSettings(), beside=[bare], workers=1)


def test_a_full_disk_is_said_and_nothing_is_lost(built: Path, tmp_path: Path):
    """A limit for the size of files stands for the disk: writing fails in the same way."""
    out = tmp_path / "out"
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, -1))\n{SCRIPT}"
    done = subprocess.run([sys.executable, "-c", limited, out, PROJECT], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no space left to write" in done.stderr
    assert done.stderr.rstrip().endswith("finished packages are kept")
    assert not (out / "manifest.json").exists()
    build_corpus(source_packages(PROJECT), out, CorpusSettings(), workers=1)
    assert visible_files(out) == visible_files(built)


def test_only_one_build_at_a_time(built: Path, tmp_path: Path):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print(flush=True); input()",
            built / ".work" / "lock",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(CorpusError, match="another build is running in"):
        build_corpus(source_packages(PROJECT), built, CorpusSettings(seed=1))
    holder.communicate(b"\n")
    assert os.path.exists(built / "manifest.json")
