"""The folder of sets as a dataset of Hugging Face: a Parquet file per split, and README.md, the dataset card.

``datasets.load_dataset(folder, config)`` reads what the card lists: a configuration per set, with three splits and
typed labels. Nothing that sentprobe reads is changed, and it reads none of these files itself.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from sentprobe.core.files import write_atomically
from sentprobe.core.hashing import digest
from sentprobe.core.table import Table, in_markdown
from sentprobe.corpus.provenance import describe_provenance
from sentprobe.data.dataset import Dataset, find_set_folders, read_manifest, row_columns
from sentprobe.errors import DataError
from sentprobe.tasks import SPLITS, Example

CARD_FILE = "README.md"
SPLIT_FILES = {"tr": "train.parquet", "va": "validation.parquet", "te": "test.parquet"}
"""The file of each split, named as in Hugging Face's datasets."""
DIGEST_KEY = b"sentprobe.digest"
"""Under which a file of a split has the digest of the set that it was written from."""
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
SIZE_NAMES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M")
"""Hugging Face's names for how many rows there are, below each of the sizes and above the last."""
UNLICENSED = "license: unknown  # to be filled in before the sets are published"
_LICENCE_LINES = re.compile(r"^license(?:_name|_link)?:.*\n", re.MULTILINE)
_MARK = re.compile(r"\n<!-- written by `sentprobe make`, checksum ([0-9a-f]{32}) -->\n\Z")
_NOT_IN_YAML = re.compile(r"[^ !#-\[\]-~]")
"""What is escaped in a string; beyond ASCII, since some of it ends a line in YAML."""
_IN_PATTERNS = re.compile(r"[*?\[:]")
"""What is not itself in a path to the library, which takes it for a pattern or an address."""
_NOT_IN_CONFIG = re.compile(r'[\s\x00-\x1f\x7f<>:/\\|?*"\ud800-\udfff]+')
"""What the name of a configuration may not have."""


def write_card(folder: Path | str) -> bool:
    """Write the dataset card of all sets in and below a folder, and their splits as Parquet files.

    Parameters
    ----------
    folder
        A folder of sets that ``Dataset.save`` wrote.

    Returns
    -------
    bool
        False if there is a README.md that sentprobe did not write, or that was edited: it is left as it is. The
        licence may be edited, and is kept.

    Raises
    ------
    DataError
        If there is no set.

    Examples
    --------
    >>> import tempfile, pathlib, sentprobe
    >>> from sentprobe.make import write_card
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> tasks = sentprobe.select_tasks(tasks="bigram_shift", sizes="60/20/20")
    >>> for made in sentprobe.make_sets(sentprobe.Corpus.synthetic(300), tasks):
    ...     made.save(folder / made.name)
    >>> write_card(folder)
    True
    >>> sorted(path.name for path in folder.rglob("*") if path.is_file())  # doctest: +NORMALIZE_WHITESPACE
    ['README.md', 'bigram_shift.txt', 'manifest.json', 'rows.parquet', 'test.parquet', 'train.parquet',
     'validation.parquet']
    """
    folder = Path(folder)
    manifests: dict[str, dict[str, Any]] = {}
    for set_folder in find_set_folders(folder):
        with suppress(DataError):  # a damaged set is reported where it is read
            manifest = read_manifest(set_folder)
            if not all(_digest_of(set_folder / name) == manifest["digest"] for name in SPLIT_FILES.values()):
                write_splits(Dataset.load(set_folder), set_folder)
            manifests[set_folder.relative_to(folder).as_posix()] = manifest
    licence = _licence_of_card(folder / CARD_FILE)
    if not manifests or licence is None:
        return False
    body = card_text(manifests, licence)
    mark = f"\n<!-- written by `sentprobe make`, checksum {_checksum(body)} -->\n"
    write_atomically(folder / CARD_FILE, (body + mark).encode())
    return True


def _licence_of_card(path: Path) -> str | None:
    """The lines about the licence in a card; None if the card was not written here, or edited elsewhere."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return f"{UNLICENSED}\n"
    except (OSError, UnicodeDecodeError):
        return None
    mark = _MARK.search(text)
    if mark is None or _checksum(text[: mark.start()]) != mark[1]:
        return None
    return "".join(_LICENCE_LINES.findall(text)) or f"{UNLICENSED}\n"


def _checksum(body: str) -> str:
    """The checksum of a card without its licence."""
    return digest(_LICENCE_LINES.sub("", body).encode())


# The files of the splits


def write_splits(dataset: Dataset, folder: Path) -> None:
    """Write the splits of a set to a file each, in the folder of the set."""
    for split, name in SPLIT_FILES.items():
        write_atomically(folder / name, encode_split(dataset.rows.get(split, ()), dataset.labels, dataset.digest))


def _digest_of(path: Path) -> str | None:
    """The digest of the set that the file of a split was written from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowException):
        return None
    return bytes(metadata.get(DIGEST_KEY, b"")).decode()


