"""Random models, archives and statements: each is read or refused in one sentence, with little work and memory."""

import bz2
import gzip
import io
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow
import pyarrow.parquet
import pytest
from tests.detector.samples import all_samples
from tests.fuzz.mutate import INPUTS, bounded, mutants, mutate
from tests.hostile.models import relist
from tests.kg.test_readers import GOOD

from hyperheat.bugs.corpus.package_sources import read_wheel
from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.detector import Scorer
from hyperheat.detector.detector import load_detector
from hyperheat.kg.readers import ReadError, read

TURTLE = (
    b"@prefix : <http://a/> .\n:s :p :o {| :q :v |} .\n<< :s :p :o >> :q2 :w .\n:s :p 'x'@en .\n"
    b"<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/P69>"
    b" <http://www.wikidata.org/entity/statement/Q1-A> .\n"
)
WIKIDATA = (
    b'[\n{"id":"Q1","type":"item","labels":{"en":{"value":"one"}},"claims":{"P69":[{"mainsnak":{"snaktype":"value",'
    b'"datavalue":{"type":"wikibase-entityid","value":{"id":"Q2"}}},"rank":"normal","qualifiers":{"P512":[{"snaktype":'
    b'"somevalue"}]},"qualifiers-order":["P512"]}]}},\n]\n'
)


def parquet() -> bytes:
    """Statements with nested qualifiers, compressed."""
    data = io.BytesIO()
    pairs = [[{"relation": "q", "value": "x"}], None]
    columns = {"subject": ["a", "b"], "relation": ["r", "r"], "object": ["c", "d"], "qualifiers": pairs}
    pyarrow.parquet.write_table(pyarrow.table(columns), data, compression="snappy")
    return data.getvalue()


STATEMENTS = {
    **{format: (name, text.encode()) for format, (name, text, _) in GOOD.items()},
    "rdf": ("facts.ttl", TURTLE),
    "wikidata": ("dump.json", WIKIDATA),
    "parquet": ("facts.parquet", parquet()),
    "gzip": ("facts.csv.gz", gzip.compress(GOOD["table"][1].encode(), mtime=0)),
    "bzip2": ("facts.csv.bz2", bz2.compress(GOOD["table"][1].encode())),
}


@pytest.mark.parametrize("format", STATEMENTS)
def test_statements(tmp_path: Path, format: str):
    name, seed = STATEMENTS[format]
    path, refusals = tmp_path / name, []
    for data in mutants([seed]):
        path.write_bytes(data)
        with bounded():
            try:
                list(read(path))
            except ReadError as error:
                refusals.append(str(error))
    assert 0 < len(refusals) < INPUTS
    assert all(refusal.startswith(str(path)) for refusal in refusals)


def wheels() -> list[bytes]:
    """Archives of each way to compress."""
    made = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", method) as archive:
            archive.writestr("pack/__init__.py", "x = 1\n")
            archive.writestr("pack/é.py", "def f(a, b):\n    return a + b\n" * 20)
            archive.writestr("pack-1.0.dist-info/RECORD", "")
        made.append(data.getvalue())
    return made


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_wheels(tmp_path: Path):
    path = tmp_path / "pack.whl"
    for data in mutants(wheels()):
        path.write_bytes(data)
        with bounded(), suppress(CorpusError):
            read_wheel(path)
    assert [file.name for file in tmp_path.iterdir()] == ["pack.whl"]


def test_model_folders(tmp_path: Path, exported_detector: Path):
    folder, rng, loaded = shutil.copytree(exported_detector, tmp_path / "model"), Random(0), 0
    names = ("model.safetensors", "vocab.json", "config.json", "calibration.json", "manifest.json")
    whole = {name: (folder / name).read_bytes() for name in names}
    sample = next(iter(all_samples(every=1000)))
    for _ in range(INPUTS):
        name = rng.choice(names)
        (folder / name).write_bytes(mutate(rng, [whole[name]]))
        if name != "manifest.json":
            relist(folder)
        with bounded(megabytes=1_200):
            try:
                load_detector(folder)
                Scorer.load(folder).score([sample])
                loaded += 1
            except (ValueError, MemoryError):
                pass
        for restored in (name, "manifest.json"):
            (folder / restored).write_bytes(whole[restored])
    assert loaded
