"""A corpus: a named stream of sentences that can be read repeatedly, in full or in shards of about the same size."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import ceil

from sentprobe.core.arguments import StringsOrPaths, StrOrPath, as_list, as_strings
from sentprobe.core.folders import scratch_folder
from sentprobe.core.resources import gc_paused
from sentprobe.corpus.brackets import index_trees, read_brackets, with_tree
from sentprobe.corpus.conllu import read_conllu
from sentprobe.corpus.files import (
    SHARD_BLOCK,
    UD_NAME,
    OnError,
    corpus_name,
    detect_format,
    expand,
    file_size,
    spool_stdin,
    stem,
)
from sentprobe.corpus.plain import read_plain
from sentprobe.corpus.provenance import stated_language
from sentprobe.corpus.tokenisers import tokeniser
from sentprobe.errors import DataError, UsageError
from sentprobe.sentence import Sentence

BUILTIN_NAMES = {"en": "builtin", "qto": "builtin-toy"}
"""The built-in corpora by language."""
READERS: dict[str, Callable[..., Iterator[Sentence]]] = {
    "conllu": read_conllu,
    "brackets": read_brackets,
    "text": read_plain,
}

SMALL_SENTENCES = 20_000
SMALL_BYTES = 1 << 26
SHARDS_PER_WORKER = 4
"""On a cluster, so that a worker that is lost, or slow, costs little."""


@dataclass(frozen=True, repr=False)
class Corpus:
    """A stream of sentences that can be read repeatedly: a small value that names its source.

    Make one with `Corpus.read`, `Corpus.synthetic` or `Corpus.of`, and iterate over it.

    Parameters
    ----------
    name
        Shown in manifests and messages.
    language
        A language code, or None.
    files
        The files to read. Sentence ids need not be unique across files.
    trees
        Bracket files whose trees are joined to the sentences of ``files`` by document and words; where a document has
        the same words several times, all get the first tree.
    format
        ``conllu``, ``brackets`` or ``text``; None: detected by suffix and content.
    builtin
        The number of sentences of the built-in corpus; 0 for other corpora.
    seed
        The seed of the built-in corpus.
    loaded
        The sentences of a corpus that is in memory.
    spool
        A folder where generated sentences are kept, so that they are generated once; empty: nowhere.

    Examples
    --------
    >>> from sentprobe import Corpus
    >>> corpus = Corpus.synthetic(100)
    >>> corpus
    Corpus('builtin', en, 100 generated sentences)
    >>> [sentence.upos[0] for sentence in corpus][:3]
    ['INTJ', 'AUX', 'PRON']
    """

    name: str
    language: str | None
    files: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    format: str | None = None
    builtin: int = 0
    seed: int = 0
    loaded: tuple[Sentence, ...] | None = field(default=None)
    spool: str = ""
    tokenise: str = ""
    """The tokeniser of plain text; empty: that of ``sentprobe.corpus.plain``."""

    def __repr__(self) -> str:
        if self.builtin:
            source = f"{self.builtin:,} generated sentences"
        elif self.loaded is not None:
            source = f"{len(self.loaded):,} sentence{'s' * (len(self.loaded) != 1)} in memory"
        else:
            source = self.files[0] if len(self.files) == 1 else f"{len(self.files):,} files"
        trees = f", trees from {len(self.trees):,} file{'s' * (len(self.trees) != 1)}" if self.trees else ""
        return f"Corpus({self.name!r}, {self.language or 'language unknown'}, {source}{trees})"

    @classmethod
    def read(
        cls,
        *paths: StrOrPath,
        name: str | None = None,
        language: str | None = None,
        format: str | None = None,
        trees: StringsOrPaths = (),
        tokenise: str = "",
    ) -> Corpus:
        """A corpus of files: CoNLL-U, bracketed trees or plain text, compressed or not. Nothing is read yet.

        Parameters
        ----------
        *paths
            Files, globs and directories; ``-`` is standard input; ``ud:UD_English-EWT`` and ``ud:UD_English-EWT@r2.15``
            are treebanks of Universal Dependencies, which are downloaded into the cache after their licence was shown.
        name, language
            By default from file names in the style of UD, ``fr_sequoia-ud-train.conllu``, or from the annotator.
        format
            ``conllu``, ``brackets`` or ``text``; by default inferred from suffix and content.
        trees
            Bracket files with constituency trees of the same sentences.
        tokenise
            How plain text is split into words: ``moses-fr``, ``jieba``, …; by default at white space and punctuation.

        Raises
        ------
        UsageError
            If a file does not exist or its format is not recognised.

        Examples
        --------
        >>> import tempfile, pathlib, sentprobe
        >>> path = pathlib.Path(tempfile.mkdtemp(), "news.txt")
        >>> _ = path.write_text("She left early.\\nHe stayed.\\n")
        >>> [sentence.tokens for sentence in sentprobe.Corpus.read(path)]
        [('She', 'left', 'early', '.'), ('He', 'stayed', '.')]
        """
        if format is not None and format not in READERS:
            near = difflib.get_close_matches(format, READERS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"there is no corpus format {format!r}; expected one of {', '.join(READERS)}{hint}")
        typed = expand(as_strings(paths, "a path"))
        files = tuple(spool_stdin() if path == "-" else path for path in typed)
        if format is None:
            for file in files:
                detect_format(file)  # so that a file in an unknown format is refused now, not in the middle of a run
        guesses = [m for path in typed if (m := UD_NAME.fullmatch(stem(path)))]
        languages = {m[2] for m in guesses}
        if language is None and len(guesses) == len(typed) and len(languages) == 1:
            language = languages.pop()
        language = language or stated_language(files)
        brackets = expand(typed_trees) if (typed_trees := as_strings(trees, "a path")) else ()
        if tokenise:
            tokeniser(tokenise)  # it may not be installed
        return cls(name or corpus_name(typed), language, files, brackets, format, tokenise=tokenise)

    @classmethod
    def synthetic(cls, n: int, seed: int = 0, language: str = "en") -> Corpus:
        """The built-in corpus: generated English sentences with gold annotation, or their translations.

        Parameters
        ----------
        n
            The number of sentences.
        seed
            Another seed gives other sentences.
        language
            ``en``, or ``qto``: an invented language, in which sentence i is the translation of the English one.

        Examples
        --------
        >>> from sentprobe import Corpus
        >>> [len(sentence.tokens) for sentence in Corpus.synthetic(3)]
        [25, 11, 27]
        """
        if n < 1:
            raise UsageError(f"the built-in corpus needs at least 1 sentence, got {n}")
        if language not in BUILTIN_NAMES:
            raise UsageError(f"the built-in corpus is in en and qto (an invented language), not in {language!r}")
        return cls(BUILTIN_NAMES[language], language, builtin=n, seed=seed)

    @classmethod
    def of(cls, sentences: Sentence | Iterable[Sentence], name: str = "memory", language: str | None = None) -> Corpus:
        """A corpus of sentences that are already in memory.

        Parameters
        ----------
        sentences
            The sentences, or a single one.
        name, language
            Shown in manifests and messages.

        Examples
        --------
        >>> from sentprobe import Corpus, Sentence
        >>> Corpus.of([Sentence("s1", "Dogs bark.", ("Dogs", "bark", "."))], name="mine", language="en")
        Corpus('mine', en, 1 sentence in memory)
        """
        return cls(name, language, loaded=tuple(as_list(sentences, Sentence, "a Sentence")))

    @property
    def is_synthetic(self) -> bool:
        """Whether the sentences are generated."""
        return self.builtin > 0

    @property
    def is_small(self) -> bool:
        """Whether the sentences easily fit into memory: some ten thousand of them."""
        if self.builtin:
            return self.builtin <= SMALL_SENTENCES
        return self.loaded is not None or sum(map(file_size, (*self.files, *self.trees))) <= SMALL_BYTES

    def load_into_memory(self, on_error: OnError | None = None) -> Corpus:
        """The same sentences, read once and held in memory."""
        if self.loaded is not None:
            return self
        with gc_paused():
            return Corpus(self.name, self.language, loaded=tuple(self.sentences(on_error=on_error)))

    @contextmanager
    def read_twice(self, memory: bool, on_error: OnError | None = None) -> Iterator[Corpus]:
        """The same corpus in a form that is cheap to read a second time.

        A small corpus is loaded, if it may be held in memory; generated sentences are written to temporary files, about
        350 bytes each, until the end of the context.
        """
        if memory and self.is_small:
            yield self.load_into_memory(on_error)
        elif self.builtin:
            with scratch_folder() as folder:
                yield replace(self, spool=str(folder))
        else:
            yield self

    def __iter__(self) -> Iterator[Sentence]:
        return self.sentences()

    def sentences(self, shard: int = 0, of: int = 1, on_error: OnError | None = None) -> Iterator[Sentence]:
        """Yield the sentences, or those of one shard out of ``of``; the shards together are the whole corpus.

        Parameters
        ----------
        shard, of
            Which shard, counted from 0, and how many there are.
        on_error
            Called with each malformed sentence's `CorpusError`, and the sentence is skipped; without it the first one
            is raised.
        """
        if not 0 <= shard < of:
            raise UsageError(f"there is no shard {shard} of {of}; shards are numbered from 0 to {of - 1}")
        if self.trees:
            return self._joined(shard, of, on_error)
        return self._unjoined(shard, of, on_error)

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that depend on every sentence but not on their order; reads the whole corpus."""
        total = sum(digest_of(sentence) for sentence in self) % (1 << 128)
        return f"{total:032x}"[:16]

    def _unjoined(self, shard: int, of: int, on_error: OnError | None) -> Iterator[Sentence]:
        if self.builtin:
            from sentprobe.corpus.spool import generated

            yield from generated(self.builtin, self.seed, shard, of, self.spool, self.language or "")
        elif self.loaded is not None:
            for start in range(shard * SHARD_BLOCK, len(self.loaded), of * SHARD_BLOCK):
                yield from self.loaded[start : start + SHARD_BLOCK]
        else:
            for number, file in enumerate(self.files):
                # every file begins with another shard, or all small files would go to the first
                format = self.format or detect_format(file)
                options = {"tokeniser": self.tokenise} if format == "text" and self.tokenise else {}
                yield from READERS[format](file, shard=(shard - number) % of, of=of, on_error=on_error, **options)

    def _joined(self, shard: int, of: int, on_error: OnError | None) -> Iterator[Sentence]:
        index = index_trees(self.trees, on_error if shard == 0 or on_error is None else lambda _: None)
        first = None
        any_joined = False
        for sentence in self._unjoined(shard, of, on_error):
            first = first or sentence
            if match := index.find(sentence):
                any_joined = True
                sentence = with_tree(sentence, match)
            yield sentence
        if first is not None and not any_joined:
            if of > 1:  # another shard may have them all
                any_joined = any(index.find(sentence) for sentence in self._unjoined(0, 1, lambda _: None))
            if not any_joined:
                tree = index.first
                got = "no tree" if tree is None else f"{' '.join(tree.forms)!r} in document {tree.doc!r}"
                raise DataError(
                    f"no tree of {', '.join(self.trees)} has the words of a sentence of {self.name}: the first "
                    f"sentence is {' '.join(first.forms)!r} in document {first.doc!r}, the first tree {got}"
                )


