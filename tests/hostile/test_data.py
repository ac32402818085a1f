"""Statements, archives and checkpoints that are broken or mean harm: one sentence with the file's name, little memory."""

import bz2
import gzip
import io
import json
import resource
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from tests.hostile.projects import hyperheat

from hyperheat.bugs.corpus.package_sources import read_wheel
from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.kg.readers import ReadError, read
from hyperheat.train.checkpoint import read_checkpoint


@pytest.mark.parametrize("name", ["facts.gz", "facts.bz2", "facts.ttl.gz"])
def test_a_line_without_end_is_refused_before_it_fills_memory(tmp_path: Path, name: str):
    path = tmp_path / name
    opener = gzip.open if name.endswith("gz") else bz2.open
    with opener(path, "wb") as file:
        file.write(b'<a:a> <a:b> "' if "ttl" in name else b"head,relation,tail\n")
        for _ in range(400):
            file.write(b"a" * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ReadError, match=name):
        list(read(path))
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 300_000_000


def test_import_of_a_bomb_ends_with_a_sentence(tmp_path: Path):
    with gzip.open(tmp_path / "facts.gz", "wb") as file:
        for _ in range(100):
            file.write(b"a" * 1_000_000)
    ran = hyperheat("kg", "import", "facts.gz", "--to", "data", cwd=tmp_path)
    assert ran.code == 2
    assert ran.err == "facts.gz:1: the line is longer than 16000000 bytes\n"


def test_corrupt_parquet_is_named(tmp_path: Path):
    path = tmp_path / "facts.parquet"
    names = [f"e{number}" for number in range(5_000)]
    table = pyarrow.table({"subject": names, "relation": names, "object": names})
    pyarrow.parquet.write_table(table, path, compression="snappy")
    data = bytearray(path.read_bytes())
    data[200:3_000] = b"\xff" * 2_800
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"facts\.parquet"):
        list(read(path))


def wheel(method: int) -> bytearray:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        archive.writestr("pack/a.py", "def f(a, b):\n    return a + b\n" * 40)
    return bytearray(data.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_archives_with_broken_members_are_refused(tmp_path: Path, method: int):
    data = wheel(method)
    data[39:80] = b"\xff" * 41
    (tmp_path / "pack.whl").write_bytes(data)
    with pytest.raises(CorpusError, match="not a readable zip archive: "):
        read_wheel(tmp_path / "pack.whl")


@pytest.mark.parametrize("value", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x80"])
def test_archives_with_wrong_offsets_and_names_are_refused(tmp_path: Path, value: bytes):
    data = wheel(zipfile.ZIP_STORED)
    directory = data.index(b"PK\x01\x02")
    data[directory + 42 : directory + 46] = value
    (tmp_path / "pack.whl").write_bytes(data)
    with pytest.raises(CorpusError, match="not a readable zip archive: "):
        read_wheel(tmp_path / "pack.whl")
    data = wheel(zipfile.ZIP_STORED)
    directory = data.index(b"PK\x01\x02")
    data[directory + 8 : directory + 10] = b"\x00\x08"  # says that its name is in UTF-8, which it is not
    data[directory + 46 : directory + 48] = b"\xff\xfe"
    (tmp_path / "pack.whl").write_bytes(data)
    with pytest.raises(CorpusError, match="not a readable zip archive: "):
        read_wheel(tmp_path / "pack.whl")


def test_a_checkpoint_that_is_nested_without_end_is_named(tmp_path: Path):
    (tmp_path / "training.json").write_text(json.dumps({"state": 1})[:-1] + ', "scale": ' + "[" * 100_000)
    with pytest.raises(ValueError, match=r"training\.json: not the state of a training run: "):
        read_checkpoint(tmp_path)
