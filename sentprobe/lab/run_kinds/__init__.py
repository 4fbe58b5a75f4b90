"""The kinds of runs of the lab, one file each."""
