"""The kinds of probes, one file each: ``probe`` is a ``ProbeKind``, found by the folder."""
