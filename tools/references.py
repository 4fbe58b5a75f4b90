"""Compute the results that come with sentprobe: the demo's encoders and the baselines on the demo's sets.

    python tools/references.py WORK

WORK is a folder for sets and run. Run it when a set of the demo, a probe, a baseline or one of the encoders changes,
and for every release, since results carry the version that computed them: tests fail until then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sentprobe import evaluate, find_sets
from sentprobe.run.references import DEMO_ENCODERS, REFERENCES_FILE, make_demo_sets, write_references


def main() -> None:
    """Make the sets, probe, write."""
    work = Path(sys.argv[1])
    make_demo_sets(work / "probes", jobs=2)
    run = evaluate(
        [f"{n}={e}" for n, e in DEMO_ENCODERS.items()], find_sets([str(work / "probes")]), work / "run", jobs=2
    )
    if run.failures:
        sys.exit("\n".join(str(failure) for failure in run.failures))
    write_references(run)
    print(f"{len(run.results)} results, {REFERENCES_FILE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
