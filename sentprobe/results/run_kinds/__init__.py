"""The kinds of runs, one file each; the lab has its own."""
