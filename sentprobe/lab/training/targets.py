"""The target side of a decoder: texts as numbers, and back; and BLEU, by sacrebleu, of what was decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import Setting
from sentprobe.core.job_folder import JobFolder
from sentprobe.encoders.hub import import_optional
from sentprobe.errors import DataError
from sentprobe.lab.networks.vocabulary import Vocabulary
from sentprobe.lab.training import import_for_training
from sentprobe.lab.training.codes import train_bpe, valid

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FILE = "tokenizer.json"
BEGIN, END, UNKNOWN = 0, 1, 2
"""The first input of a decoder, the last token of a target, and what is not in the vocabulary."""
SPECIAL = ("<s>", "</s>", "<unk>")
SETTING = Setting(
    "13a",
    "how BLEU splits texts into words; none for texts that are tokenised already",
    ("13a", "intl", "none", "char", "zh"),
)
"""With ``none`` it is that of multi-bleu; ``13a`` splits off punctuation, nearly as Moses does."""


@dataclass(frozen=True, eq=False)
class Targets:
    """A vocabulary of target tokens."""

    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        # a text that contains <s> has these three characters, and not the special token
        self.tokenizer.encode_special_tokens = True

    def __len__(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the tokens of each text, END last."""
        encodings = self.tokenizer.encode_batch([valid(text) for text in texts], add_special_tokens=False)
        return [[*encoding.ids, END] for encoding in encodings]

    def decode(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The texts of numbers, each up to its first END, if it has one."""
        cut = [row[: row.index(END)] if END in row else row for row in map(list, rows)]
        texts: list[str] = self.tokenizer.decode_batch(cut, skip_special_tokens=False)
        return texts

    def to_bytes(self) -> bytes:
        """The content of ``tokenizer.json``."""
        return bytes(self.tokenizer.to_str(pretty=True).encode() + b"\n")


@dataclass(frozen=True, eq=False)
class WordTargets(Targets):
    """The words of an encoder as targets: a text is what the encoder reads of it."""

    vocabulary: Vocabulary
    numbers: Sequence[int]
    """Of targets, by the encoder's number of a word; -1 for the marks at the ends of sentences."""

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> WordTargets:
        """The targets of a vocabulary."""
        words = [word for word in vocabulary.words if word not in SPECIAL]
        target_numbers = {word: number for number, word in enumerate((*SPECIAL, *words))}
        # the first two mark the ends of sentences, which a decoder knows by its own tokens
        target_numbers |= dict.fromkeys(SPECIAL[:2], -1)
        return cls(_at_spaces(words), vocabulary, [UNKNOWN, *(target_numbers[word] for word in vocabulary.words)])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the words of each text, END last."""
        rows = [[self.numbers[number] for number in self.vocabulary.ids(text)] for text in texts]
        return [[*(number for number in row if number >= 0), END] for row in rows]


def learn_bpe(texts: Iterable[str], codes: int) -> Targets:
    """Byte-pair encoding with at most this many merges; fewer if no pair of symbols occurs twice any more."""
    return Targets(train_bpe(texts, codes, SPECIAL))


def learn_tokens(texts: Iterable[str]) -> Targets:
    """All tokens of texts that are split at spaces, the most frequent first."""
    counts = Counter(token for text in texts for token in text.split())
    return Targets(_at_spaces(sorted(set(counts) - set(SPECIAL), key=lambda token: (-counts[token], token))))


def _at_spaces(tokens: Sequence[str]) -> Tokenizer:
    """A tokenizer that splits at spaces and knows these tokens, which follow the special ones."""
    tokenizers = import_for_training("tokenizers")
    vocabulary = {token: number for number, token in enumerate((*SPECIAL, *tokens))}
    tokenizer: Tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=SPECIAL[UNKNOWN]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return tokenizer


def read_targets(job: JobFolder) -> Targets:
    """The vocabulary of a trained folder."""
    return Targets(read_tokenizer(job))


def read_tokenizer(job: JobFolder) -> Tokenizer:
    """The tokenizer of a trained folder."""
    content = job.read(FILE).decode()
    try:
        tokenizer: Tokenizer = import_for_training("tokenizers").Tokenizer.from_str(content)
    except Exception as e:  # the library raises nothing more special
        raise DataError(f"{job.path / FILE} is not of this version of tokenizers: {e}.") from None
    return tokenizer


def bleu(outputs: Sequence[str], references: Sequence[str], tokenise: str = "13a") -> tuple[float, str]:
    """BLEU of a corpus, 0 to 100, with one reference for each output, and its signature."""
    # force: no warning about tokenised texts
    metric: Any = import_optional("sacrebleu", "BLEU needs", "train").BLEU(tokenize=tokenise, force=True)
    score = float(metric.corpus_score(list(outputs), [list(references)]).score)
    return score, str(metric.get_signature())
