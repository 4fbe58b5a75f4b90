"""`sentprobe data translate`: files of sentences or pairs in another language, and BLEU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def translate(
    file: str,
    /,
    *,
    translator: str,
    out: Annotated[Path, Parameter(("--out", "-o"))],
    columns: str = "",
    reference: str = "",
) -> int:
    """Translate columns of a table, such as both sentences of NLI pairs; other columns stay as they are.

    Parameters
    ----------
    file: str
        Text with a tab between columns, compressed or not.
    translator: str
        py:MODULE:FUNCTION, command:PROGRAM ARGUMENTS, an address http://…, or trained:FOLDER?to=fr of `sentprobe train
        mt` or `sentprobe train translate`.
    out: Path
        The file to write. One that is named train-fr.tsv is French to `sentprobe run --train`.
    columns: str
        Numbers of the columns to translate, from 1. Default: the two sentences, by the header, or else 1,2.
    reference: str
        The same rows in the language of the translation: BLEU is printed, by column.
    """
    from sentprobe.console import err
    from sentprobe.console import out as console
    from sentprobe.core.files import write_atomically
    from sentprobe.core.formatting import count_of
    from sentprobe.errors import CorpusError, DataError, UsageError
    from sentprobe.lab.translator import translate as translated

    rows, references = _read(file), _read(reference) if reference else []
    header = _sentence_columns(rows[0])
    columns = columns or ",".join(map(str, header or (1, 2)))
    numbers = [int(number) for number in columns.split(",") if number.isascii() and number.isdigit()]
    if not numbers or min(numbers) < 1 or len(numbers) != len(columns.split(",")):
        raise UsageError(f"--columns {columns}: expected numbers from 1, such as 1,2.")
    first, rows = (rows[:1], rows[1:]) if header else ([], rows)
    if references and _sentence_columns(references[0]):
        references = references[1:]
    if reference and len(references) != len(rows):
        raise DataError(
            f"{file} has {count_of(len(rows), 'row')} and {reference} {len(references):,}: expected as many."
        )
    for path, table in ((file, rows), (reference, references)):
        for line, row in enumerate(table, 1):
            if len(row) < max(numbers):
                raise CorpusError(path, line, f"{len(row)} columns", f"{max(numbers)} or more")
    texts = [row[number - 1] for row in rows for number in numbers]
    if "" in texts:
        where = texts.index("") // len(numbers) + 1
        raise CorpusError(file, where, "an empty sentence", "text to translate")
    translations = iter(translated(translator, texts, lambda n: err().print(count_of(n, "sentence"), end="\r")))
    translated_rows = [list(row) for row in rows]
    for row in translated_rows:
        for number in numbers:
            row[number - 1] = next(translations)
    write_atomically(out, "".join("\t".join(row) + "\n" for row in (*first, *translated_rows)).encode())
    console().print(f"{out}: {count_of(len(translated_rows), 'row')}", markup=False, soft_wrap=True)
    if reference:
        from sentprobe.lab.training.targets import bleu

        for number in numbers:
            score, signature = bleu(
                [row[number - 1] for row in translated_rows], [row[number - 1] for row in references]
            )
            console().print(f"column {number}: BLEU {score:.2f} ({signature})", markup=False, soft_wrap=True)
        if pair := _languages(file, reference):
            from sentprobe.cli._printing import print_published

            print_published("xnli_translation", pair)
    return 0


def _languages(file: str, reference: str) -> str:
    """The languages of two files whose names say them, as in test-fr.tsv: fr-en; empty if they do not."""
    matches = [re.match(r"\w+-([a-z]{2,3})\.tsv", Path(name).name) for name in (file, reference)]
    return "-".join(match[1] for match in matches if match) if all(matches) else ""


def _sentence_columns(header: list[str]) -> tuple[int, int] | None:
    """The columns of both sentences in the header of NLI pairs, from 1; None if it is not one."""
    for names in (("sentence1", "sentence2"), ("premise", "hypo"), ("premise", "hypothesis")):
        if all(name in header for name in names):
            return header.index(names[0]) + 1, header.index(names[1]) + 1
    return None


def _read(path: str) -> list[list[str]]:
    from sentprobe.core.reader import read_lines, split_cells
    from sentprobe.errors import DataError

    rows = [split_cells(path, number, line) for number, line in read_lines(path)]
    if not rows:
        raise DataError(f"{path} is empty.")
    return rows
