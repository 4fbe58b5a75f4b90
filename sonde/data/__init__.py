"""Probing sets: in memory, on disk, in the layouts of others, and where they are found."""
