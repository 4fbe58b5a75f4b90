"""Treebanks of Universal Dependencies by name: a table of them, and their download into the cache."""
