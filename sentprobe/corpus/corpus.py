"""A corpus: a named stream of sentences that can be read repeatedly, in full or in shards."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sentprobe.core.arguments import StringsOrPaths, StrOrPath, as_list, as_strings
from sentprobe.core.folders import scratch_folder
from sentprobe.core.resources import gc_paused
from sentprobe.corpus.brackets import read_brackets
from sentprobe.corpus.conllu import SHARD_BLOCK, read_conllu
from sentprobe.corpus.digest import digest_of
from sentprobe.corpus.files import UD_NAME, corpus_name, detect_format, expand, file_size, stem
from sentprobe.corpus.plain import read_plain
from sentprobe.corpus.provenance import stated_language
from sentprobe.corpus.stdin import spool_stdin
from sentprobe.corpus.tokenisers import tokeniser
from sentprobe.corpus.trees import index_trees, with_tree
from sentprobe.errors import CorpusError, DataError, UsageError
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

OnError = Callable[[CorpusError], None]


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
        """The same sentences, read once and kept in memory."""
        if self.loaded is not None:
            return self
        with gc_paused():
            return Corpus(self.name, self.language, loaded=tuple(self.sentences(on_error=on_error)))

    @contextmanager
    def read_twice(self, memory: bool, on_error: OnError | None = None) -> Iterator[Corpus]:
        """The same corpus in a form that is cheap to read a second time.

        A small corpus is loaded, if it may be held in memory; generated sentences are kept in temporary files, about
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
                own = {"tokeniser": self.tokenise} if format == "text" and self.tokenise else {}
                yield from READERS[format](file, shard=(shard - number) % of, of=of, on_error=on_error, **own)

    def _joined(self, shard: int, of: int, on_error: OnError | None) -> Iterator[Sentence]:
        index = index_trees(self.trees, on_error if shard == 0 or on_error is None else lambda _: None)
        first = None
        some = False
        for sentence in self._unjoined(shard, of, on_error):
            first = first or sentence
            if found := index.find(sentence):
                some = True
                sentence = with_tree(sentence, found)
            yield sentence
        if first is not None and not some:
            if of > 1:  # another shard may have them all
                some = any(index.find(sentence) for sentence in self._unjoined(0, 1, lambda _: None))
            if not some:
                other = index.first
                got = "no tree" if other is None else f"{' '.join(other.forms)!r} in document {other.doc!r}"
                raise DataError(
                    f"no tree of {', '.join(self.trees)} has the words of a sentence of {self.name}: the first "
                    f"sentence is {' '.join(first.forms)!r} in document {first.doc!r}, the first tree {got}"
                )