def digest_of(s: Sentence) -> int:
    """A 128-bit number for a sentence: its id, document, text and every column (the spaces are in the text)."""
    columns = (s.forms, s.lemmas, s.upos, s.xpos, s.feats, s.deprels)
    parts = ["" if column is None else "\t".join(column) for column in columns]
    tree = "" if s.tree is None else str(s.tree)
    content = "\n".join((s.id, s.doc or "", s.text, *parts, repr(s.heads), repr(s.mwts), tree))
    return int.from_bytes(blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")


# Shards


@dataclass(frozen=True)
class Shard:
    """A share of a corpus."""

    pieces: tuple[tuple[Corpus, int, int], ...]
    """Corpora, and which shard of how many of each."""

    def sentences(self, on_error: OnError | None = None) -> Iterator[Sentence]:
        """Yield the sentences of all pieces."""
        for corpus, shard, of in self.pieces:
            yield from corpus.sentences(shard, of, on_error)

    @property
    def language(self) -> str | None:
        """The language of the corpus, if it is known."""
        return self.pieces[0][0].language

    @property
    def in_memory(self) -> bool:
        """Whether the sentences are held in memory anyway."""
        return any(corpus.loaded is not None for corpus, _, _ in self.pieces)


def cut(corpus: Corpus, n: int) -> list[Shard]:
    """A corpus in n shards; in fewer, if it has no more pieces. Together they are the corpus.

    The reader of a shard of a file reads past what belongs to the others, which takes a fifth as long as parsing it. So
    a file is cut only if it is larger than a shard should be, and other files stay whole.
    """
    if n == 1 or not corpus.files or corpus.trees:  # with trees, a shard needs to know of the others
        return [Shard(((corpus, k, n),)) for k in range(n)]
    sizes = [file_size(file) for file in corpus.files]
    share = sum(sizes) / n
    pieces: list[tuple[float, int, tuple[Corpus, int, int]]] = []
    for number, (file, size) in enumerate(zip(corpus.files, sizes, strict=True)):
        of = max(1, min(n, ceil(0.9 * size / share))) if share else 1
        one_file = replace(corpus, files=(file,))
        pieces += [(size / of, number, (one_file, k, of)) for k in range(of)]
    shards: list[list[tuple[Corpus, int, int]]] = [[] for _ in range(n)]
    loads = [(0.0, k) for k in range(n)]
    # the largest piece first, each to the shard that has least so far
    for weight, _, piece in sorted(pieces, key=lambda piece: (-piece[0], piece[1], piece[2][1])):
        filled, k = heapq.heappop(loads)
        shards[k].append(piece)
        heapq.heappush(loads, (filled + weight, k))
    return [Shard(tuple(shard)) for shard in shards if shard]


def shard_count(corpus: Corpus, jobs: int, on_cluster: bool) -> int:
    """Into how many shards to cut a corpus for this many workers: more on a cluster, if it has enough files."""
    on_workers = jobs * SHARDS_PER_WORKER
    return on_workers if on_cluster and (corpus.builtin or len(corpus.files) >= on_workers) else jobs
