"""Archives that are broken or hostile, and what is taken from those that are not."""

import gzip
import io
import tarfile
import zipfile

import pytest
from tests.bugs.mining.local_index import make_sdist, make_wheel

from hyperheat.bugs.corpus import package_sources as sources
from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.bugs.mining import archive as module
from hyperheat.bugs.mining.archive import open_archive

WHEEL, SDIST, ZIP = "p-1-py3-none-any.whl", "p-1.tar.gz", "p-1.zip"
CODE = b"def f(a):\n    return a + 1\n"


def read_all(archive):
    return {path: archive.read(path) for path in archive.members}


def in_both(files):
    """The files as a wheel and as a source archive have them."""
    return open_archive(WHEEL, make_wheel(files)), open_archive(SDIST, make_sdist(files))


def test_both_forms_give_the_same():
    files = {"p/a.py": CODE, "p/b.py": b"", "p/data.json": b"{}", "README.md": b"", "setup.py": b"x = 1\n"}
    wheel, sdist = in_both(files)
    assert list(wheel.members) == ["p/a.py", "p/b.py", "setup.py"]
    assert read_all(wheel) == read_all(sdist)
    assert wheel.members == sdist.members, "expected equal checksums"
    packed = open_archive(ZIP, make_wheel({f"p-1/{path}": text for path, text in files.items()}))
    assert packed.members == wheel.members


def test_a_leading_src_is_no_part_of_the_path():
    wheel, sdist = in_both({"src/p/a.py": CODE, "./src/p/b.py": CODE, "src.py": CODE, "p//./c.py": CODE})
    assert list(wheel.members) == list(sdist.members) == ["p/a.py", "p/b.py", "src.py", "p/c.py"]
    alone = open_archive(SDIST, make_sdist({"a.py": CODE}, ""))
    assert list(alone.members) == ["a.py"]


def test_tests_docs_vendored_and_generated_files_are_left_out():
    files = {
        "p/a.py": CODE,
        "tests/test_a.py": CODE,
        "p/tests/b.py": CODE,
        "docs/conf.py": CODE,
        "p/_vendor/six.py": CODE,
        "p/_version.py": CODE,
        "p/made.py": b"# Automatically generated, do not edit.\n" + CODE,
    }
    for archive in in_both(files):
        assert list(archive.members) == ["p/a.py", "p/made.py"]
        assert archive.read("p/made.py") is None
        assert archive.dropped == {
            "files: tests": 2,
            "files: documentation": 1,
            "files: vendored": 1,
            "files: generated": 1,
        }
        assert list(archive.sources().files) == ["p/a.py"]
        assert archive.sources().dropped["files: generated or not readable"] == 1


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_files_of_one_name_the_last_counts():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("p/a.py", b"x = 1\n")
        archive.writestr("p/a.py", CODE)
    assert read_all(open_archive(WHEEL, packed.getvalue())) == {"p/a.py": CODE}
    first = gzip.decompress(make_sdist({"p/a.py": b"x = 1\n"})).rstrip(b"\0")
    padded = first + b"\0" * (-len(first) % 512)
    both = gzip.compress(padded + gzip.decompress(make_sdist({"p/a.py": CODE})))
    assert read_all(open_archive(SDIST, both)) == {"p/a.py": CODE}


@pytest.mark.parametrize("path", ["../a.py", "p/../../a.py", "/etc/a.py", "p\\..\\a.py", "C:/a.py"])
def test_paths_that_leave_the_package_are_refused(path):
    for file, contents in ((WHEEL, make_wheel({path: CODE})), (SDIST, make_sdist({path: CODE}, ""))):
        with pytest.raises(CorpusError, match="the archive has a path outside the package"):
            open_archive(file, contents)


def test_links_are_not_followed():
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        link = tarfile.TarInfo("package-1/p/link.py")
        link.type, link.linkname = kind, "/etc/passwd"
        archive = open_archive(SDIST, make_sdist({"p/a.py": CODE}, "package-1/", link))
        assert read_all(archive) == {"p/a.py": CODE}
    info = zipfile.ZipInfo("p/link.py")
    info.external_attr = 0o120777 << 16
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(CorpusError, match=r"the archive has a link: 'p/link.py'"):
        open_archive(WHEEL, packed.getvalue())


def test_names_that_are_not_utf8():
    info = tarfile.TarInfo("package-1/p/b\udcff.py")
    archive = open_archive(SDIST, _tar_with(info, b"x = 1\n"))
    assert (archive.members, archive.dropped) == ({}, {"files: name not readable": 1})
    named = make_wheel({"p/caf.py": CODE}).replace(b"caf.py", b"ca\xe9.py")
    (path,) = open_archive(WHEEL, named).members
    assert path.startswith("p/ca")
    path.encode()


