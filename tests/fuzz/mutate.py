"""Inputs that are nearly right: known ones with random changes, the same ones for the same seed.

A target tries 200 of them, or as many as HYPERHEAT_FUZZ says.
"""

import os
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random

__all__ = ["INPUTS", "bounded", "mutants", "mutate"]

INPUTS = int(os.environ.get("HYPERHEAT_FUZZ", "200"))
"""How many inputs each target tries."""

_TOKENS = (
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\t",
        b"'",
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
    ),
    *(
        b"]",
        b"-1",
        b"0",
        b"1e999",
        b"NaN",
        b"Infinity",
        b"9" * 30,
        b"null",
        b"true",
        b"\xe3\x85\xa4",
        b"**/",
        b"!",
    ),
    *(
        b"../",
        b"/",
        b"=",
        b".",
        b",",
        b"#",
        b"(",
        b")",
        b":",
        b" ",
        b"    ",
        b"\x1b[31m",
        b"::error::",
        b"##[x]",
    ),
)


def mutants(seeds: Sequence[bytes], *, seed: int = 0, count: int = INPUTS) -> Iterator[bytes]:
    """So many inputs, the known ones first."""
    rng = Random(seed)
    yield from seeds[:count]
    for _ in range(count - len(seeds)):
        yield mutate(rng, seeds)


def mutate(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """A known input with a few changes."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 1, 2, 8, 60)))
        change = rng.randrange(6)
        if change == 0:
            data[start:end] = rng.choice(_TOKENS)
        elif change == 1:
            data[start:end] = rng.randbytes(end - start)
        elif change == 2:
            del data[start:end]
        elif change == 3:
            data[start:start] = data[start:end] * rng.choice((1, 2, 30))
        elif change == 4:
            other = rng.choice(seeds)
            cut = rng.randrange(len(other) + 1)
            data[start:end] = other[cut : cut + rng.choice((3, 20, 200))]
        else:
            del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


@contextmanager
def bounded(*, seconds: float = 20.0, megabytes: int = 300) -> Iterator[None]:
    """One input must not take more work, nor let this process grow by more."""
    start, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.process_time() - start < seconds
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024 < megabytes
