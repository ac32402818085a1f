"""What a package index lists, and what it gives."""

import json

import pytest
from tests.bugs.mining.local_index import make_sdist, make_wheel

from hyperheat.bugs.corpus.packages import CorpusError, PassingError
from hyperheat.bugs.mining import registry as module
from hyperheat.bugs.mining.registry import Registry


def versions(index, package="pack"):
    return [release.version for release in index.registry.releases(package).releases]


def test_versions_stand_in_their_order(any_index):
    for version in ("1.10", "1.9", "1.9.post1", "1!0.1", "2.0", "1.9.1", "0.9", "2024.1"):
        any_index.release("pack", version, {})
    assert versions(any_index) == ["0.9", "1.9", "1.9.post1", "1.9.1", "1.10", "2.0", "2024.1", "1!0.1"]


def test_files_that_are_no_final_release_are_left_out_and_counted(any_index):
    any_index.release("pack", "1.0", {})
    for version in ("1.1a1", "1.1b2", "1.1rc1", "1.1.dev3", "1.0+local"):
        any_index.release("pack", version, {})
    any_index.release("pack", "1.2", {}, yanked="broken")
    any_index.add("pack", "pack-1.3-cp311-cp311-manylinux_2_17_x86_64.whl")
    any_index.add("pack", "pack-1.3-cp312-cp312-win_amd64.whl")
    any_index.add("pack", "pack-1.4-py2-none-any.whl")
    for name in ("pack-1.5.tar.bz2", "pack-1.5.exe", "pack-1.5-py3.11.egg", "pack-1.5.tar.gz.asc"):
        any_index.add("pack", name)
    for name in ("pack-unknown.tar.gz", "pack-1.0-py3-none.whl", "pack-1..2.tar.gz", "pack- 1.6.tar.gz"):
        any_index.add("pack", name.replace(" ", "%20") if any_index.form == "html" else name)
    any_index.add("pack", f"pack-{'9' * 5000}.tar.gz")
    any_index.add("pack", f"pack-{'.'.join('1' * 150)}.tar.gz")
    any_index.add("pack", "pack_extras-1.0.tar.gz")
    listing = any_index.registry.releases("pack")
    assert [release.version for release in listing.releases] == ["1.0"]
    assert listing.left_out == {
        "not a final release": 5,
        "yanked": 1,
        "neither a pure wheel nor a source archive": 2,
        "an archive of another form": 4,
        "a version that cannot be read": 4,
        "an absurdly long version": 2,
        "a file of another package": 1,
    }
    assert "pack-1.2-py3-none-any.whl" in listing.archives


@pytest.mark.parametrize("backwards", [False, True])
def test_the_best_archive_of_a_version_is_chosen_whatever_the_order(any_index, backwards):
    files = {
        "1.0": ["pack-1.0.tar.gz", "pack-1.0-py2.py3-none-any.whl", "pack-1.0-cp311-cp311-win32.whl"],
        "1.1": ["pack-1.1.tar.gz", "pack-1.1-cp311-cp311-win32.whl"],
        "1.2": ["pack-1.2-py2-none-any.whl", "pack-1.2.tar.gz"],
        "1.3": ["pack-1.3-1-py3-none-any.whl", "pack-1.3-py3-none-any.whl", "pack-1.3-10-py3-none-any.whl"],
        "1.4": ["Pack-1.4.0.tar.gz", "pack-1.4-py3-none-any.whl"],
        "1.5": ["pack-1.5.zip", "pack-1.5.tar.gz"],
    }
    names = [name for group in files.values() for name in group]
    for name in reversed(names) if backwards else names:
        any_index.add("pack", name, name.encode())
    releases = any_index.registry.releases("pack").releases
    chosen = [files[version][1 if version in ("1.0", "1.2", "1.4") else 0] for version in files]
    chosen[3] = "pack-1.3-10-py3-none-any.whl"
    assert [release.file for release in releases] == chosen
    assert [release.file.endswith(".whl") for release in releases] == [True, False, False, True, True, False]
    assert [any_index.registry.fetch(release) for release in releases] == [n.encode() for n in chosen]


