"""The transfer sets, by SentEval's names; the Polish CDS corpus and XNLI, which SentEval lacks, by theirs.

A ``TransferLayout`` is what is known about a set before it is read: its files, what a line holds, how many rows it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sentprobe.data.rows import Columns

Protocol = Literal["nested", "kfold", "split", "relatedness", "similarity", "retrieval"]
"""How a set is scored: nested cross-validation; cross-validation and a test part; train, dev and test; regression on
scores; no training at all; image-caption retrieval."""
LineFormat = Literal[
    "sentence",
    "sentence<TAB>label",
    "label sentence",
    "COARSE:fine sentence",
    "seven columns",
    "sentence|sentence|label",
    "sentence<TAB>sentence|score",
    "nli",
    "captions",
]
"""What a line holds; a bar separates files that are read in parallel."""


@dataclass(frozen=True, slots=True)
class LayoutPart:
    """Files that are read in parallel, line by line, and the split that their rows belong to."""

    split: str
    files: tuple[str, ...]
    stratum: str = ""
    """The name of a sub-dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLayout:
    """One set: its files in SentEval's order, how they are read, and what should be in them."""

    home: str
    """The set's folder below ``downstream``."""
    parts: tuple[LayoutPart, ...]
    """Rows of a set without splits of its own are test rows. Empty where the files depend on the languages."""
    read: Columns | LineFormat
    """A table with a header and these columns, or what a line holds; a bare sentence's label is its file's suffix."""
    protocol: Protocol
    sizes: tuple[Mapping[str, int], ...]
    """The rows of every sub-dataset, or else split, in each release that is known; the first is the usual one."""
    source: str
    """Where the sizes are from."""
    labels: tuple[str, ...] = ()
    """In the order of SentEval's numbers for them."""
    scale: tuple[float, float] | None = None
    """The lowest and highest score, where the labels are scores."""
    second: str = ""
    """The name of the second sentence in the rows, where there is no header."""
    latin1_fallback: bool = False
    """Whether SentEval reads the files as Latin-1; here they are read so only if they are not UTF-8."""
    first: str = ""
    """What the first line looks like, where the file names do not identify the set."""
    folder: str = ""
    """What the name of the folder looks like, where neither identifies the set."""
    marker_file: str = ""
    """A file that identifies the set whatever its folder is called."""
    language: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all files, in order."""
        return tuple(file for part in self.parts for file in part.files)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that hold the sentences after the first."""
        return self.read.inputs if isinstance(self.read, Columns) else (self.second,) if self.second else ()


def _parts(files: Mapping[str, str]) -> tuple[LayoutPart, ...]:
    """A part for each file, by the file's split."""
    return tuple(LayoutPart(split, (file,)) for split, file in files.items())


def _halves(*files: str) -> tuple[LayoutPart, ...]:
    """Files of test rows."""
    return tuple(LayoutPart("te", (file,)) for file in files)


_SENTIMENT = _parts({"tr": "sentiment-train", "va": "sentiment-dev", "te": "sentiment-test"})
_ENTAILMENT = Columns(("sentence_A", "sentence_B"), "entailment_judgment")
_RELATEDNESS = Columns(("sentence_A", "sentence_B"), "relatedness_score")
_NLI = ("entailment", "neutral", "contradiction")

