"""The table of treebanks, sentprobe/corpus/treebanks/treebanks.csv, from the repositories of Universal Dependencies.

    python tools/treebank_table.py CLONES --automation docs-automation --release 2.16 > treebanks.csv

CLONES is a folder with git clones, `git clone --bare https://github.com/UniversalDependencies/UD_Finnish-TDT`, at any
depth below it; blobs of CoNLL-U files are not needed (`--filter=blob:limit=1m`), because git has their checksums. The
other argument is a clone of UniversalDependencies/docs-automation, which knows what each release contains
(valdan/releases.json) and the code of each language (codes_and_flags.yaml).

Everything about a treebank is read at the tag of the release: counts from stats.xml, licence, genres and whether there
is text from the metadata at the end of README, files and their checksums from the tree. What a clone does not have, or
the README does not say, is left empty: it is unknown. A treebank that came after the release is listed with the newest
release that has it, and nothing else.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sentprobe.corpus.treebanks.catalogue import COLUMNS
from sentprobe.corpus.treebanks.metadata import parse_readme, parse_stats
from sentprobe.errors import DataError

DATA_FILE = re.compile(r"([a-z]{2,3}_[a-z0-9]+)-ud-((?:train|dev|test)[-\w]*)\.conllu")
READABLE = ("README.md", "README.txt")


def main() -> None:
    """Write the table to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--automation", type=Path, required=True)
    parser.add_argument("--release", required=True)
    given = parser.parse_args()
    known = json.loads(_git(given.automation, "show", "HEAD:valdan/releases.json") or "{}")
    codes = dict(_codes(_git(given.automation, "show", "HEAD:codes_and_flags.yaml") or ""))
    clones = _clones(given.clones)
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in _rows(known, given.release):
        language = row["treebank"].removeprefix("UD_").partition("-")[0].replace("_", " ")
        names = [row["treebank"], *row["other_names"].split()]
        found = next((clones[name] for name in names if name in clones), None)
        facts = _facts(found, row["release"]) if found else {}
        code = facts.get("prefix", "").partition("_")[0] or codes.get(language, "")
        row |= {"language": language, "code": code, **facts}
        table.writerow(row)


def _rows(known: dict, release: str) -> Iterator[dict[str, str]]:
    """Every treebank of the release, and of later ones, with its other names and the first release that has it."""
    releases = {name: set(one["treebanks"]) for name, one in known["releases"].items()}
    order = list(releases)
    renamed = [pair for pairs in known["renamed_after_release"].values() for pair in pairs]
    listed: set[str] = set()
    for of in (release, *reversed(order[order.index(release) + 1 :])):
        for name in sorted(releases[of]):
            if name in listed:
                continue
            names = {name}
            while more := {n for pair in renamed if names & set(pair) for n in pair} - names:
                names |= more
            if names & listed:
                continue
            listed |= names
            since = next(r for r in order if names & releases[r])
            # before 2.2, some were named after their language alone
            others = " ".join(sorted(other for other in names - {name} if "-" in other))
            yield {"treebank": name, "release": of, "since": since, "other_names": others}


def _facts(clone: Path, release: str) -> dict[str, str]:
    """What the tag of a release says; nothing if the clone does not have it."""
    tag = f"r{release}"
    stats = _git(clone, "show", f"{tag}:stats.xml")
    readme = next((text for name in READABLE if (text := _git(clone, "show", f"{tag}:{name}"))), "")
    tree = _git(clone, "ls-tree", tag) or ""
    entries = [line.split(maxsplit=3) for line in tree.splitlines()]
    data = [(m, blob) for _, _, blob, name in entries if (m := DATA_FILE.fullmatch(name))]
    if not stats or not data:
        return {}
    try:
        counts = parse_stats(stats.encode())
    except DataError as error:
        sys.stderr.write(f"{clone}: {error}\n")
        return {}
    metadata = parse_readme(readme)
    total = counts["total"]
    return {
        "prefix": data[0][0][1],
        "sentences": str(total.sentences),
        "tokens": str(total.tokens),
        "words": str(total.words),
        "licence": metadata.licence,
        "text": metadata.text,
        "genres": metadata.genres,
        "files": " ".join(f"{m[2]}={blob}" for m, blob in data),
        "parts": " ".join(_parts(clone)),
    }


def _parts(clone: Path) -> list[str]:
    """How the training files were called in all releases with names like today's, if there were several."""
    parts: set[str] = set()
    for tag in (_git(clone, "tag") or "").split():
        if (m := re.fullmatch(r"r2\.(\d+)", tag)) and int(m[1]) >= 2:
            for name in (_git(clone, "ls-tree", "--name-only", tag) or "").splitlines():
                if (m := DATA_FILE.fullmatch(name)) and m[2] not in ("train", "dev", "test"):
                    parts.add(m[2])
    return sorted(parts)


def _codes(text: str) -> Iterator[tuple[str, str]]:
    for m in re.finditer(r"^(\S[^:\n]*):\n(?:  .*\n)*?  lcode: (\S+)", text, re.M):
        yield m[1].strip("'\""), m[2].strip("'\"")


def _clones(folder: Path) -> dict[str, Path]:
    found = (path.parent for path in folder.glob("**/HEAD") if (path.parent / "objects").is_dir())
    return {m[0].removesuffix(".git"): path for path in found if (m := re.search(r"UD_[A-Z]\w*-\w+", str(path)))}


def _git(clone: Path, *words: str) -> str | None:
    done = subprocess.run(["git", "-C", clone, *words], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


if __name__ == "__main__":
    main()
