"""Directories that no user can read, root included: their paths are longer than the system takes."""

import os
from pathlib import Path


def make_unreadable(parent: Path) -> Path:
    """Makes a directory in `parent` below which nothing can be read by its path."""
    descriptor = os.open(parent, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=descriptor)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    return parent / ("d" * 250)
