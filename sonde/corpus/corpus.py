"""A corpus: a named stream of sentences that can be read again and again, whole or in shards."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from sonde.core.arguments import StringsOrPaths, StrOrPath, as_list, as_strings
from sonde.core.files import COMPRESSED
from sonde.corpus.brackets import read_brackets
from sonde.corpus.conllu import SHARD_BLOCK, read_conllu
from sonde.corpus.files import detect_format, expand, stem
from sonde.corpus.plain import read_plain
from sonde.corpus.sentence import Sentence, Tree
from sonde.errors import CorpusError, DataError, UsageError

READERS = {"conllu": read_conllu, "brackets": read_brackets, "text": read_plain}

_UD_NAME = re.compile(r"(([a-z]{2,3})_[A-Za-z0-9]+)-(?:ud-.*|(?:train|dev|test)[^-]*)")

SMALL_SENTENCES = 20_000
SMALL_BYTES = 1 << 25
COMPRESSION_RATIO = 6
"""A treebank shrinks to about this part of its size."""

OnError = Callable[[CorpusError], None]


@dataclass(frozen=True)
class Corpus:
    """A re-iterable stream of sentences; a small value that names its source, cheap to send to another process.

    ``trees`` are bracket files whose trees are joined to the sentences of ``files`` by document and words; where the
    same words stand several times in a document, all get the first tree. Ids need not be unique across files.
    """

    name: str
    language: str | None
    files: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    format: str | None = None
    builtin: int = 0
    seed: int = 0
    loaded: tuple[Sentence, ...] | None = field(default=None, repr=False)

    @classmethod
    def read(
        cls,
        *paths: StrOrPath,
        name: str | None = None,
        language: str | None = None,
        format: str | None = None,
        trees: StringsOrPaths = (),
    ) -> Corpus:
        """Make a corpus of files, globs and directories; ``-`` is standard input.

        Name and language are guessed from file names in the manner of UD: ``fr_sequoia-ud-train.conllu`` is French.
        """
        if format is not None and format not in READERS:
            import difflib

            near = difflib.get_close_matches(format, READERS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"there is no corpus format {format!r}; known are {', '.join(READERS)}{hint}")
        typed = expand(as_strings(paths, "a path"))
        files = tuple(_spooled() if path == "-" else path for path in typed)
        if format is None:
            for file in files:
                detect_format(file)  # so that a file of an unknown kind is refused now, not in the middle of a run
        guesses = [m for path in typed if (m := _UD_NAME.fullmatch(stem(path)))]
        languages = {m[2] for m in guesses}
        if language is None and len(guesses) == len(typed) and len(languages) == 1:
            language = languages.pop()
        brackets = expand(typed_trees) if (typed_trees := as_strings(trees, "a path")) else ()
        return cls(name or _name(typed), language, files, brackets, format)

    @classmethod
    def synthetic(cls, n: int, seed: int = 0) -> Corpus:
        """Make the built-in English corpus of n generated sentences."""
        if n < 1:
            raise UsageError(f"a built-in corpus of {n} sentences was asked for; ask for at least 1")
        return cls("builtin", "en", builtin=n, seed=seed)

    @classmethod
    def of(cls, sentences: Sentence | Iterable[Sentence], name: str = "memory", language: str | None = None) -> Corpus:
        """Make a corpus of sentences that are already in memory."""
        return cls(name, language, loaded=tuple(as_list(sentences, Sentence, "a Sentence")))

    @property
    def is_synthetic(self) -> bool:
        """Whether the sentences are generated, not read."""
        return self.builtin > 0

    @property
    def is_small(self) -> bool:
        """Whether the sentences may be held in memory without a second thought: some ten thousand of them."""
        if self.builtin:
            return self.builtin <= SMALL_SENTENCES
        files = (*self.files, *self.trees)
        sizes = (Path(f).stat().st_size * (COMPRESSION_RATIO if f.endswith(COMPRESSED) else 1) for f in files)
        return self.loaded is not None or sum(sizes) <= SMALL_BYTES

    def load_into_memory(self, on_error: OnError | None = None) -> Corpus:
        """The same sentences, read once and kept in memory."""
        if self.loaded is not None:
            return self
        with gc_paused():
            return Corpus(self.name, self.language, loaded=tuple(self.sentences(on_error=on_error)))

    def __iter__(self) -> Iterator[Sentence]:
        return self.sentences()

    def sentences(self, shard: int = 0, of: int = 1, on_error: OnError | None = None) -> Iterator[Sentence]:
        """Yield the sentences, or the share of them that falls to one shard out of ``of``; the shares make the whole.

        Malformed sentences raise CorpusError, or are handed to ``on_bad`` and left out.
        """
        if not 0 <= shard < of:
            raise UsageError(f"there is no shard {shard} of {of}; shards are numbered from 0 to {of - 1}")
        if self.trees:
            return self._joined(shard, of, on_error)
        return self._unjoined(shard, of, on_error)

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that depend on every sentence but not on their order; takes a pass."""
        total = sum(digest_of(sentence) for sentence in self) % (1 << 128)
        return f"{total:032x}"[:16]

    def _unjoined(self, shard: int, of: int, on_error: OnError | None) -> Iterator[Sentence]:
        if self.builtin:
            from sonde.corpus.grammar import sentence

            for start in range(shard * SHARD_BLOCK, self.builtin, of * SHARD_BLOCK):
                for i in range(start, min(start + SHARD_BLOCK, self.builtin)):
                    yield sentence(i, self.seed)
        elif self.loaded is not None:
            for start in range(shard * SHARD_BLOCK, len(self.loaded), of * SHARD_BLOCK):
                yield from self.loaded[start : start + SHARD_BLOCK]
        else:
            for number, file in enumerate(self.files):
                # every file begins its deal with another shard, or all small files would fall to the first
                reader = READERS[self.format or detect_format(file)]
                yield from reader(file, shard=(shard - number) % of, of=of, on_error=on_error)

    def _joined(self, shard: int, of: int, on_error: OnError | None) -> Iterator[Sentence]:
        index = _tree_index(self.trees, tuple(map(_stamp, self.trees)))
        first = None
        some = False
        for sentence in self._unjoined(shard, of, on_error):
            first = first or sentence
            if found := index.find(sentence):
                some = True
                sentence = _with_tree(sentence, found)
            yield sentence
        if first is not None and not some:
            if of > 1:  # another shard may have them all
                some = any(index.find(sentence) for sentence in self._unjoined(0, 1, lambda _: None))
            if not some:
                other = index.first
                got = "no tree at all" if other is None else f"{' '.join(other.forms)!r} in document {other.doc!r}"
                raise DataError(
                    f"no tree of {', '.join(self.trees)} has the words of a sentence of {self.name}: the first "
                    f"sentence is {' '.join(first.forms)!r} in document {first.doc!r}, the first tree {got}"
                )


