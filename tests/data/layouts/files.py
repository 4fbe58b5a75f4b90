"""Our own sentences in the layouts of the transfer sets."""

import json

import numpy

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MRPC = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
XNLI = "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\n"
FILES = {
    "MR/rt-polarity.pos": "a fine film . \n",
    "MR/rt-polarity.neg": "a dull film . \nno .\n",
    "CR/custrev.pos": "it works .\n\n",
    "CR/custrev.neg": "it broke .\n",
    "SUBJ/subj.objective": "he leaves .\n",
    "SUBJ/subj.subjective": "i loved it .\n",
    "MPQA/mpqa.pos": "good\n",
    "MPQA/mpqa.neg": "bad\n",
    "SST/binary/sentiment-train": "a fine film .\t1\n",
    "SST/binary/sentiment-dev": "a dull film .\t0\n",
    "SST/binary/sentiment-test": "so so .\t0\n",
    "SST/fine/sentiment-train": "4 a fine film .\n",
    "SST/fine/sentiment-dev": "0 a dull film .\n",
    "SST/fine/sentiment-test": "2 so so .\n2\n",
    "TREC/train_5500.label": "NUM:date When was it ?\nHUM:ind Who came ?\n",
    "TREC/TREC_10.label": "NUM:dist How far is it ?\n",
    "MRPC/msr_paraphrase_train.txt": MRPC + '1\t10\t11\tHe said "no" .\tHe refused .\n',
    "MRPC/msr_paraphrase_test.txt": MRPC + "0\t12\t13\tHe left .\tShe came .\n",
    "SNLI/s1.train": "A dog runs .\nA cat sits .\nA man eats .\n",
    "SNLI/s2.train": "An animal runs .\nA cat sleeps .\nHe is full .\n",
    "SNLI/labels.train": "entailment\nneutral\n-\n",
    "SNLI/s1.dev": "A boy swims .\n",
    "SNLI/s2.dev": "A boy is dry .\n",
    "SNLI/labels.dev": "contradiction\n",
    "SNLI/s1.test": "A girl sings .\n",
    "SNLI/s2.test": "Someone sings .\n",
    "SNLI/labels.test": "entailment\n",
    "SICK/SICK_train.txt": SICK + '1\tA man "runs\tA man walks\t3.5\tNEUTRAL\n',
    "SICK/SICK_trial.txt": SICK + "2\tA man runs\tA man moves\t4.5\tENTAILMENT\n",
    "SICK/SICK_test_annotated.txt": SICK + "3\tA man runs\tNo man runs\t3.1\tCONTRADICTION\n",
    "STS/STSBenchmark/sts-train.csv": 'main\tx\t2012\t0001\t5.000\ta "plane lands .\tan air plane lands .\n',
    "STS/STSBenchmark/sts-dev.csv": "main\tx\t2012\t0002\t0.5\ta cat .\ta car .\tlicence\tsource\n",
    "STS/STSBenchmark/sts-test.csv": "main\tx\t2012\t0003\t2\ta girl .\ta boy .\n",
    "STS/STSBenchmark-fix/sts-train.csv": "main\tx\t2012\t0001\t4.9\ta plane .\tan air plane .\n",
    "STS/STSBenchmark-fix/sts-dev.csv": "main\tx\t2012\t0002\t0.4\ta cat .\ta car .\n",
    "STS/STSBenchmark-fix/sts-test.csv": "main\tx\t2012\t0003\t2.1\ta girl .\ta boy .\n",
    "COCO/train.json": json.dumps({"format": "sentprobe.captions.v1", "captions": [["a", "b", "c", "d", "e", "f"]]}),
    "COCO/valid.json": json.dumps({"format": "sentprobe.captions.v1", "captions": [["v"] * 5]}),
    "COCO/test.json": json.dumps({"format": "sentprobe.captions.v1", "captions": [["s"] * 5, ["t"] * 5]}),
    "CDS/CDS_train.txt": SICK + "1\tPies biegnie .\tKot śpi .\t0.33\tNEUTRAL\n",
    "CDS/CDS_trial.txt": SICK + "2\tPies biegnie .\tPies się rusza .\t4.5\tENTAILMENT\n",
    "CDS/CDS_test_annotated.txt": SICK + "3\tPies biegnie .\tPies stoi .\t3.0\tCONTRADICTION\n",
    "XNLI/xnli.dev.tsv": XNLI
    + "en\tneutral\t( )\tA dog runs .\tIt is late .\t1\nfr\tneutral\t( )\tUn chien court .\tIl est tard .\t1\n",
    "XNLI/xnli.test.tsv": XNLI
    + "fr\tcontradiction\t( )\tUn chat dort .\tIl court .\t2\nen\t-\t( )\tA cat .\tA mat .\t3\n"
    + "en\tcontradiction\t( )\tA cat sleeps .\tIt runs .\t2\n",
    "XNLI/multinli.train.en.tsv": "premise\thypo\tlabel\nHe came .\tHe did not .\tcontradictory\n",
}
"""One or a few lines of every set but the years of STS, which ``sts`` writes."""
FEATURES = {"train": [[1.0, 2.0]], "valid": [[3.0, 4.0]], "test": [[5.0, 6.0], [7.0, 8.0]]}


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def sts(layout, year):
    """A scored and an unscored pair for every sub-dataset of a year."""
    files = {}
    for part in layout.parts:
        pairs, scores = (f"{layout.home}/{file}" for file in part.files)
        files[pairs] = f"one of {year} .\tone {part.stratum} .\nnever scored .\tnever .\n"
        files[scores] = "2.5\n\n"
    return files


def write_all(root):
    """Every set, below ``root``."""
    from sentprobe.data.layouts import LAYOUTS

    write(root, FILES)
    for name, layout in LAYOUTS.items():
        if layout.protocol == "similarity":
            write(root, sts(layout, name))
    for name, rows in FEATURES.items():
        numpy.save(root / f"COCO/{name}.npy", numpy.array(rows, numpy.float32))
    return root
