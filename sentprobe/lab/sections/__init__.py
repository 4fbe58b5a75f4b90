"""The sections of the page that the lab adds: one file each, with its template next to it."""
