"""Scanning Python files for bugs: which files, with which settings, and which findings are shown.

Nothing here imports torch. Of the files that are analysed nothing is imported or run.
"""