_SICK = TransferLayout(
    home="SICK",
    parts=_parts({"tr": "SICK_train.txt", "va": "SICK_trial.txt", "te": "SICK_test_annotated.txt"}),
    read=_ENTAILMENT,
    protocol="split",
    sizes=({"tr": 4500, "va": 500, "te": 4927}, {"tr": 4439, "va": 495, "te": 4906}),
    source="SemEval-2014 task 1 (Marelli et al. 2014); the second is SICK.zip of Zenodo's record 2787612",
    labels=("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
)
_CDS = replace(
    _SICK,
    home="CDS",
    parts=_parts({"tr": "CDS_train.txt", "va": "CDS_trial.txt", "te": "CDS_test_annotated.txt"}),
    sizes=({"tr": 8000, "va": 1000, "te": 1000},),
    source="Wróblewska and Krasnowska-Kieraś 2017: 10,000 pairs; the release has them in these parts",
    language="pl",
)
_STSB = TransferLayout(
    home="STS/STSBenchmark",
    parts=_parts({"tr": "sts-train.csv", "va": "sts-dev.csv", "te": "sts-test.csv"}),
    read="seven columns",
    protocol="relatedness",
    sizes=({"tr": 5749, "va": 1500, "te": 1379},),
    source="Cer et al. 2017",
    scale=(0.0, 5.0),
    second="sentence2",
    folder=r"^(?!STSBenchmark-fix$)",
)


def _sts(year: int, source: str, marker_file: str, sizes: Mapping[str, int]) -> TransferLayout:
    """One year of SemEval's task; all sub-datasets are test rows."""
    return TransferLayout(
        home=f"STS/STS{year}-en-test",
        parts=tuple(LayoutPart("te", (f"STS.input.{name}.txt", f"STS.gs.{name}.txt"), name) for name in sizes),
        read="sentence<TAB>sentence|score",
        protocol="similarity",
        sizes=(sizes,),
        source=source,
        scale=(0.0, 5.0),
        second="sentence2",
        folder=rf"STS(20)?{year}",
        marker_file=f"STS.input.{marker_file}.txt",
    )


LAYOUTS = {
    "MR": TransferLayout(
        home="MR",
        parts=_halves("rt-polarity.pos", "rt-polarity.neg"),
        read="sentence",
        protocol="nested",
        sizes=({"te": 10_662},),
        source="Pang and Lee 2005",
        labels=("neg", "pos"),
        latin1_fallback=True,
    ),
    "CR": TransferLayout(
        home="CR",
        parts=_halves("custrev.pos", "custrev.neg"),
        read="sentence",
        protocol="nested",
        sizes=({"te": 3775},),
        source="Hu and Liu 2004, as collected by Wang and Manning 2012",
        labels=("neg", "pos"),
        latin1_fallback=True,
    ),
    "SUBJ": TransferLayout(
        home="SUBJ",
        parts=_halves("subj.objective", "subj.subjective"),
        read="sentence",
        protocol="nested",
        sizes=({"te": 10_000},),
        source="Pang and Lee 2004",
        labels=("subjective", "objective"),
        latin1_fallback=True,
    ),
    "MPQA": TransferLayout(
        home="MPQA",
        parts=_halves("mpqa.pos", "mpqa.neg"),
        read="sentence",
        protocol="nested",
        sizes=({"te": 10_606},),
        source="Wiebe et al. 2005, as collected by Wang and Manning 2012",
        labels=("neg", "pos"),
        latin1_fallback=True,
    ),
    "SST2": TransferLayout(
        home="SST/binary",
        parts=_SENTIMENT,
        read="sentence<TAB>label",
        protocol="split",
        sizes=({"tr": 67_349, "va": 872, "te": 1821}, {"tr": 6920, "va": 872, "te": 1821}),
        source="Socher et al. 2013, with the phrases of the training trees; the second has whole sentences only",
        labels=("0", "1"),
        first=r"[^\t]*\t\d$",
    ),
    "SST5": TransferLayout(
        home="SST/fine",
        parts=_SENTIMENT,
        read="label sentence",
        protocol="split",
        sizes=({"tr": 8544, "va": 1101, "te": 2210},),
        source="Socher et al. 2013",
        labels=("0", "1", "2", "3", "4"),
        first=r"\d [^\t]*$",
    ),
    "TREC": TransferLayout(
        home="TREC",
        parts=_parts({"tr": "train_5500.label", "te": "TREC_10.label"}),
        read="COARSE:fine sentence",
        protocol="kfold",
        sizes=({"tr": 5452, "te": 500},),
        source="Li and Roth 2002",
        labels=("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
        latin1_fallback=True,
    ),
    "MRPC": TransferLayout(
        home="MRPC",
        parts=_parts({"tr": "msr_paraphrase_train.txt", "te": "msr_paraphrase_test.txt"}),
        read=Columns(("#1 String", "#2 String"), "Quality"),
        protocol="kfold",
        sizes=({"tr": 4076, "te": 1725},),
        source="Dolan and Brockett 2005",
        labels=("0", "1"),
    ),
    "SNLI": TransferLayout(
        home="SNLI",
        parts=tuple(
            LayoutPart(split, tuple(f"{column}.{word}" for column in ("s1", "s2", "labels")))
            for split, word in (("tr", "train"), ("va", "dev"), ("te", "test"))
        ),
        read="sentence|sentence|label",
        protocol="split",
        sizes=({"tr": 549_367, "va": 9842, "te": 9824},),
        source="Bowman et al. 2015, without the pairs that have no gold label",
        labels=_NLI,
        second="sentence2",
        latin1_fallback=True,
    ),
    "SICKEntailment": _SICK,
    "SICKRelatedness": replace(_SICK, read=_RELATEDNESS, protocol="relatedness", labels=(), scale=(1.0, 5.0)),
    "STSBenchmark": _STSB,
    "STSBenchmark-fix": replace(_STSB, home="STS/STSBenchmark-fix", folder=r"^STSBenchmark-fix$"),
    "STS12": _sts(
        12,
        "Agirre et al. 2012",
        "MSRpar",
        {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "surprise.OnWN": 750, "surprise.SMTnews": 399},
    ),
    "STS13": _sts(13, "Agirre et al. 2013, without SMT", "FNWN", {"FNWN": 189, "headlines": 750, "OnWN": 561}),
    "STS14": _sts(
        14,
        "Agirre et al. 2014",
        "deft-forum",
        {"deft-forum": 450, "deft-news": 300, "headlines": 750, "images": 750, "OnWN": 750, "tweet-news": 750},
    ),
    "STS15": _sts(
        15,
        "Agirre et al. 2015: the pairs with a score",
        "belief",
        {"answers-forums": 375, "answers-students": 750, "belief": 375, "headlines": 750, "images": 750},
    ),
    "STS16": _sts(
        16,
        "Agirre et al. 2016: the pairs with a score",
        "plagiarism",
        {"answer-answer": 254, "headlines": 249, "plagiarism": 230, "postediting": 244, "question-question": 209},
    ),
    "ImageCaptionRetrieval": TransferLayout(
        home="COCO",
        parts=_parts({"tr": "train.json", "va": "valid.json", "te": "test.json"}),
        read="captions",
        protocol="retrieval",
        sizes=({"tr": 566_435, "va": 25_000, "te": 25_000},),
        source="five captions for each of 113,287, 5,000 and 5,000 images (Karpathy and Fei-Fei 2015)",
        first=r'\{"format": "sentprobe\.captions',
    ),
    "CDSEntailment": _CDS,
    "CDSRelatedness": replace(_CDS, read=_RELATEDNESS, protocol="relatedness", labels=(), scale=(0.0, 5.0)),
    "XNLI": TransferLayout(
        home="XNLI",
        parts=(),
        read="nli",
        protocol="split",
        sizes=({"va": 2490, "te": 5010},),
        source="Conneau et al. 2018, in each language",
        labels=_NLI,
        second="sentence2",
    ),
}
"""The layout of every transfer set, by name."""
