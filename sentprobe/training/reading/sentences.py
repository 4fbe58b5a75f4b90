"""Rows from treebanks and from plain text, one sentence per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sentprobe.core.files import open_text
from sentprobe.corpus.brackets import escape, read_brackets
from sentprobe.corpus.conllu import read_conllu
from sentprobe.corpus.files import stem
from sentprobe.corpus.sentence import Sentence
from sentprobe.errors import UsageError
from sentprobe.training.reading.part import DOCUMENT, TEXT, TREE, Row


def read_sentences(kind: str, path: str, fields: Sequence[str]) -> Iterator[Row]:
    """A row for every sentence of a CoNLL-U file or a file of bracketed trees.

    The text of a CoNLL-U sentence is its text as written, that of a tree its words with spaces between them; where no
    document is named, the file is one.
    """
    _check(path, fields, (TEXT, DOCUMENT, TREE) if kind == "brackets" else (TEXT, DOCUMENT), kind)
    name = stem(path)
    brackets = kind == "brackets"
    values: dict[str, Callable[[Sentence], str]] = {
        TEXT: (lambda s: " ".join(s.forms)) if brackets else (lambda s: s.text),
        DOCUMENT: lambda s: s.doc or name,
        TREE: lambda s: "" if s.tree is None else s.tree.bracketed(escape),
    }
    take = [values[field] for field in fields]
    for number, sentence in enumerate((read_brackets if brackets else read_conllu)(path), 1):
        texts = (" ".join(sentence.forms), sentence.text) if brackets else ()
        yield Row(tuple([value(sentence) for value in take]), path, number, texts)


def read_lines(path: str, fields: Sequence[str]) -> Iterator[Row]:
    """A row for every line that is not blank; a blank line ends a document."""
    _check(path, fields, (TEXT, DOCUMENT), "text")
    name, document, inside = stem(path), 1, False
    with_document = DOCUMENT in fields
    for number, line in enumerate(open_text(path), 1):
        if text := line.strip():
            if with_document:
                inside = True
                yield Row(tuple([text if field == TEXT else f"{name}-{document}" for field in fields]), path, number)
            else:
                yield Row((text,), path, number)
        elif inside:
            document, inside = document + 1, False


def _check(path: str, fields: Sequence[str], known: Sequence[str], kind: str) -> None:
    if missing := [field for field in fields if field not in known]:
        what = {"conllu": "a CoNLL-U file", "brackets": "a file of trees", "text": "plain text"}[kind]
        raise UsageError(f"{path} is {what}, which has no {missing[0]}; expected data with {', '.join(fields)}.")
