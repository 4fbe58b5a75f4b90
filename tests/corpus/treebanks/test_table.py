"""tools/treebank_table.py: the table from git repositories."""

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.treebanks import mill

TOOL = Path(__file__).parents[3] / "tools" / "treebank_table.py"
RELEASES = {
    "releases": {
        "2.4": {"treebanks": ["UD_Millish-Water"]},
        "2.16": {"treebanks": ["UD_Millish-Mill", "UD_Millish-Lost"]},
        "2.17": {"treebanks": ["UD_Millish-Mill", "UD_Millish-Lost", "UD_Millish-New"]},
    },
    "renamed_after_release": {"2.4": [["UD_Millish-Water", "UD_Millish-Mill"]]},
}


def repository(folder, files, tag):
    """A git repository with one commit."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    identity = ("-c", "user.name=mill", "-c", "user.email=mill@example.invalid", "-c", "core.autocrlf=false")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "mill"), ("tag", tag)):
        subprocess.run(["git", "-C", folder, *identity, *words], check=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_facts_come_from_the_tag_and_what_is_not_known_is_empty(tmp_path):
    counts = {split: mill.count_conllu([content]) for split, content in mill.DATA.items()}
    files = {
        "stats.xml": mill.stats(counts),
        "README.md": mill.README.format(licence="CC BY 4.0", text="yes").encode(),
        **{f"qmi_mill-ud-{split}.conllu": content for split, content in mill.DATA.items()},
    }
    repository(tmp_path / "clones/UD_Millish-Mill", files, "r2.16")
    repository(
        tmp_path / "automation",
        {
            "valdan/releases.json": json.dumps(RELEASES).encode(),
            "codes_and_flags.yaml": b"Millish:\n  flag: X\n  lcode: 'qmi'\n",
        },
        "any",
    )
    words = [tmp_path / "clones", "--automation", tmp_path / "automation", "--release", "2.16"]
    done = subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=True)
    rows = {row["treebank"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert list(rows) == ["UD_Millish-Lost", "UD_Millish-Mill", "UD_Millish-New"]
    found = rows["UD_Millish-Mill"]
    sums = {part: mill.blob(content) for part, content in mill.DATA.items()}
    assert dict(one.split("=") for one in found.pop("files").split()) == sums
    assert found == {
        "treebank": "UD_Millish-Mill", "language": "Millish", "code": "qmi", "release": "2.16", "since": "2.4",
        "sentences": "576", "tokens": "8928", "words": "9504", "licence": "CC BY 4.0", "text": "yes",
        "genres": "news fiction", "prefix": "qmi_mill", "parts": "", "other_names": "UD_Millish-Water",
    }  # fmt: skip
    for name, release in (("UD_Millish-Lost", "2.16"), ("UD_Millish-New", "2.17")):
        known = {key: value for key, value in rows[name].items() if value}
        assert known == {
            "treebank": name, "language": "Millish", "code": "qmi", "release": release, "since": release
        }  # fmt: skip
