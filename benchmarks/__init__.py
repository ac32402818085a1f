"""Benchmarks: how fast hyperheat is, side by side with other ways to do the same.

    python -m benchmarks.layer --help

`layer`, `growth`, `collate`, `extract`, `bugs`, `mine`, `check` and `kg` are commands. `paper` and `naive_kg` are the
published algorithms that ours are compared with and tested against.
"""
