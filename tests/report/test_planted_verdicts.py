"""The verdict on a score whose truth was planted: tiny sets and vectors, run as any others, and what must come out.

Rows are a word of their own, ``row`` and then words that tell the label or do not; vectors are what the encoder is to
know. Seeds are fixed, so that a case is always the same.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest

from sentprobe.data.dataset import Dataset
from sentprobe.report import summarise
from sentprobe.report.answer import answer
from sentprobe.run import evaluate
from sentprobe.tasks import Example

N = (600, 200, 600)
SPLITS = ("tr", "va", "te")
RNG = np.random.default_rng


def letters(number):
    """A word of its own for each number: texts that differ in digits alone are near-duplicates."""
    return "".join("bdfgklmnprst"[number // 12**i % 12] + "aeiou"[number // 7**i % 5] for i in range(5))


def coin(seed, share=0.5, n=N):
    """Labels of all rows, of which this share is 1, the same share in every split."""
    return np.concatenate([RNG(seed + i).permutation(np.arange(m) < round(share * m)) for i, m in enumerate(n)]) * 1


def noisy(labels, right, seed):
    """Labels of which this share is right."""
    return np.where(RNG(seed).random(len(labels)) < right, labels, 1 - labels)


def noise(dimensions, seed=0, n=N):
    return RNG(100 + seed).normal(size=(sum(n), dimensions))


def beside(told, dimensions=3, strength=4.0, n=N):
    """Vectors (n, dimensions + 1) that tell something, and noise."""
    return np.column_stack([strength * (np.asarray(told) - 0.5), noise(dimensions, n=n)])


def saying(told, no="yes", yes="not"):
    """A word for each row by what is told."""
    return [f"and {(no, yes)[int(value)]}" for value in told]


def long(told):
    return ["and " + "word " * (3 + 4 * int(value)) for value in told]


@dataclass
class Case:
    """What is planted, and the verdict that must come out."""

    kind: str
    vectors: object = None
    labels: np.ndarray = field(default_factory=lambda: coin(1))
    words: list | None = None
    n: tuple = N
    keys: list | None = None
    texts: list | None = None
    request: dict = field(default_factory=dict)
    reason: str = ""
    but: str = ""
    probe: str = "linear"


LABELS = coin(1)
CUE = noisy(LABELS, 0.8, 2)
OTHER_CUE = noisy(LABELS, 0.8, 3)
SMALL = (600, 200, 60)
SMALL_LABELS = coin(1, n=SMALL)
BIG = (600, 200, 4000)
BIG_LABELS = coin(1, n=BIG)
PAIR = RNG(7).integers(2, size=(sum(N), 2))
XOR = np.column_stack([4.0 * (PAIR - 0.5), noise(2)])
RING = noise(4, seed=8)
RARE = coin(1, 0.1)
VERY_RARE = coin(1, 0.05, n=BIG)
HINT = VERY_RARE[:, None] * 0.7 + noise(2, seed=4, n=BIG)
FORMS = RNG(9).integers(40, size=sum(N))
FORM_LABELS = (RNG(10).permutation(40) % 2)[FORMS]
HALF_COPIED = np.where(np.arange(sum(N)) % 2, np.arange(sum(N)), np.arange(sum(N)) % 600)
FEW_COPIED = np.where(np.arange(sum(N)) % 50, np.arange(sum(N)), np.arange(sum(N)) % 600)
WITH_NETWORK = {"probes": ["linear", "mlp?hidden=20&l2=1e-4&dropout=0&passes=60"]}
NO_BASELINE_READS_WORDS = {"baselines": ["majority"]}


def ring_labels():
    size = np.square(RING).sum(axis=1)
    return (size > np.median(size)) * 1


CASES = {
    # compared with baselines
    "the label": Case("above", beside(LABELS), reason="to "),
    "nothing": Case("chance", noise(4), reason="majority 50.0"),
    "nothing, and few rows": Case("few", noise(4, n=SMALL), SMALL_LABELS, n=SMALL),
    "a little, and few rows": Case(
        "few", beside(noisy(SMALL_LABELS, 0.8, 42), n=SMALL), SMALL_LABELS, saying(noisy(SMALL_LABELS, 0.75, 62)),
        n=SMALL,
    ),
    "as much as words, and many rows": Case(
        "baseline", beside(noisy(BIG_LABELS, 0.755, 6), n=BIG), BIG_LABELS, saying(noisy(BIG_LABELS, 0.75, 5)), n=BIG
    ),
    "nothing, and words tell": Case("chance", noise(4), words=saying(CUE)),
    "half of what words tell": Case("below", beside(noisy(LABELS, 0.65, 5)), words=saying(CUE)),
    "what the words tell": Case("words", beside(CUE), words=saying(CUE)),
    "the length": Case("length", beside(CUE), words=long(CUE), request={"baselines": ["majority", "length"]}),
    # sets that tell nothing
    "all, as a word does": Case(
        "saturated", beside(LABELS), words=saying(LABELS), reason="100.0; 'not' gives it away"
    ),
    "all, as two words do": Case(
        "saturated", beside(LABELS),
        words=[f"and {('yes no'.split()[i % 2], ('not', 'never')[i % 2])[label]}" for i, label in enumerate(LABELS)],
        reason="nb-uni 100.0",
    ),
    "less than a word that tells all": Case("below", beside(noisy(LABELS, 0.9, 5)), words=saying(LABELS)),
    # controls
    "words by heart": Case(
        "memorised", np.hstack([np.eye(40)[FORMS], 0.01 * noise(2)]), FORM_LABELS,
        [f"and form{form}" for form in FORMS],
        keys=[f"form{form}" for form in FORMS], request={**NO_BASELINE_READS_WORDS, "controls": ["key"]},
        reason="selectivity",
    ),
    "the label, and a control of words": Case(
        "holds", beside(LABELS), words=[f"and form{form}" for form in FORMS], keys=[f"form{form}" for form in FORMS],
        request={"controls": ["key"]},
    ),
    "length, which random words have": Case(
        "length", "length", words=long(CUE), request={**NO_BASELINE_READS_WORDS, "controls": ["synthetic"]},
        reason="random words",
    ),
    "words, to which nothing is added": Case(
        "words", beside(CUE), words=saying(CUE), request={**NO_BASELINE_READS_WORDS, "measures": ["given:words"]},
        reason="bits to a bag of words",
    ),
    "more than words": Case(
        "holds", beside(LABELS), words=saying(CUE), request={"measures": ["given:words"]}
    ),
    "length, to which nothing is added": Case(
        "length", beside(CUE), words=long(CUE), request={**NO_BASELINE_READS_WORDS, "measures": ["given:length"]},
        reason="bits to the number of tokens",
    ),
    # texts in train and test
    "copies, which random vectors remember": Case(
        "leak", noise(400), texts=[f"{letters(i % 200)} is one" for i in range(sum(N))],
        labels=coin(1)[np.arange(sum(N)) % 200],
        request={"controls": ["gaussian"]}, reason="gaussian has",
    ),
    "half of the rows are copies, in few dimensions": Case(
        "shared", beside(LABELS[HALF_COPIED]), LABELS[HALF_COPIED], texts=[f"{letters(i)} is one" for i in HALF_COPIED],
        reason="of 600 test texts",
    ),
    "copies, though at chance": Case(
        "shared", noise(2), LABELS[HALF_COPIED], texts=[f"{letters(i)} is one" for i in HALF_COPIED]
    ),
    "few of the rows are copies": Case(
        "above", beside(LABELS[FEW_COPIED]), LABELS[FEW_COPIED], texts=[f"{letters(i)} is one" for i in FEW_COPIED]
    ),
    # not linearly
    "exclusive or, and a network": Case(
        "nonlinear", XOR, PAIR.sum(axis=1) % 2, request={"measures": ["hidden"]}, reason="a hidden layer adds"
    ),
    "exclusive or, and a network as a probe": Case(
        "nonlinear", XOR, PAIR.sum(axis=1) % 2, request=WITH_NETWORK, reason="mlp?",
    ),
    "exclusive or as the network reads it": Case(
        "above", XOR, PAIR.sum(axis=1) % 2, request=WITH_NETWORK, probe="mlp",
    ),
    "exclusive or, and nothing else": Case("chance", XOR, PAIR.sum(axis=1) % 2),
    "a ring, and a network": Case("nonlinear", RING, ring_labels(), request={"measures": ["hidden"]}),
    "nothing, and a network": Case("chance", noise(4), request={"measures": ["hidden"]}),
    # rare classes
    "a hint of a rare class": Case("bits", HINT, VERY_RARE, n=BIG, reason="of 0.29 bits"),
    "a hint of a rare class, to a probe for which classes count the same": Case(
        "above", HINT, VERY_RARE, n=BIG, request={"probes": ["linear?weights=balanced"]}, reason="balanced +"
    ),
    "nothing of a rare class": Case("chance", noise(4), RARE, reason="a constant answer 50.0"),
    "a rare class": Case("above", beside(RARE), RARE, reason="balanced +50.0"),
    "half of a rare class": Case(
        "above", beside(RARE * (RNG(3).random(sum(N)) < 0.5)), RARE, reason="balanced +2"
    ),
    "a rare class that a word tells": Case("saturated", beside(RARE), RARE, saying(RARE), reason="'not' gives it away"),
    "a hint of a rare class that words give": Case(
        "words", beside(noisy(RARE, 0.85, 4)), RARE, saying(noisy(RARE, 0.85, 4)),
        request={**NO_BASELINE_READS_WORDS, "measures": ["given:words"]},
    ),
    # measures that speak against the verdict
    "as much as words, but something else": Case(
        "words", beside(noisy(LABELS, 0.77, 3)), words=saying(CUE), request={"measures": ["given:words"]},
        but="bits to a bag of words",
    ),
    "less than words, but more to a network": Case(
        "below", np.column_stack([XOR, 1.2 * (noisy(PAIR.sum(axis=1) % 2, 0.7, 4) - 0.5)]), PAIR.sum(axis=1) % 2,
        saying(noisy(PAIR.sum(axis=1) % 2, 0.9, 5)), request={"measures": ["hidden"]}, but="a hidden layer adds",
    ),
    # broken encoders
    "the same vector for all": Case("broken", np.ones((sum(N), 4)), reason="identical vectors"),
    "zeros": Case("broken", np.zeros((sum(N), 4)), reason="all-zero vectors"),
    "other vectors each time": Case("broken", "dice", reason="different vectors each time"),
}  # fmt: skip


def dataset(case):
    words = case.words or ["and so on"] * sum(case.n)
    texts = case.texts or [f"{letters(i)} {said}".strip() for i, said in enumerate(words)]
    keys = case.keys or [None] * len(texts)
    rows = [
        Example(f"c{label}", tuple(text.split()), text, key=key)
        for label, text, key in zip(case.labels.tolist(), texts, keys, strict=True)
    ]
    ends = np.append(0, np.cumsum(case.n))
    parts = {split: rows[ends[i] : ends[i + 1]] for i, split in enumerate(SPLITS)}
    return Dataset("own/planted", "planted", 1, "en", ("c0", "c1"), parts, {})


def encoder(case, data):
    if isinstance(case.vectors, str):
        dice = RNG(0)
        of = {
            "length": lambda text: [len(text.split()), 1.0],
            "dice": lambda _: dice.normal(size=4).tolist(),
        }[case.vectors]
        return lambda texts: [of(text) for text in texts]
    rows = [row.text for split in SPLITS for row in data.rows[split]]
    vectors = dict(zip(rows, np.asarray(case.vectors, np.float32), strict=True))
    unknown = np.zeros(len(case.vectors[0]), np.float32)
    return lambda texts: np.array([vectors.get(text, unknown) for text in texts])


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_what_was_planted(name, tmp_path):
    case = CASES[name]
    data = dataset(case)
    run = evaluate({"k": encoder(case, data)}, data, tmp_path / "run", resample=0, **case.request)
    assert run.failures == ()
    summary = summarise(run)
    meaning = next(
        m for m, c in zip(summary.sets[0].meanings, summary.columns, strict=True) if c.probe.startswith(case.probe)
    )
    assert meaning.kind == case.kind, meaning
    assert case.reason in meaning.reason
    assert case.but in meaning.but
    assert bool(case.but) or case.kind not in ("chance", "bits") or not meaning.but
    said = " ".join(answer(summary))
    assert ("broken" in said) == (case.kind == "broken")
    assert ("compared with baselines by balanced accuracy" in said) == (case.labels.mean() < 0.25)
    if case.kind not in ("leak", "shared"):
        assert ("cannot tell encoders apart" in said) == (case.kind == "saturated")


def test_there_are_thirty_cases_and_nearly_every_verdict_is_planted():
    assert len(CASES) >= 30
    assert {case.kind for case in CASES.values()} >= {
        "above", "holds", "chance", "few", "below", "baseline", "words", "length", "saturated", "memorised", "leak",
        "shared", "nonlinear", "bits", "broken",
    }  # fmt: skip
