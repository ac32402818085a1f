"""Caches in folders of tests, and entries that only this user can make."""

from pathlib import Path

from hyperheat.check.cache import Cache
from hyperheat.detector.detector import Detector

__all__ = ["open_cache", "sign"]


def open_cache(folder: Path, detector: Detector) -> Cache:
    """The cache in a folder, which need not exist."""
    cache = Cache.open(detector, folder)
    assert cache is not None
    return cache


def sign(cache: Cache, path: Path, content: bytes) -> bytes:
    """Content as an entry with the right hash."""
    assert cache._secret is not None
    return cache._sign(path, content, cache._secret) + b"\n" + content
