"""Probing sets: in memory, on disk, in other formats, and where they are found."""
