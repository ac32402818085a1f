"""Bugs that shipped, from the releases of packages."""