def test_names_are_normalised(any_index):
    any_index.release("my-pack", "1.0", {})
    any_index.add("my-pack", "My.Pack-1.1.tar.gz")
    assert versions(any_index, "My_Pack") == ["1.1"]
    assert any_index.registry.releases("my.pack").left_out == {"a version that cannot be read": 1}
    any_index.add("my-pack", "my_pack-1.0-py3-none-any.whl")
    assert versions(any_index, "MY--PACK") == ["1.0", "1.1"]


def test_a_package_that_was_renamed_has_files_of_another_name(any_index):
    any_index.add("new", "old-1.0.tar.gz")
    any_index.add("new", "new-2.0.tar.gz")
    listing = any_index.registry.releases("new")
    assert [release.version for release in listing.releases] == ["2.0"]
    assert listing.left_out == {"a file of another package": 1}


def test_a_package_that_is_not_there(index, naps):
    with pytest.raises(CorpusError, match=r"^the package index has no package of this name$") as caught:
        index.registry.releases("absent")
    assert not isinstance(caught.value, PassingError)
    assert naps == [0]


def test_a_server_that_recovers_is_asked_again(index, naps):
    index.release("pack", "1.0", {"a.py": "x = 1\n"})
    index.answers["/simple/pack/"] = [500, 503]
    (release,) = index.registry.releases("pack").releases
    index.answers["/files/pack/pack-1.0-py3-none-any.whl"] = [429, b"half"]
    assert index.registry.fetch(release) == make_wheel({"a.py": "x = 1\n"})
    assert naps == [0, 1, 4, 0, 1, 4]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (500, "the package index could not be reached: Internal Server Error"),
        (b"half", r"the package index could not be reached: pack ended after 4 of \d+ bytes"),
    ],
)
def test_a_server_that_does_not_recover_is_given_up_for_now(index, naps, answer, message):
    index.release("pack", "1.0", {})
    index.answers["/simple/pack/"] = [answer] * 4
    with pytest.raises(PassingError, match=f"^{message}$"):
        index.registry.releases("pack")
    assert len(naps) == 4


def test_a_server_that_refuses_is_not_asked_again(index, naps):
    index.answers["/simple/pack/"] = [403]
    with pytest.raises(CorpusError, match=r"^the package index answered 403 Forbidden$"):
        index.registry.releases("pack")
    assert naps == [0]


def test_nobody_answers(naps):
    with pytest.raises(PassingError, match=r"^the package index could not be reached: .*refused"):
        Registry("http://127.0.0.1:9/simple").releases("pack")


def test_an_archive_that_is_gone_or_not_the_one_that_was_promised(any_index):
    any_index.release("pack", "1.0", {})
    any_index.release("pack", "1.1", {}, sha256="A" * 64)
    any_index.release("pack", "1.2", {}, sha256="")
    first, second, third = any_index.registry.releases("pack").releases
    assert second.sha256 == "a" * 64
    del any_index.files["pack"]["pack-1.0-py3-none-any.whl"]
    with pytest.raises(CorpusError, match=r"^pack-1.0-py3-none-any.whl is listed but cannot be downloaded$"):
        any_index.registry.fetch(first)
    with pytest.raises(CorpusError, match=r"does not have the SHA-256 hash that the index gives$"):
        any_index.registry.fetch(second)
    assert any_index.registry.fetch(third) == make_wheel({})


def test_large_archives_are_not_downloaded(index, monkeypatch):
    index.release("pack", "1.0", {})
    (release,) = index.registry.releases("pack").releases
    size = len(make_wheel({}))
    monkeypatch.setattr(module, "MAX_ARCHIVE_BYTES", size)
    assert len(index.registry.fetch(release)) == size
    monkeypatch.setattr(module, "MAX_ARCHIVE_BYTES", size - 1)
    with pytest.raises(CorpusError, match=f"^{release.file} has {size} bytes, more than {size - 1}$"):
        index.registry.fetch(release)


