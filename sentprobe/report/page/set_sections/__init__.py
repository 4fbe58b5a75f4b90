"""The sections of a page about sets alone: one file each, with its template next to it."""