@contextmanager
def gc_paused() -> Iterator[None]:
    """Put off the search for reference cycles: a pass over a corpus makes many objects and no cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def digest_of(sentence: Sentence) -> int:
    """A 128-bit number for a sentence: its id, document, text and every column (the spaces are in the text)."""
    s = sentence
    columns = (s.forms, s.lemmas, s.upos, s.xpos, s.feats, s.deprels)
    parts = ["" if column is None else "\t".join(column) for column in columns]
    tree = "" if s.tree is None else str(s.tree)
    whole = "\n".join((s.id, s.doc or "", s.text, *parts, repr(s.heads), repr(s.mwts), tree))
    return int.from_bytes(blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")


@dataclass(frozen=True)
class _Trees:
    """Sentences with trees by their words, and by document and words."""

    by_words: dict[str, Sentence]
    by_doc: dict[tuple[str, str], Sentence]
    docs: frozenset[str]
    first: Sentence | None

    def find(self, sentence: Sentence) -> Sentence | None:
        """The tree's sentence with the same words; from the same document, if both sides know that document."""
        words = _key(sentence.forms)
        if sentence.doc is not None and sentence.doc in self.docs:
            return self.by_doc.get((sentence.doc, words))
        return self.by_words.get(words)


@lru_cache(maxsize=2)
def _tree_index(files: tuple[str, ...], stamps: tuple[tuple[int, int], ...]) -> _Trees:
    """Index the trees of files. ``stamps`` makes a file that was changed a file of its own."""
    by_words: dict[str, Sentence] = {}
    by_doc: dict[tuple[str, str], Sentence] = {}
    docs: set[str] = set()
    first = None
    for file in files:
        for s in read_brackets(file):
            first = first or s
            words = _key(s.forms)
            by_words.setdefault(words, s)  # the first of several trees, whatever the shard that asks
            if s.doc is not None:
                docs.add(s.doc)
                by_doc.setdefault((s.doc, words), s)
    return _Trees(by_words, by_doc, frozenset(docs), first)


