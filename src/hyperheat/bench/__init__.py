"""Measurements side by side in one process: our path, the paper's algorithm, and peers."""