def encode_split(rows: Sequence[Example], labels: Sequence[str], set_digest: str) -> memoryview:
    """One split as a Parquet file, with labels as numbers, which the ``ClassLabel`` in its metadata names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = {label: i for i, label in enumerate(labels)}
    content = pa.py_buffer(array("q", [numbers[row.label] for row in rows]))
    columns = {"text": None, "label": pa.Array.from_buffers(pa.int64(), len(rows), [None, content])}
    columns |= {name: column for name, column in row_columns(rows).items() if name != "label"}
    features = {"label": {"names": list(labels), "_type": "ClassLabel"}}
    metadata = {
        b"huggingface": json.dumps({"info": {"features": features}}).encode(),
        DIGEST_KEY: set_digest.encode(),
    }
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), buffer, compression="zstd")
    return memoryview(buffer.getvalue())


# The card


def card_text(manifests: Mapping[str, Mapping[str, Any]], licence: str) -> str:
    """The card of sets, by their folders: YAML, and a description in Markdown."""
    configs = config_names(manifests)
    corpora = {m["corpus"]["digest"]: m for m in manifests.values()}
    name = ", ".join(dict.fromkeys(str(m["corpus"]["name"]) for m in corpora.values()))
    first = next(iter(configs.values()))
    lines = [
        f"# Probing sets from {in_markdown(name)}",
        "",
        "Made by `sentprobe make`. A set asks whether a linguistic property can be read off the vector of a sentence.",
        "",
        *_set_table(manifests, configs).markdown(),
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'sets = load_dataset("…", "{first}")  # this folder, or its name on the Hub',
        "```",
        "",
        "Columns: `text`, the sentence; `label`; `tokens`; `source`, the id of the sentence in the corpus; `key`, the "
        "target word; `stratum`, in which classes are balanced; `marks`, positions of target or changed tokens; and "
        "columns of the task.",
        "",
        "## How the sets were made",
        "",
        *_making(manifests, corpora.values()),
        "",
        "## What the audit says",
        "",
        *_findings(manifests, configs),
    ]
    return "\n".join([*_front_matter(manifests, configs, name, licence), "", *lines, ""])


def config_names(homes: Iterable[str]) -> dict[str, str]:
    """The names of the configurations of the sets in folders, such as ``universal2019-tense``; no two are the same."""
    names: dict[str, str] = {}
    for home in homes:
        name = _NOT_IN_CONFIG.sub("-", home) if home != "." else "default"
        numbered = (name if i == 1 else f"{name}-{i}" for i in count(1))
        names[home] = next(candidate for candidate in numbered if candidate not in names.values())
    return names


def _quoted(text: str) -> str:
    """A string in YAML."""
    escaped = _NOT_IN_YAML.sub(lambda match: f"\\U{ord(match[0]):08X}", text)
    return f'"{escaped}"'


def _front_matter(
    manifests: Mapping[str, Mapping[str, Any]], configs: Mapping[str, str], name: str, licence: str
) -> Iterator[str]:
    """The lines of the YAML."""
    yield from ("---", f"pretty_name: {_quoted(f'Probing sets from {name}')}")
    if languages := sorted({m["language"] for m in manifests.values() if m["language"]}):
        yield from ("language:", *(f"- {_quoted(language)}" for language in languages))
    yield licence.removesuffix("\n")
    total = sum(sum(m["sizes"]["made"].values()) for m in manifests.values())
    yield from ("size_categories:", f"- {SIZE_NAMES[sum(total >= size for size in SIZES)]}")
    yield from ("task_categories:", "- text-classification", "tags:", "- probing", "- sentprobe", "configs:")
    for home, config in configs.items():
        yield from (f"- config_name: {_quoted(config)}", "  data_files:")
        for file in SPLIT_FILES.values():
            path = _IN_PATTERNS.sub(r"[\g<0>]", file if home == "." else f"{home}/{file}")
            yield from (f"  - split: {file.partition('.')[0]}", f"    path: {_quoted(path)}")
    yield "---"


def _set_table(manifests: Mapping[str, Mapping[str, Any]], configs: Mapping[str, str]) -> Table:
    """What each set asks, and its sizes."""
    rows = [
        [
            configs[home], m["question"], m["language"] or "", f"{len(m['labels']):,}",
            *(f"{m['sizes']['made'].get(split, 0):,}" for split in SPLITS),
            f"{100 * m['majority'].get('te', 0):.1f} %",
        ]
        for home, m in manifests.items()
    ]  # fmt: skip
    headings = ("config", "question", "language", "classes", "train", "validation", "test", "majority")
    return Table.of_rows(headings, rows, texts=("question", "language"))


def _making(manifests: Mapping[str, Mapping[str, Any]], of_corpora: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Lines about the corpora, and what is the same for all sets."""
    for m in of_corpora:
        corpus = m["corpus"]
        kind = "synthetic sentences" if corpus["synthetic"] else "sentences"
        name, origin = in_markdown(str(corpus["name"])), in_markdown(str(corpus["digest"]))
        yield f"- From {name}: {corpus['sentences']:,} {kind}, digest {origin}."
        for treebank in corpus.get("treebanks", ()):
            yield (
                f"- {in_markdown(str(treebank['treebank']))} {treebank['release']} has the licence "
                f"{in_markdown(str(treebank['licence']))}."
            )
        for provenance in corpus.get("annotation", ()):
            yield f"- Annotated by {in_markdown(describe_provenance(provenance))}."
    seeds = sorted({m["seed"] for m in manifests.values()})
    versions = sorted({in_markdown(str(m["versions"]["sentprobe"])) for m in manifests.values()})
    yield (
        f"- sentprobe {', '.join(versions)}, seed {', '.join(map(str, seeds))}. No sentence is in two rows of a "
        "set, nor nearly. The `manifest.json` of each set has its settings, with which it can be made again."
    )


def _findings(manifests: Mapping[str, Mapping[str, Any]], configs: Mapping[str, str]) -> Iterator[str]:
    """What the audit found in each set."""
    rows = [
        [configs[home], finding["severity"], finding["code"], finding["message"]]
        for home, m in manifests.items()
        for finding in m["audit"]
    ]
    if rows:
        headings = ("config", "severity", "code", "message")
        yield from Table.of_rows(headings, rows, texts=headings[1:]).markdown()
    else:
        yield "Nothing."
