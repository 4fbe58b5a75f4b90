"""One file, one extension of the summary of a run; the lab has its own."""
