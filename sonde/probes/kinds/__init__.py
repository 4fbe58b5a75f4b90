"""The kinds of probes, one file each: ``probe`` is a ``ProbeKind``, and nothing else has to be told of it."""
