"""Sheets: test rows of a set, drawn at random, to be labelled by people who do not see the labels.

    sheets/  key.json  conneau2018.bigram_shift.tsv  conneau2018.bigram_shift.md  conneau2018.bigram_shift.html

The table has an item, the sentence and an empty label in each row; the Markdown file the question and the answers; the
page has buttons instead (``sentprobe.judge.form``), and saves such a table.
Which rows they are, their labels, and which of them are controls is in ``key.json``, which annotators should not see.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import msgspec

from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.hashing import hash_64
from sentprobe.core.seal import is_intact, other_format, read_document, seal_document
from sentprobe.core.words import JOINERS, mark_class
from sentprobe.data.dataset import Dataset
from sentprobe.errors import DataError, TooFewError, UsageError
from sentprobe.judge.strings import ENGLISH, SheetStrings, fill

KEY_FILE = "key.json"
FORMAT = "sentprobe.sheets.v2"
COLUMNS = ("item", "sentence", "label")
MAX_LISTED_ANSWERS = 40


@dataclass(frozen=True, slots=True)
class Item:
    """A row to be judged."""

    id: str
    row: int
    """Its place among the test rows."""
    text: str
    label: str
    control: bool = False
    """Whether it shows if an annotator can be trusted, and is not scored."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What is asked about besides the sentence, such as the word of word_presence."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The items of one set."""

    name: str
    data: str
    """The digest of the set."""
    task: str
    question: str
    answers: Mapping[str, str]
    """What each label means; the label itself if it is no code."""
    items: tuple[Item, ...]
    seed: int = 0

    @property
    def stem(self) -> str:
        """The name of its files."""
        return re.sub(rf"[^\w.{mark_class()}{JOINERS}-]+", ".", self.name).strip(".")

    def __repr__(self) -> str:
        controls = sum(item.control for item in self.items)
        return f"Sheet({self.name!r}, {len(self.items) - controls} items, {controls} controls)"


def sample_sheet(
    dataset: Dataset, n: int = 200, control: int = 0, seed: int = 0, answers: Mapping[str, str] | None = None
) -> Sheet:
    """Draw test rows of a set for people to judge.

    Parameters
    ----------
    dataset
        The set.
    n
        Rows to judge; all if there are fewer.
    control
        Further rows that show whether an annotator can be trusted. Check them first: their labels must be beyond doubt.
    seed
        Another seed draws other rows.
    answers
        What the labels mean, where they are codes; those of length bins are known from the manifest.

    Examples
    --------
    >>> from sentprobe import Dataset, Example
    >>> from sentprobe.judge import sample_sheet
    >>> rows = [Example("ab"[i % 2], ("text", str(i)), f"text {i}") for i in range(40)]
    >>> sample_sheet(Dataset("own/set", "set", 1, "en", ("a", "b"), {"te": rows}), n=10, control=4)
    Sheet('own/set', 10 items, 4 controls)
    """
    if n < 1 or control < 0:
        raise UsageError(f"Expected one item or more, and no fewer than 0 controls, got {n} and {control}.")
    rows = dataset.rows.get("te", ())
    if not dataset.labels or not rows or not all(row.label for row in rows):
        raise UsageError(f"{dataset.name} has no labelled test rows that people could judge.")
    if control >= len(rows):
        raise TooFewError(
            f"{dataset.name} has {len(rows)} test rows: too few for {control} controls, and items to judge."
        )
    sampled = sorted(range(len(rows)), key=lambda i: hash_64(f"{seed}/{dataset.digest}/{i}"))[: n + control]
    controls = set(sampled[:control])
    order = sorted(sampled, key=lambda i: hash_64(f"order/{seed}/{dataset.digest}/{i}"))
    inputs = tuple(dataset.manifest.get("inputs", ()))
    names = answers or _bins(dataset)
    return Sheet(
        dataset.name,
        dataset.digest,
        dataset.task,
        str(dataset.manifest.get("question") or ""),
        {label: names.get(label, label) for label in dataset.labels},
        tuple(
            Item(
                _item_id(dataset, f"{n} {control} {seed}", number, i),
                i,
                rows[i].text,
                rows[i].label,
                i in controls,
                {name: dict(rows[i].extra).get(name, "") for name in inputs},
            )
            for number, i in enumerate(order, 1)
        ),
        seed,
    )


def _bins(dataset: Dataset) -> Mapping[str, str]:
    """What the labels of sentence_length mean, which are numbers of bins."""
    policy = dataset.manifest.get("policy")
    bins = policy.get("bins", ()) if isinstance(policy, Mapping) else ()
    return {str(i): f"{low}–{high} with punctuation" for i, (low, high) in enumerate(bins)}


def _item_id(dataset: Dataset, sample: str, number: int, row: int) -> str:
    """A number to find an item by, and a hash of its row and sample: answers to another sheet do not fit this one."""
    return f"{dataset.task}-{number:04}-{hash_64(f'{dataset.digest}/{sample}/{row}') & 0xFFFFFF:06x}"


def translated(sheet: Sheet, strings: SheetStrings) -> Sheet:
    """The sheet with the question and the meanings of labels that these texts have for its task."""
    meanings = strings.answers.get(sheet.task, {})
    answers = {label: meanings.get(label, meaning) for label, meaning in sheet.answers.items()}
    return replace(sheet, question=strings.questions.get(sheet.task, sheet.question), answers=answers)


def write_sheets(
    sheets: Sequence[Sheet],
    folder: Path,
    form: Callable[[Sheet, SheetStrings], str] | None = None,
    strings: SheetStrings = ENGLISH,
) -> None:
    """Write the sheets of several sets and their key; a folder that has a key already is refused.

    ``form`` makes the web page of a sheet, if there is to be one; ``strings`` are its fixed texts.
    """
    if (folder / KEY_FILE).exists():
        raise UsageError(f"{folder} has sheets already, which people may be working on; choose another folder.")
    stems = Counter(sheet.stem for sheet in sheets)
    if twice := [sheet.name for sheet in sheets if stems[sheet.stem] > 1]:
        raise UsageError(
            f"The sheets of {' and '.join(twice)} would have the same name: sample them separately, with --out."
        )
    make_folder(folder)
    for sheet in sheets:
        write_atomically(folder / f"{sheet.stem}.tsv", _table(sheet).encode(errors="replace"))
        write_atomically(folder / f"{sheet.stem}.md", _instructions(sheet, strings).encode(errors="replace"))
        if form is not None:
            write_atomically(folder / f"{sheet.stem}.html", form(sheet, strings).encode(errors="replace"))
    # lone surrogates are question marks, as in the tables
    plain = json.dumps([asdict(sheet) for sheet in sheets], ensure_ascii=False).encode(errors="replace")
    write_atomically(folder / KEY_FILE, seal_document({"format": FORMAT, "sheets": json.loads(plain)}))


def read_sheets(folder: Path) -> list[Sheet]:
    """The sheets of a folder, by its key."""
    if not (folder / KEY_FILE).is_file():
        raise UsageError(f"{folder} has no {KEY_FILE}; expected a folder that `sentprobe judge sample` wrote.")
    file = folder / KEY_FILE
    try:
        document = read_document(file.read_bytes())
        if document.get("format") != FORMAT and "format" in document:
            raise DataError(f"{other_format(file, document['format'], FORMAT)} Draw new sheets.")
        if not is_intact(document):
            raise DataError(
                f"{file} has changed since `sentprobe judge sample` wrote it: restore it, or draw the same sheets "
                "again in a new folder."
            )
        return msgspec.convert(document["sheets"], list[Sheet])
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
    except (KeyError, TypeError, ValueError) as e:
        raise DataError(f"{file} is damaged: {type(e).__name__}: {e}.") from None


def _table(sheet: Sheet) -> str:
    lines = [[COLUMNS[0], COLUMNS[1], *sheet.items[0].inputs, COLUMNS[2]]]
    lines += [[item.id, *map(_flat, (item.text, *item.inputs.values())), ""] for item in sheet.items]
    return "".join("\t".join(cells) + "\n" for cells in lines)


def _flat(text: str) -> str:
    """A text on one line; no spreadsheet takes it for a formula."""
    flat = " ".join(text.split())
    return f" {flat}" if flat[:1] in "=+-@" else flat


def _instructions(sheet: Sheet, strings: SheetStrings) -> str:
    listed = list(sheet.answers.items())[:MAX_LISTED_ANSWERS]
    answers = [f"- `{label}`" + (f": {name}" if name != label else "") for label, name in listed]
    n_omitted = len(sheet.answers) - len(listed)
    omitted = [f"- … ({fill(strings.unlisted, n=n_omitted)})"] if n_omitted else []
    return "\n".join(
        [
            f"# {sheet.question or sheet.name}",
            "",
            fill(strings.instructions, file=f"{sheet.stem}.tsv"),
            "",
            *answers,
            *omitted,
            "",
            strings.leave_empty,
            "",
        ]
    )
