from dataclasses import fields, replace

import numpy as np
import pytest
from tests.detector.samples import all_samples

from hyperheat.bugs.dataset import draw_indices
from hyperheat.bugs.shards import Shard, read_shard, write_shard
from hyperheat.detector.sample import Candidates


def assert_equal(one, other):
    for name in ("origin", "source", "graph", "pairs", "repairs"):
        assert getattr(one, name) == getattr(other, name)
    assert (one.token_of == other.token_of).all()
    for field in fields(Candidates):
        assert (getattr(one.candidates, field.name) == getattr(other.candidates, field.name)).all()


def test_what_is_written_is_read(tmp_path):
    samples = all_samples(every=3)
    samples[0] = replace(samples[0], origin=replace(samples[0].origin, tags=("fix", "main")))
    assert write_shard(samples, tmp_path / "a.parquet") == len(samples)
    for one, other in zip(samples, read_shard(tmp_path / "a.parquet"), strict=True):
        assert_equal(one, other)
    write_shard(samples, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    light = Shard(tmp_path / "a.parquet", pairs=False)
    assert light[0].pairs is None
    assert light.sizes() == [sample.graph.num_nodes for sample in samples]
    with pytest.raises(IndexError, match=f"expected 0 to {len(samples) - 1}, got {len(samples)}"):
        light[len(samples)]


def test_an_empty_shard_is_no_accident(tmp_path):
    assert write_shard([], tmp_path / "a.parquet") == 0
    assert list(read_shard(tmp_path / "a.parquet")) == []


def test_an_interrupted_write_leaves_nothing(tmp_path):
    def broken():
        yield all_samples()[0]
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_shard(broken(), tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.parquet").write_text("not a table")
    with pytest.raises(ValueError, match=r"text\.parquet: expected a Parquet file of bug samples"):
        Shard(tmp_path / "text.parquet")
    write_shard(all_samples(), tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"cut\.parquet: expected a Parquet file of bug samples"):
        Shard(tmp_path / "cut.parquet")
    with pytest.raises(FileNotFoundError):
        Shard(tmp_path / "absent.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: replace(s, repairs=(len(s.candidates),)), "repairs: expected rising places"),
        (lambda s: replace(s, token_of=s.token_of[:-1]), "token_of: expected a node or -1"),
        (
            lambda s: replace(s, candidates=replace(s.candidates, location=s.candidates.location[::-1])),
            "locations among the nodes, in order",
        ),
        (
            lambda s: replace(s, candidates=replace(s.candidates, first=s.candidates.first + 10_000)),
            "variables and arguments among the nodes",
        ),
        (
            lambda s: replace(s, candidates=replace(s.candidates, kind=np.zeros(1, np.int32))),
            "columns of equal length",
        ),
    ],
)
def test_numbers_that_lead_outside_are_refused(tmp_path, change, message):
    write_shard([change(all_samples()[1])], tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=rf"a\.parquet: row 0: .*{message}"):
        Shard(tmp_path / "a.parquet")[0]


def test_a_part_of_the_samples_keeps_their_shares():
    drawn = draw_indices(8_000, 2_000)
    assert drawn == sorted(set(drawn)) == draw_indices(8_000, 2_000)
    assert (len(drawn), max(drawn) < 8_000) == (2_000, True)
    assert 400 < sum(index % 4 == 0 for index in drawn) < 600  # every fourth sample is clean
    assert draw_indices(3, 10) == [0, 1, 2]