def _tar_with(info, contents):
    packed = io.BytesIO()
    with tarfile.open(
        fileobj=packed, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as archive:
        info.size = len(contents)
        archive.addfile(info, io.BytesIO(contents))
    return gzip.compress(packed.getvalue())


def test_a_file_whose_checksum_is_wrong_is_left_out():
    contents = bytearray(_stored({"p/a.py": CODE, "p/b.py": CODE}))
    contents[contents.index(b"return")] ^= 1
    archive = open_archive(WHEEL, bytes(contents))
    assert read_all(archive) == {"p/a.py": None, "p/b.py": CODE}
    assert list(archive.sources().files) == ["p/b.py"]


def _stored(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()


def test_broken_archives_are_one_sentence():
    wheel, sdist = make_wheel({"p/a.py": CODE}), make_sdist({"p/a.py": CODE * 100})
    tar = gzip.decompress(sdist)
    broken = [
        (WHEEL, b""),
        (WHEEL, wheel[:-30]),
        (WHEEL, b"PK" * 50),
        (SDIST, b""),
        (SDIST, b"no gzip"),
        (SDIST, sdist[: len(sdist) // 2]),
        (SDIST, sdist[:15]),
        (SDIST, gzip.compress(b"no tar" * 1000)),
        (SDIST, gzip.compress(tar[:1500])),
        (SDIST, sdist[:30] + b"\0\0\0\0" + sdist[34:]),
        (SDIST, wheel),
        (ZIP, sdist),
    ]
    for file, contents in broken:
        with pytest.raises(CorpusError, match=f"^{file} is broken: .") as caught:
            open_archive(file, contents)
        assert "\n" not in str(caught.value)


def test_a_gzip_file_of_several_parts_is_read_to_its_end():
    tar = gzip.decompress(make_sdist({"p/a.py": CODE, "p/b.py": CODE}))
    parts = gzip.compress(tar[:700]) + gzip.compress(tar[700:])
    assert list(open_archive(SDIST, parts).members) == ["p/a.py", "p/b.py"]


def test_archives_that_grow_beyond_the_limits_are_refused(monkeypatch):
    bomb = {"p/a.py": b" " * 1_000_000}
    with pytest.raises(CorpusError, match=r"'p/a.py' is compressed more than 200-fold"):
        open_archive(WHEEL, make_wheel(bomb))
    monkeypatch.setattr(module, "_SMALL", 500_000)
    sdist = make_sdist({"p/data.bin": b" " * 1_000_000})
    with pytest.raises(CorpusError, match=r"^the archive unpacks to more than 500,000 bytes$"):
        open_archive(SDIST, sdist)
    monkeypatch.setattr(module, "_SMALL", 2_000_000)
    assert open_archive(SDIST, sdist).members == {}
    monkeypatch.setattr(module, "MAX_UNPACKED_BYTES", 900_000)
    with pytest.raises(CorpusError, match=r"^the archive unpacks to more than 900,000 bytes$"):
        open_archive(SDIST, sdist)


def test_a_header_that_promises_gigabytes_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_SMALL", 500_000)
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 7_000_000_000
    packed = gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1_000_000)
    with pytest.raises(CorpusError, match="the archive unpacks to more than"):
        open_archive(SDIST, packed)


def test_too_many_or_too_long_files(monkeypatch):
    files = {"p/a.py": CODE, "p/b.py": CODE, "p/c.py": CODE}
    for target in (module, sources):
        monkeypatch.setattr(target, "MAX_FILE_BYTES", len(CODE) - 1)
    for archive in in_both(files):
        assert (archive.members, archive.dropped) == ({}, {"files: too long": 3})
    for target in (module, sources):
        monkeypatch.setattr(target, "MAX_FILE_BYTES", len(CODE))
        monkeypatch.setattr(target, "MAX_TOTAL_BYTES", 2 * len(CODE))
    for file, contents in ((WHEEL, make_wheel(files)), (SDIST, make_sdist(files))):
        with pytest.raises(CorpusError, match=r"bytes of Python"):
            open_archive(file, contents)
    for target in (module, sources):
        monkeypatch.setattr(target, "MAX_MEMBERS", 2)
    for file, contents in ((WHEEL, make_wheel(files)), (SDIST, make_sdist(files))):
        with pytest.raises(CorpusError, match="more than 2"):
            open_archive(file, contents)