@pytest.mark.parametrize(
    ("kind", "page"),
    [
        ("application/vnd.pypi.simple.v1+json", b"{"),
        ("application/vnd.pypi.simple.v1+json", b"[]"),
        ("application/vnd.pypi.simple.v1+json", b'{"files": [1]}'),
        ("application/vnd.pypi.simple.v1+json", b'{"files": null}'),
        ("application/vnd.pypi.simple.v1+json", b"[" * 100_000),
        ("text/html", b"<a href='http://[x'>"),
        ("text/html", b"<![x>"),
    ],
)
def test_a_list_that_cannot_be_read(index, kind, page):
    index.pages["/simple/pack/"] = kind, page
    with pytest.raises(CorpusError, match=r"^the package index gives a list of files that cannot be read \("):
        index.registry.releases("pack")


@pytest.mark.parametrize("page", [b"", b"\xff\xfe", b"<a>", b"<a href>x", b"<html><a href=''>", b"Hello"])
def test_a_page_without_files(index, page):
    index.pages["/simple/pack/"] = "text/html", page
    assert index.registry.releases("pack").releases == ()


def test_links_belong_to_the_page_that_a_redirect_leads_to(index):
    index.pages["/mirror/deep/pack/"] = "text/html", b'<a href="files/pack-1.0.tar.gz">pack</a>'
    index.redirects["/simple/pack/"] = "/mirror/deep/pack/"
    (release,) = index.registry.releases("pack").releases
    assert release.url == f"{index.address}/mirror/deep/pack/files/pack-1.0.tar.gz"


def test_days_of_uploads(any_index):
    """Pages of links do not say them; another page of the index does."""
    file, day = "pack-1.0-py3-none-any.whl", "2020-02-29"
    any_index.release("pack", "1.0", {}, uploaded=f"{day}T12:00:00Z")
    releases = {"1.0": [{"filename": file, "upload_time": f"{day}T12:00:00"}], "1.1": []}
    any_index.pages["/pypi/pack/json"] = "application/json", json.dumps({"releases": releases}).encode()
    assert any_index.registry.dates("pack") == {file: day}


@pytest.mark.parametrize("page", [None, b"{", b'{"releases": 1}', b'{"releases": {"1.0": [{}]}}'])
def test_an_index_that_does_not_say_when_files_were_uploaded(index, page):
    index.release("pack", "1.0", {})
    if page is not None:
        index.pages["/pypi/pack/json"] = "application/json", page
    with pytest.raises(CorpusError, match=r"^the package index does not say when releases were uploaded$"):
        index.registry.dates("pack")


def test_only_web_addresses_without_passwords_are_asked(index):
    for url in ("file:///etc/passwd", "ftp://127.0.0.1/x"):
        page = {"files": [{"filename": "pack-1.0.tar.gz", "url": url}]}
        index.pages["/simple/pack/"] = "application/json", json.dumps(page).encode()
        (release,) = index.registry.releases("pack").releases
        with pytest.raises(CorpusError, match="expected an http or https address"):
            index.registry.fetch(release)
    with pytest.raises(CorpusError, match="asks for a user name or password is not supported") as caught:
        Registry("http://me:secret@127.0.0.1:9/simple").releases("pack")
    assert "secret" not in str(caught.value)


def test_the_index_is_that_of_pip(monkeypatch, tmp_path):
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = http://127.0.0.1:1/general\ncert = /no/where\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    monkeypatch.delenv("PIP_CERT", raising=False)
    assert Registry.configured() == Registry("http://127.0.0.1:1/general", "/no/where")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/special")
    assert Registry.configured().address == "http://127.0.0.1:1/special"


def test_pip_may_not_say_which_index_it_uses(monkeypatch):
    monkeypatch.setattr(module, "_pip", lambda *_: "")
    with pytest.raises(
        CorpusError, match=r"^pip does not say which package index it uses; give one with --index$"
    ):
        Registry.configured()


def test_a_missing_certificate_file_is_one_sentence(index):
    with pytest.raises(CorpusError, match=r"^the certificates in /no/where cannot be read: "):
        Registry(index.registry.address, "/no/where").releases("pack")


def test_equal_files_give_equal_archives():
    files = {"a.py": "x = 1\n", "b.py": b"y = 2\n"}
    assert (make_wheel(files), make_sdist(files)) == (make_wheel(files), make_sdist(files))
