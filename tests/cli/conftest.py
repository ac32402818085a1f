"""Fixtures for tests of commands."""

from tests.cli.scans import project

__all__ = ["project"]
