"""Parametric tasks, one file each; the name of the file is what precedes the colon on the command line."""