def _stamp(file: str) -> tuple[int, int]:
    try:
        stat = Path(file).stat()
    except OSError:
        return 0, 0  # reading it will say what is wrong
    return stat.st_mtime_ns, stat.st_size


_ALIKE = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'", "–": "-", "—": "-", "\u00a0": ""}
)
_PENN_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}


def _key(forms: Sequence[str]) -> str:
    """Words in a spelling that does not depend on how quotes, dashes and brackets were written."""
    plain = "\t".join([_PENN_ESCAPES.get(form, form) for form in forms]).translate(_ALIKE)
    return (
        unicodedata.normalize("NFC", plain).replace("''", '"').replace("--", "-").replace("...", "…").replace(" ", "")
    )


def _with_tree(sentence: Sentence, found: Sentence) -> Sentence:
    """Give a sentence the tree of another one, lettered with its own forms."""
    tree = found.tree
    if tree is not None and sentence.forms != found.forms:
        tree = _lettered(tree, sentence.forms)
    return replace(sentence, tree=tree, xpos=sentence.xpos or found.xpos)


def _lettered(tree: Tree, forms: Sequence[str]) -> Tree:
    """The same tree over other words; children come before parents on a stack, so that depth does not matter."""
    words = iter(forms)
    done: list[Tree] = []
    stack: list[tuple[Tree, bool]] = [(tree, False)]
    while stack:
        node, closing = stack.pop()
        if closing:
            count = len(node.children)
            children = tuple(done[-count:])
            del done[-count:]
            done.append(Tree(node.label, children))
        elif nodes := node.nodes:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(nodes))
        else:
            done.append(Tree(node.label, (next(words),)))
    return done[0]


def _name(typed: Sequence[str]) -> str:
    """A name from the files: the treebank's where a file is called as in UD, otherwise the file's."""
    found = dict.fromkeys(m[1] if (m := _UD_NAME.fullmatch(stem(path))) else stem(path) for path in typed)
    names = list(found)
    return "+".join(names) if len(names) <= 4 else f"{names[0]}+{len(names) - 1}"


def _spooled() -> str:
    """Copy standard input to a temporary file, which other processes can read too and which goes away at exit."""
    import shutil
    import tempfile

    head = sys.stdin.buffer.read(6)
    magic = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
    suffix = next((s for m, s in magic.items() if head.startswith(m)), "")
    # the name of the file goes into made-up sentence ids, so it must be the same every time
    path = Path(tempfile.mkdtemp(prefix="sonde-")) / f"stdin{suffix}"
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child must not take the file from its parent
            shutil.rmtree(path.parent, ignore_errors=True)

    atexit.register(remove)
    with path.open("wb") as out:
        out.write(head)
        shutil.copyfileobj(sys.stdin.buffer, out)
    return str(path)
