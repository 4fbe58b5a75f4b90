"""Evaluations of spaces of words; one file = one evaluation."""
