"""Verbs of the lab; one file each."""
