"""Our own sentences in SentEval's folders, and an encoder for them."""

import json
import zlib

import numpy as np

NOUNS = "dog cat tree house river man woman child book stone".split()
VERBS = "sees finds leaves likes makes wants".split()
SPARE = "now then here there often never again soon too once".split()
TREC = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
NLI = ("entailment", "neutral", "contradiction")
SICK = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
STS = {
    "STS12": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "STS13": ("FNWN", "headlines", "OnWN"),
    "STS14": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
BINARY = {
    "MR": ("rt-polarity.pos", "rt-polarity.neg"),
    "CR": ("custrev.pos", "custrev.neg"),
    "MPQA": ("mpqa.pos", "mpqa.neg"),
    "SUBJ": ("subj.objective", "subj.subjective"),
}
PROBING = {
    "Length": "sentence_length", "WordContent": "word_content", "Depth": "tree_depth",
    "TopConstituents": "top_constituents", "BigramShift": "bigram_shift", "Tense": "past_present",
    "SubjNumber": "subj_number", "ObjNumber": "obj_number", "OddManOut": "odd_man_out",
    "CoordinationInversion": "coordination_inversion",
}  # fmt: skip
DIMENSIONS = 6
PARTS = {"train": 30, "dev": 12, "test": 12}


def sentence(draw, label=0):
    """Some words, the first of which goes with the label, more often than not."""
    words = [SPARE[label] if draw.rand() < 0.8 else SPARE[draw.randint(10)], NOUNS[draw.randint(10)]]
    words += [VERBS[draw.randint(6)], *(NOUNS[i] for i in draw.randint(10, size=draw.randint(1, 5)))]
    return " ".join([*words, "."])


def single(draw, n, classes):
    """(sentence, label), n times, with every label."""
    labels = [i % classes for i in range(n)]
    draw.shuffle(labels)
    return [(sentence(draw, label), label) for label in labels]


def pairs(draw, n, classes):
    """(sentence, sentence, label), n times."""
    return [(text, sentence(draw, label), label) for text, label in single(draw, n, classes)]


def write(root):
    """Write every set and return its rows, by task and part."""
    draw, rows = np.random.RandomState(7), {}
    down = root / "downstream"
    for task, files in BINARY.items():
        rows[task] = {
            file: [sentence(draw, label) for _ in range(22)] for label, file in zip((1, 0), files, strict=True)
        }
        for file, texts in rows[task].items():
            put(down / task / file, texts)
    for task, classes, line in (("SST2", 2, "{0}\t{1}"), ("SST5", 5, "{1} {0}")):
        rows[task] = {part: single(draw, n, classes) for part, n in PARTS.items()}
        for part, found in rows[task].items():
            put(down / "SST" / ("binary" if classes == 2 else "fine") / f"sentiment-{part}", found, line)
    rows["TREC"] = {"train": single(draw, 36, 6), "test": single(draw, 12, 6)}
    for part, file in (("train", "train_5500.label"), ("test", "TREC_10.label")):
        put(down / "TREC" / file, [f"{TREC[label]}:x {text}" for text, label in rows["TREC"][part]])
    rows["MRPC"] = {"train": pairs(draw, 30, 2), "test": pairs(draw, 12, 2)}
    for part, found in rows["MRPC"].items():
        lines = [f"{label}\t1\t2\t{one}\t{two}" for one, two, label in found]
        put(down / "MRPC" / f"msr_paraphrase_{part}.txt", ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *lines])
    scored = {part: [(*row, 1 + draw.randint(41) / 10) for row in pairs(draw, n, 3)] for part, n in PARTS.items()}
    rows["SICKEntailment"] = {part: [row[:3] for row in found] for part, found in scored.items()}
    rows["SICKRelatedness"] = {part: [(*row[:2], row[3]) for row in found] for part, found in scored.items()}
    files = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
    for part, found in scored.items():
        lines = [f"{i}\t{one}\t{two}\t{score}\t{SICK[label]}" for i, (one, two, label, score) in enumerate(found)]
        header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
        put(down / "SICK" / files[part], [header, *lines])
    rows["STSBenchmark"] = {part: likened(draw, n) for part, n in PARTS.items()}
    for folder in ("STSBenchmark", "STSBenchmark-fix"):
        for part, found in rows["STSBenchmark"].items():
            lines = [f"genre\tfile\tyear\t{i}\t{score}\t{one}\t{two}" for i, (one, two, score) in enumerate(found)]
            put(down / "STS" / folder / f"sts-{part}.csv", lines)
    for task, names in STS.items():
        rows[task] = {name: likened(draw, 9) for name in names}
        for name, found in rows[task].items():
            folder = down / "STS" / f"{task}-en-test"
            put(folder / f"STS.input.{name}.txt", [*(f"{one}\t{two}" for one, two, _ in found), "no score\tat all"])
            put(folder / f"STS.gs.{name}.txt", [*(str(score) for *_, score in found), ""])
    rows["SNLI"] = {}
    for part, n in PARTS.items():
        found = rows["SNLI"][part] = [(one, two, NLI[label]) for one, two, label in pairs(draw, n, 3)]
        for i, column in enumerate(("s1", "s2", "labels")):
            put(down / "SNLI" / f"{column}.{part}", [row[i] for row in found])
    for task, file in {**PROBING, "of_our_own": "of_our_own"}.items():
        rows[task] = {part: single(draw, n, 3) for part, n in PARTS.items()}
        splits = {"train": "tr", "dev": "va", "test": "te"}
        # as texts these sort as 10, 5, 7
        lines = [
            f"{splits[part]}\t{('10', '5', '7')[label]}\t{text}" for part in PARTS for text, label in rows[task][part]
        ]
        put(root / "probing" / f"{file}.txt", lines)
    rows["ImageCaptionRetrieval"] = {part: captions(draw, down / "COCO", part) for part in ("train", "valid", "test")}
    return rows


def likened(draw, n):
    """(sentence, sentence, score): the more words they share, the higher."""
    found = []
    for i in range(n):
        one = sentence(draw).split()
        kept = [word if draw.rand() < i / n else "stone" for word in one]
        found.append((" ".join(one), " ".join(kept), round(5 * i / n, 2)))
    draw.shuffle(found)
    return [(str(one), str(two), float(score)) for one, two, score in found]


def captions(draw, folder, part):
    """Five captions of some images, and features of these; a batch of training is 128 captions."""
    found = [[sentence(draw, i % 10) for _ in range(5)] for i in range(30 if part == "train" else 4)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.json").write_text(json.dumps({"format": "sentprobe.captions.v1", "captions": found}))
    np.save(folder / f"{part}.npy", draw.randn(len(found), 4).astype(np.float32))
    return [text for each in found for text in each]


def put(path, rows, line="{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [row if isinstance(row, str) else line.format(*row) for row in rows]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")


def vector(word):
    """The same for a word wherever it is met."""
    word = word.decode() if isinstance(word, bytes) else word
    return np.random.RandomState(zlib.crc32(word.encode())).randn(DIMENSIONS)


def batcher(params, batch):
    """A bag of words."""
    return np.vstack([np.mean([vector(word) for word in words or ["."]], axis=0) for words in batch])


QUICK = {"nhid": 0, "optim": "adam", "batch_size": 16, "tenacity": 1, "epoch_size": 1, "max_epoch": 4}
"""A classifier that takes no time."""
