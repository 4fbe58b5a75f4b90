"""Results: what a run has found, how sure it is, and how it is recorded, verified and read back.

``Estimate`` is a number with its interval; ``Run`` is the folder of a run, ``Log`` its writing end.
"""
