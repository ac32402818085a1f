"""Finding and repairing bugs in Python functions."""
