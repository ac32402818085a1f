"""Every writer on a disk that fails at the Nth write, sync or rename: the old file or the new one is whole."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from tests.check.caches import open_cache
from tests.check.made_repairs import make_repair
from tests.check.test_cache import DETECTOR, ENTRY, FILE
from tests.fuzz.faults import failing_disk
from tests.fuzz.mutate import INPUTS

from hyperheat.bugs.corpus.workspace import load_record, save_record
from hyperheat.check.baseline import Known, read_baseline, write_baseline
from hyperheat.check.cache import make_secret
from hyperheat.check.repairs import FixError, write_repair
from hyperheat.cli.outputs import write_output
from hyperheat.files import write_whole
from hyperheat.hypergraph import HypergraphBuilder
from hyperheat.hypergraph.hif import read_hif, write_hif
from hyperheat.tensors import Vocabulary
from hyperheat.train.checkpoint import whole_folder

BUILDER = HypergraphBuilder()
BUILDER.relate("r", ("a", BUILDER.add_node("x")), ("b", BUILDER.add_node("y")))
GRAPH = BUILDER.build()


def folder_of_files(path: Path, text: str) -> None:
    with whole_folder(path) as temporary:
        (temporary / "a").write_text(text)


WRITERS: dict[str, Callable[[Path, str], object]] = {
    "file": lambda path, text: write_whole(path, text.encode()),
    "report": write_output,
    "baseline": lambda path, text: write_baseline(path, {"0" * 32: Known(text, "HH101", "f")}),
    "record": lambda path, text: save_record(path, {"text": text}),
    "hif": lambda path, text: write_hif(GRAPH, path),
    "vocabulary": lambda path, text: Vocabulary.build([GRAPH]).save(path),
}
READERS: dict[str, Callable[[Path], object]] = {
    "file": Path.read_bytes,
    "report": Path.read_bytes,
    "baseline": read_baseline,
    "record": load_record,
    "hif": read_hif,
    "vocabulary": Vocabulary.load,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_failing_disk_leaves_the_old_file_or_the_new_one(name: str, tmp_path: Path):
    path, write, rng, failed = tmp_path / "target", WRITERS[name], Random(0), 0
    write(path, "old")
    old = path.read_bytes()
    for _ in range(max(1, INPUTS // 20)):
        text = "new" * rng.randrange(1, 2_000)
        write(path, text)
        new = path.read_bytes()
        for fails_at in range(1, 10):
            path.write_bytes(old)
            with failing_disk(fails_at) as disk:
                try:
                    write(path, text)
                except OSError:
                    failed += 1
            assert path.read_bytes() in (old, new)
            READERS[name](path)
            assert [file.name for file in tmp_path.iterdir()] == ["target"]
            if disk.done < fails_at:  # it did not fail any more
                assert path.read_bytes() == new
                break
        else:
            pytest.fail("there was no end to it")
    assert failed >= 4  # write, sync, rename, sync of the folder


def test_a_repair_on_a_failing_disk(tmp_path: Path):
    path = tmp_path / "a.py"
    repair = make_repair(path)
    for fails_at in range(1, 8):
        path.write_bytes(repair.data)
        with failing_disk(fails_at), suppress(FixError):
            write_repair(repair, root=tmp_path, allow_dirty=True)
        assert path.read_bytes() in (repair.data, repair.repaired)
        assert [file.name for file in tmp_path.iterdir()] == ["a.py"]


def test_a_cache_on_a_failing_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for fails_at in range(1, 12):
        home = tmp_path / str(fails_at)
        monkeypatch.setenv("HYPERHEAT_CACHE", str(home))
        cache = open_cache(home, DETECTOR)
        with failing_disk(fails_at):
            cache.store(FILE, ENTRY)
        assert cache.load(FILE) in (None, ENTRY)
        cache.store(FILE, ENTRY)
        assert cache.load(FILE) == open_cache(home, DETECTOR).load(FILE) == ENTRY
        assert len(make_secret(home)) == 32


def test_a_folder_on_a_failing_disk(tmp_path: Path):
    for fails_at in range(1, 8):
        path = tmp_path / str(fails_at) / "best"
        for text in ("old", "new"):
            with failing_disk(fails_at if text == "new" else 0):
                try:
                    folder_of_files(path, text)
                except OSError:
                    assert text == "new"
        assert (path / "a").read_text() in ("old", "new")
