"""The kinds of probes, one file each: each defines ``probe``, a ``ProbeKind``."""
