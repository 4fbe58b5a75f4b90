"""The tokens of a language model: byte-pair encoding that all languages share, as `transformers` loads it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError
from sentprobe.lab.networks.folder import VOCABULARY
from sentprobe.lab.networks.vocabulary import BPE, FIRST_BPE, is_marked
from sentprobe.lab.training import import_for_training
from sentprobe.lab.training.codes import train_bpe, valid
from sentprobe.lab.training.targets import FILE, read_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BEGIN, END, PAD, UNKNOWN, MASK = range(5)
SPECIAL = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")
"""Those of XLM, with the same numbers but for the mask. Only END, PAD and MASK are used."""
CONFIG = "tokenizer_config.json"


@dataclass(frozen=True, eq=False)
class WordMarks:
    """Where words begin among tokens."""

    marked: NDArray[np.bool_]
    """By number of a token."""
    ends: bool = True
    """Whether marked tokens end words; otherwise they begin words."""

    def begins(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each of the tokens of a text begins a word (tokens,)."""
        marked = self.marked[tokens]
        if self.ends:
            marked = np.roll(marked, 1)
        marked[:1] = True
        return marked


@dataclass(frozen=True, eq=False)
class Tokens:
    """A vocabulary of tokens."""

    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        # a text that contains </s> has these four characters, and not the special token
        self.tokenizer.encode_special_tokens = True

    def __len__(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    @property
    def tokenise(self) -> str:
        """How texts are split; by this name in the configuration of a network."""
        return BPE if self.tokenizer.normalizer is not None else FIRST_BPE

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the tokens of each text, without END."""
        encodings = self.tokenizer.encode_batch([valid(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The texts of numbers, without special tokens."""
        ordinary = [[token for token in row if token >= len(SPECIAL)] for row in rows]
        texts: list[str] = self.tokenizer.decode_batch(ordinary)
        return [text.removeprefix(" ") for text in texts] if self.tokenise == FIRST_BPE else texts

    def word_marks(self) -> WordMarks:
        """Which tokens are at the border of a word."""
        marked = np.array([is_marked(token, self.tokenise) for token in self.strings()])
        return WordMarks(marked, self.tokenise != FIRST_BPE)

    def strings(self) -> list[str]:
        """All tokens, by their number."""
        return [str(self.tokenizer.id_to_token(number)) for number in range(len(self))]

    def files(self, longest: int) -> dict[str, bytes]:
        """The files from which `transformers` loads the same tokenizer; texts are cut after this many tokens."""
        config = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": SPECIAL[BEGIN],
            "eos_token": SPECIAL[END],
            "cls_token": SPECIAL[END],
            "sep_token": SPECIAL[END],
            "pad_token": SPECIAL[PAD],
            "unk_token": SPECIAL[UNKNOWN],
            "mask_token": SPECIAL[MASK],
            "model_max_length": longest,
            "clean_up_tokenization_spaces": False,
            # XLM would add the vectors of the tokens 0 and 1 for segments
            "model_input_names": ["input_ids", "attention_mask"],
        }
        return {
            FILE: self.tokenizer.to_str(pretty=True).encode() + b"\n",
            CONFIG: json.dumps(config, indent=2).encode() + b"\n",
        }


def learn_tokens(texts: Iterable[str], codes: int) -> Tokens:
    """Byte-pair encoding with at most this many merges."""
    tokenizers = import_for_training("tokenizers")
    tokenizer = train_bpe(texts, codes, SPECIAL)
    # in training, a mask has no spaces around it: transformers is to take away those of "The <mask> barks."
    tokenizer.add_special_tokens([tokenizers.AddedToken(SPECIAL[MASK], lstrip=True, rstrip=True)])
    end = SPECIAL[END]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{end} $A {end}", pair=f"{end} $A {end} {end} $B {end}", special_tokens=[(end, END)]
    )
    return Tokens(tokenizer)


def read_tokens(job: JobFolder) -> Tokens:
    """The tokens of a trained folder; DataError if they are not those that its weights are of."""
    tokens = Tokens(read_tokenizer(job))
    if tokens.strings() != job.read_json(VOCABULARY):
        raise DataError(f"{job.path / FILE} has other tokens than {VOCABULARY}, so that it is not of this model.")
    return tokens


def smoothed(counts: Mapping[str, int], exponent: float) -> dict[str, float]:
    """The probabilities of languages: proportional to their counts to the power of an exponent.

    With exponents below 1, small languages are sampled more often than they occur: Lample and Conneau (2019), 3.1.
    """
    powers = {name: count**exponent for name, count in counts.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}


def sample_texts(texts: Sequence[tuple[Iterable[str], float]], seed: int) -> Iterator[str]:
    """Each of the texts as often as the number beside them says, fractions at random."""
    for number, (sentences, repeats) in enumerate(texts):
        random = np.random.default_rng([seed, number, 1])
        whole, share = divmod(repeats, 1)
        for text in sentences:
            for _ in range(int(whole) + (random.random() < share)):
                yield text
