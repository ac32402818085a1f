"""Benchmarks: how fast hyperheat is, side by side with other ways to do the same.

    python -m benchmarks.layer --help

`layer`, `growth`, `collate`, `extract`, `bugs`, `mine`, `check`, `kg` and `kg_growth` are commands. `paper` and `naive_kg`
are the published algorithms that ours are compared with and tested against.
"""
