"""Controls: what a score is to be read beside. Each takes one thing away; one file, one control.

They are functions only: the loop probes what they make like any other set, vectors or encoder.
"""
